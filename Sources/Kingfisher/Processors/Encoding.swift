// Encodes images as an encoding says: the format, the quality, the limit of bytes. For EncodedProcessor and
// image.kf.encoded.

import Foundation
import KFImaging
import KFSupport

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// The image as the bytes of a file, encoded on the threads for pixels. (Not in Kingfisher.)
    ///
    /// - Parameter encoding: The format and the quality. An image knows the format it was decoded from, but none of the
    ///   metadata that could be kept.
    /// - Returns: The file.
    /// - Throws: `ImagingError.encodingFailed(_:detail:)`, also for a quality outside of 0…1, or
    ///   `ImagingError.outOfMemory(bytes:)`.
    public func encoded(as encoding: ImageEncoding) async throws(ImagingError) -> EncodedImage {
        let content = await WorkExecutor.cpu.run { [base] in
            Result { () throws(ImagingError) in try encoding.content(of: base, source: base.animatedData) }
        }
        return EncodedImage(try content.get(), isDamaged: base.hasDamagedFrames)
    }
}

extension ImageEncoding {
    private static let withoutQuality: Set<ImageContentType> = [.png, .gif, .ico, .bmp, .tiff]
    /// The lowest quality that is tried for the sake of ``maxBytes``.
    private static let lowestQuality = 0.1

    /// Encodes an image.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - source: The bytes that it was made of, if they are known.
    ///   - limits: Where these are looked at.
    /// - Returns: The file.
    /// - Throws: `ImagingError`.
    func content(
        of image: KFCrossPlatformImage,
        source: Data?,
        limits: ImageDecodingLimits = .default
    ) throws(ImagingError) -> EncodedContent {
        let animation = frames == .all ? image.frames.flatMap { severalFrames(of: $0) } : nil
        let sourceFormat = source.flatMap { ImageContentType(sniffing: $0) } ?? image.contentType
        let size = PixelSize(image.pixelWidth, image.pixelHeight)
        let type = format ?? suitable(sourceFormat, size, hasAlpha: image.hasAlpha, isAnimated: animation != nil)
        var options = try options(for: type, source, limits)
        func encoded() throws(ImagingError) -> Data {
            guard let animation, Codecs.canEncodeAnimation(as: type) else {
                return try Codecs.encode(image, as: type, options)
            }
            return try Codecs.encode(animation, as: type, options)
        }
        var data = try encoded()
        if let maxBytes, hasQuality(type) {
            while data.count > maxBytes, options.quality > Self.lowestQuality {
                guard !Task.isCancelled else { throw .encodingFailed(type, detail: "the task was cancelled") }
                let excess = Double(data.count) / Double(max(1, maxBytes))
                let factor = excess > 3 ? 0.25 : excess > 1.5 ? 0.5 : 0.75
                options.targetScore = nil
                options.quality = max((options.quality * factor * 100).rounded(.down) / 100, Self.lowestQuality)
                data = try encoded()
            }
        }
        guard let content = EncodedContent(data) else {
            throw .encodingFailed(type, detail: "what was written is of no known format")
        }
        return content
    }

    /// Encodes an image in strips.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - source: The bytes that it is made of.
    ///   - limits: Where these are looked at.
    /// - Returns: The image of the file; nil where it has to be made of a bitmap.
    func image(of image: StripImage, source: Data, limits: ImageDecodingLimits) -> KFCrossPlatformImage? {
        let own = ImageContentType(sniffing: source)
        let type = format ?? suitable(own, image.size, hasAlpha: false, isAnimated: false)
        guard maxBytes == nil || !hasQuality(type),
            let file = try? image.encoded(as: type, options(for: type, source, limits)),
            let content = EncodedContent(file.data)
        else { return nil }
        return Image(encoded: content, isDamaged: file.isDamaged)
    }

    private func options(
        for type: ImageContentType,
        _ source: Data?,
        _ limits: ImageDecodingLimits
    ) throws(ImagingError) -> ImageEncodingOptions {
        let quality = formatQuality[type] ?? quality ?? ImageEncodingOptions.usualQuality
        guard (0...1).contains(quality) else {
            throw .encodingFailed(type, detail: "the quality \(quality) is not one of 0…1, such as 0.8 for 80 percent")
        }
        if let targetScore, !(1...100).contains(targetScore) {
            throw .encodingFailed(type, detail: "the score \(targetScore) is not one of 1…100, such as 75")
        }
        var options = ImageEncodingOptions(quality: quality, lossless: isLossless)
        (options.encoder, options.targetScore) = (encoder, targetScore)
        options.searchedQualities = searchedQualities
        let keepsMap = type == .jpeg && keptMetadata.contains(.gainMap)
        let map = keepsMap ? source.flatMap { GainMap(of: $0, limits: limits) } : nil
        options.metadata = EncodedMetadata(exif: exif(of: source, limits), hasProfile: embedsProfile, gainMap: map)
        return options
    }

    /// Whether a lower quality makes files of a format smaller.
    private func hasQuality(_ type: ImageContentType) -> Bool { !isLossless && !Self.withoutQuality.contains(type) }

    /// The frames that are encoded, if there are several.
    private func severalFrames(of frames: any ImageFrameSource) -> (any ImageFrameSource)? {
        let count = min(frames.frameCount, maxFrameCount ?? .max)
        guard count > 1 else { return nil }
        return count < frames.frameCount ? FirstFrames(frames, count) : frames
    }

    /// A preferred format, the source's, or another one: the first that can be written and holds the result.
    private func suitable(
        _ source: ImageContentType?,
        _ size: PixelSize,
        hasAlpha: Bool,
        isAnimated: Bool
    ) -> ImageContentType {
        func holds(_ type: ImageContentType, ignoringAlpha: Bool = false) -> Bool {
            let capacity = type.capacity
            return Codecs.canEncode(as: type) && capacity.holds(size)
                && (ignoringAlpha || capacity.hasAlpha || !hasAlpha)
                && (!isAnimated || capacity.hasFrames && (![.png, .avif].contains(type) || type == source))
        }
        if let preferred = preferredFormats.first(where: { holds($0) }) { return preferred }
        // Clients show BMP and TIFF only where they are asked for, if at all.
        let isUsual = source != .bmp && source != .tiff
        if let source, allowedFormats.isEmpty ? isUsual && holds(source) : allowedFormats.contains(source) {
            // What was added around an opaque image does not change its format, if the formats are chosen.
            if holds(source, ignoringAlpha: source == .jpeg) { return source }
        }
        let others: [ImageContentType] = isAnimated ? [.webp, .gif] : [.jpeg]
        return allowedFormats.first { holds($0) } ?? others.first { holds($0) } ?? .png
    }

    private func exif(of source: Data?, _ limits: ImageDecodingLimits) -> Data? {
        guard keptMetadata.contains(.copyright), let source else { return nil }
        let block = Codecs.exif(of: source, limits: limits).flatMap { EXIFCopy($0) }
        guard keptMetadata.contains(.exif) else { return block?.copyright }
        return block?.block(
            keepsLocation: keptMetadata.contains(.exifWithLocation),
            keepsOrientation: keepsOrientation
        )
    }
}

/// The first frames of an animation.
private struct FirstFrames: ImageFrameSource {
    private let frames: any ImageFrameSource
    let frameCount: Int

    init(_ frames: any ImageFrameSource, _ count: Int) { (self.frames, frameCount) = (frames, count) }

    var data: Data? { nil }
    var loopCount: UInt { frames.loopCount }
    var isDamaged: Bool { frames.isDamaged }
    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? { frames.frame(at: index, maxSize: maxSize) }
    func duration(at index: Int) -> TimeInterval { frames.duration(at: index) }
    func copy() -> FirstFrames { FirstFrames(frames.copy(), frameCount) }
}
