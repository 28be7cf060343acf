// How results are encoded: what `--format`, `--quality` and their like ask for, and the warnings about what is lost.

import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// The options for the format of results, and what follows from them.
struct Encoding: Sendable {
    /// The format that `--format` or the name after `-o` asks for.
    var wanted: ImageContentType?
    /// The quality that `--quality` named, from 0 to 1.
    var quality: Double?
    /// The score that `--quality score:75` named.
    var targetScore: Double?
    /// Whether nothing may be lost.
    var isLossless = false
    /// The resolution of colours that `--subsampling` named.
    var subsampling: Subsampling?
    /// What `--progressive` and `--effort` ask for.
    var encoder = EncoderSettings()
    /// What `--keep` named.
    var keeps: KeptMetadata?
    /// Whether JPEG and WebP get the profile of sRGB.
    var embedsProfile = false
    /// The most bytes of a file, for which the quality is chosen.
    var maxSize: Int?
    /// The sides of the images in an icon, where some were named.
    var iconSides: [Int]?
    /// Whether of animations only the first frame is wanted.
    var isStill = false
    /// Whether a GIF has all frames of an animation, even if it plays more slowly for that.
    var keepsFrames = false
    /// Whether a format that cannot be written is an error, and not replaced by another one.
    var keepsFormat = false
    /// Whether the image is changed, so that its original bytes cannot be written.
    var isChanged: Bool

    /// Whether an animation may stay one, as far as that is known before the image is loaded.
    var mayHoldAnimation: Bool {
        !isStill && wanted.map(Self.holdsAnimations) ?? true
    }

    /// The bytes to write: the original ones where neither image nor format changes.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - original: The bytes it was decoded from, if they are known.
    /// - Returns: The bytes and their format.
    /// - Throws: Why it cannot be encoded.
    func encoded(_ image: Image, original: Data?) async throws(Failure) -> EncodedImage {
        let own = original.flatMap { ImageContentType(sniffing: $0) } ?? image.contentType
        if let original, let own, own == wanted ?? own, !changesBytes(of: own),
            original.count <= maxSize ?? .max
        {
            return EncodedImage(original, type: own, of: image)
        }
        let animation = image.kf.frameSource.flatMap { $0.frameCount > 1 ? $0 : nil }
        let type = try encodable(own: own, isAnimated: animation != nil, size: Self.size(image))
        let frames = Self.holdsAnimations(type) ? animation : nil
        let data =
            if let maxSize {
                try await QualitySearch(limit: maxSize, type: type).file { quality throws(Failure) in
                    try await bytes(image, frames, original, as: type, quality: quality)
                }
            } else {
                try await bytes(
                    image,
                    frames,
                    original,
                    as: type,
                    quality: quality ?? ImageEncodingOptions.usualQuality
                )
            }
        var result = EncodedImage(data, type: type, of: image)
        result.warning =
            warning(image, original, as: type)
            ?? reductionWarning(image, result)
            ?? animation.flatMap { Self.loopWarning($0, as: type) }
            ?? keeps?.warning(of: original, as: type)
            ?? lostGainMap(of: original, in: result)
        return result
    }

    /// The bytes to write of an image in strips.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - original: The bytes that it is made of.
    /// - Returns: The bytes, and whether a part of the image is missing; nil where they have to be made of a bitmap.
    /// - Throws: Why the format cannot be written.
    func encoded(
        _ image: StripImage,
        original: Data
    ) async throws(Failure) -> (result: EncodedImage, isDamaged: Bool)? {
        guard isChanged, maxSize == nil else { return nil }
        let type = try encodable(own: ImageContentType(sniffing: original), isAnimated: false, size: image.size)
        let options = options(as: type, quality: quality ?? ImageEncodingOptions.usualQuality)
        let file = await WorkExecutor.cpu.run { [keeps, embedsProfile] () async -> StripImage.File? in
            var options = options
            options.metadata = keeps?.metadata(of: original, as: type) ?? EncodedMetadata()
            options.metadata.hasProfile = embedsProfile
            return try? image.encoded(as: type, options)
        }
        guard let file else { return nil }
        var result = EncodedImage(file.data, type: type, size: image.size)
        result.warning = keeps?.warning(of: original, as: type) ?? lostGainMap(of: original, in: result)
        return (result, file.isDamaged)
    }

    /// The file of an image, or of all frames of an animation.
    private func bytes(
        _ image: Image,
        _ animation: (any ImageFrameSource)?,
        _ original: Data?,
        as type: ImageContentType,
        quality: Double
    ) async throws(Failure) -> Data {
        let options = options(as: type, quality: quality)
        let data = await WorkExecutor.cpu.run {
            [options, keeps, embedsProfile] () async -> Result<Data, ImagingError> in
            var options = options
            options.metadata = keeps?.metadata(of: original, as: type) ?? EncodedMetadata()
            options.metadata.hasProfile = embedsProfile
            return Result { [options] () throws(ImagingError) in
                guard let animation else { return try Codecs.encode(image, as: type, options) }
                return try Codecs.encode(animation, as: type, options)
            }
        }
        do throws(ImagingError) {
            return try data.get()
        } catch {
            let others = OutputFormat.others(than: type, holding: Self.size(image))
            throw .cannotEncode(type.name, "\(error)", instead: others)
        }
    }

    private func options(as type: ImageContentType, quality: Double) -> ImageEncodingOptions {
        var options = ImageEncodingOptions(quality: quality, lossless: isLossless || quality >= 1)
        options.subsampling = subsampling?.chroma ?? .automatic
        (options.encoder, options.targetScore) = (encoder, maxSize == nil ? targetScore : nil)
        options.iconSides = iconSides
        options.keepsFrames = keepsFrames
        if subsampling == .half, type.hasSubsampling { options.lossless = false }
        return options
    }

    private static func size(_ image: Image) -> PixelSize { PixelSize(image.pixelWidth, image.pixelHeight) }

    /// The format of a result before it is made, from the header of its source where that matters.
    ///
    /// A result that turns out too large for it gets another one.
    func type(of original: Data?) throws(Failure) -> ImageContentType {
        guard wanted == nil, let original else { return try encodable(own: nil, isAnimated: false, size: nil) }
        let info = try ImageInfo.reading(original)
        return try encodable(own: info.contentType, isAnimated: !isStill && info.frameCount > 1, size: nil)
    }

    /// Whether an image of this format cannot be written as its original bytes.
    private func changesBytes(of type: ImageContentType) -> Bool {
        isChanged || ((quality != nil || targetScore != nil) && type.hasQuality)
            || (subsampling != nil && type.hasSubsampling)
            || (iconSides != nil && type == .ico) || encoder.changes(type)
    }

    /// The warning when only the first frame of an animation was written.
    private func warning(_ image: Image, _ original: Data?, as type: ImageContentType) -> String? {
        guard !isStill, !Self.holdsAnimations(type) else { return nil }
        let header = original.flatMap { try? ImageInfo(data: $0) }
        let count = header?.frameCount ?? image.kf.imageFrameCount ?? 1
        guard count > 1 else { return nil }
        return "only the first of \(count) frames was written, for \(type.name) holds no animations here; use "
            + OutputFormat.options(\.holdsAnimations) + " to keep them, or --still for one frame"
    }

    /// The warning when the image was made smaller for the format that was named.
    private func reductionWarning(_ image: Image, _ result: EncodedImage) -> String? {
        guard !holds(Self.size(image), result.type) else { return nil }
        let size = "\(result.width)×\(result.height) pixels"
        return
            "the result was reduced to \(size), the most that \(result.type.name) can hold; use --format png to keep "
            + "its size"
    }

    /// Whether files of a format hold the image, or only the sides that were named.
    private func holds(_ size: PixelSize, _ type: ImageContentType) -> Bool {
        type == .ico && iconSides != nil || type.capacity.holds(size)
    }

    /// The warning when the gain map of the source was to be kept, and could not be.
    private func lostGainMap(of original: Data?, in result: EncodedImage) -> String? {
        guard keeps?.hasGainMap ?? false, let original, GainMap(of: original) != nil, GainMap(of: result.data) == nil
        else { return nil }
        guard result.type == .jpeg else {
            return "the gain map was not kept, for \(result.type.name) is written without; use --format jpeg to keep it"
        }
        return
            "the gain map was not kept, for only cutting, scaling, turning and mirroring leave it right; leave out "
            + "the other steps, or --keep gainmap"
    }

    /// The warning when an animation that ends has become one that does not.
    private static func loopWarning(_ animation: any ImageFrameSource, as type: ImageContentType) -> String? {
        let count = animation.loopCount
        guard count > 0, holdsAnimations(type), !Codecs.keepsLoopCount(as: type) else { return nil }
        let others = OutputFormat.options { Codecs.keepsLoopCount(as: $0.contentType) }
        return "the animation, which plays \(count == 1 ? "once" : "\(count) times"), plays endlessly as \(type.name): "
            + "libavif cannot write that before version 1.0; use " + others + " to keep it"
    }

    private static func holdsAnimations(_ type: ImageContentType) -> Bool {
        OutputFormat(type)?.holdsAnimations ?? false
    }

    /// The wanted format if the tool writes it.
    ///
    /// If no format was asked for, it is the source's own. Where that cannot be written or is too small for the result,
    /// animations become WebP and other images PNG, and so do animations that WebP does not hold.
    ///
    /// - Parameters:
    ///   - own: The format of the source.
    ///   - isAnimated: Whether there are several frames.
    ///   - size: The size of the result; nil if it is not known.
    /// - Returns: The format.
    /// - Throws: Why there is none.
    private func encodable(
        own: ImageContentType?,
        isAnimated: Bool,
        size: PixelSize?
    ) throws(Failure) -> ImageContentType {
        func isLargeEnough(_ type: ImageContentType) -> Bool { size.map { holds($0, type) } ?? true }
        guard let wanted else {
            if let own, let format = OutputFormat(own), !isAnimated || format.holdsAnimations,
                !isLossless || format.loss == nil, isLargeEnough(own)
            {
                return own
            }
            guard !keepsFormat else { throw .cannotKeepFormat(own) }
            return isAnimated && isLargeEnough(.webp) ? .webp : .png
        }
        guard let format = OutputFormat(wanted) else {
            throw .cannotEncode(
                wanted.name,
                "the name asks for a format this tool does not write",
                instead: OutputFormat.allCases
            )
        }
        if isLossless, let loss = format.loss {
            throw .cannotEncode(wanted.name, loss, instead: OutputFormat.allCases.filter { $0.loss == nil })
        }
        return wanted
    }
}

extension ImageContentType {
    /// Whether the quality has an effect in this format.
    var hasQuality: Bool { ![.png, .ico, .bmp, .tiff].contains(self) }

    /// Whether the resolution of colours can be chosen in this format.
    fileprivate var hasSubsampling: Bool { self == .jpeg || self == .avif }
}
