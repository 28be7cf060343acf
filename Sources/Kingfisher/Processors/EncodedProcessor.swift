// Encoding as the last step of making an image, so that results that are sent are loaded, shared, cached and
// revalidated like those that are shown. For KingfisherManager.retrieveEncoded.

import Foundation
import KFImaging
import KFStorage

/// Makes an image and encodes it: the result has no pixels, and stands for the bytes of a file.
struct EncodedProcessor: ChainedImageProcessor, WrappingImageProcessor {
    let base: any ImageProcessor
    let encoding: ImageEncoding
    let identifier: String
    /// The bytes that an image which it is given was made of, if they are known.
    var source: Data?

    init(_ base: any ImageProcessor, _ encoding: ImageEncoding) {
        (self.base, self.encoding) = (base, encoding)
        let processor = base.identifier
        // The key of a source is followed by `@` and this: the first blank in a key of a URL marks the entry as a
        // variant of the source's, and the lengths tell where each field ends.
        identifier = "\(FileNaming.variantMark.dropFirst())\(processor.utf8.count):\(processor)\(encoding.identifier)"
    }

    /// All encodings of an image share what comes before.
    var steps: (before: any ImageProcessor, last: any ImageProcessor)? { (base, ImageEncoder(encoding)) }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        let data: Data? = if case .data(let data) = item { data } else { nil }
        let strips = data.flatMap { base.strips(of: $0, options) }
        if let data, let strips,
            let result = encoding.image(of: strips, source: data, limits: options.limits)
        {
            return result
        }
        guard !Task.isCancelled else { return nil }
        let image = strips.flatMap { try? $0.image() } ?? base.process(item: item, options: options)
        guard !Task.isCancelled else { return nil }
        let source = data ?? source
        return image.flatMap { ImageEncoder(encoding, source).process(item: .image($0), options: options) }
    }
}

/// Encodes images that are made already.
struct ImageEncoder: ImageProcessor {
    let encoding: ImageEncoding
    /// The bytes that the image was made of, if they are known.
    var source: Data?
    var identifier: String { encoding.identifier }

    init(_ encoding: ImageEncoding, _ source: Data? = nil) { (self.encoding, self.source) = (encoding, source) }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        guard case .image(let image) = item else { return nil }
        if image.metadata.encoded != nil { return image }
        let content = try? encoding.content(of: image, source: source, limits: options.limits)
        // Frames have been decoded for the encoder.
        return content.map { Image(encoded: $0, isDamaged: image.hasDamagedFrames) }
    }
}

/// Stores files as they are, and reads them without decoding.
struct EncodedSerializer: CacheSerializer, Hashable {
    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { image.metadata.encoded?.data }

    /// The file; of an original, which has yet to be processed, the image.
    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        guard options.processor is EncodedProcessor else {
            return options.decoded(data)
        }
        if options.load.encoding?.takesAnyFile == true { return Image(encoded: EncodedContent(anyFile: data)) }
        return EncodedContent(data).map { Image(encoded: $0) }
    }
}

extension KingfisherParsedOptionsInfo {
    /// Makes the options those of a load whose result is encoded.
    mutating func encodeResult(as encoding: ImageEncoding) {
        preloadAllAnimationData = false
        switch encoding.frames {
        case .first: onlyLoadFirstFrame = true
        case .all where animatedProcessing == .firstFrame: animatedProcessing = .transformFrames
        case .all: break
        }
        processor = EncodedProcessor(resolved(processor), encoding)
        cacheSerializer = EncodedSerializer()
        backgroundDecode = false
        imageModifier = nil
    }

    /// Whether the result is a file that is made of some bytes in strips: then no step leaves an image to share.
    func encodesStrips(of data: Data) -> Bool {
        (processor as? EncodedProcessor)?.base.strips(of: data, self) != nil
    }
}
