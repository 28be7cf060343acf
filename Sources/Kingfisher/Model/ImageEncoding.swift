// How a result is encoded, and the result. For KingfisherManager.retrieveEncoded and image.kf.encoded.

public import Foundation
import KFImaging
import KFSupport

/// How images become the bytes that are sent: format, quality, limits. (Not in Kingfisher.)
public struct ImageEncoding: Hashable, Sendable {
    /// Which frames of an animation are encoded.
    public enum Frames: Hashable, Sendable {
        /// All, where the format holds animations; otherwise the first.
        case all
        /// The first.
        case first
    }

    /// What is taken over from the source beside the pixels.
    public enum KeptMetadata: Hashable, Sendable {
        /// Nothing.
        case none
        /// Of EXIF the copyright and who made the image.
        case copyright
        /// EXIF, but not where the image was taken.
        case exif
        /// EXIF.
        case exifWithLocation
    }

    /// The format; nil means the format of the source.
    ///
    /// Where that cannot be written, cannot hold the result, or is BMP or TIFF, animations become WebP, images with
    /// transparency PNG, and others JPEG; what is too large for these becomes GIF or PNG. If a format is named, no other is
    /// used: an image too large for it is an error.
    public var format: ImageContentType?
    /// Formats that are taken in place of the source's where ``format`` is nil, the best one first: those that a client
    /// accepts, for example.
    ///
    /// The first that can be written and holds the result is taken: its size, its transparency and its frames. For
    /// animations see ``allowedFormats``.
    public var preferredFormats: [ImageContentType] = []
    /// The formats that results may have where ``format`` is nil and no preferred one is taken; empty allows all.
    ///
    /// It is the source's if that is one of them, otherwise the first that can be written and holds the result.
    /// Animations become PNG or AVIF only if the source is: few expect the one, and the other takes long.
    public var allowedFormats: [ImageContentType] = []
    /// From 0 to 1, for formats that lose something; 0.85 unless set.
    public var quality: Double?
    /// The score that JPEG, WebP and AVIF stills are to reach, in place of a quality: that of
    /// ``KingfisherWrapper/similarity(to:)``, such as 75.
    ///
    /// The lowest quality that reaches it is found in at most four encodings: of the image up to a megapixel, of sixteen
    /// squares of a larger one. Animations have the quality.
    public var targetScore: Double?
    /// The qualities of formats whose quality is another one.
    public var formatQuality: [ImageContentType: Double] = [:]
    /// Whether nothing may be lost, for formats that can do both.
    public var isLossless = false
    /// The most bytes the file may have, if possible: lower qualities are tried until it fits or the quality is 0.1,
    /// and the last one is the result.
    ///
    /// Without effect on formats without a quality (PNG, GIF, ICO, BMP, TIFF) and on results that lose nothing.
    public var maxByteCount: Int?
    /// Which frames of an animation are encoded.
    public var frames = Frames.all
    /// How many frames of an animation are encoded at most; nil is no limit.
    ///
    /// The later ones are left out.
    public var maxFrameCount: Int?
    /// What encoders do beside that.
    public var encoder = EncoderSettings()
    /// What is taken over from the source beside the pixels.
    public var keptMetadata = KeptMetadata.none
    /// Whether JPEG and WebP get the ICC profile of sRGB, some 600 bytes.
    ///
    /// Without one every program takes them for sRGB, which is what they are; PNG and AVIF are marked in any case.
    public var embedsProfile = false
    /// Whether EXIF that is kept says how the source was to be turned: its pixels were not.
    @_spi(Server) public var keepsOrientation = false

    /// Whether the file that a processor returns may be no image: then it is kept and found as it is.
    var takesAnyFile = false

    /// Encodes in the format of the source; a file that the processor returns is the result, whatever it is, see
    /// `Image.init(anyFile:)`.
    @_spi(Server) public static var takingAnyFile: ImageEncoding {
        var encoding = ImageEncoding()
        encoding.takesAnyFile = true
        return encoding
    }

    /// Encodes in a format; nil means the format of the source.
    public init(_ format: ImageContentType? = nil, quality: Double? = nil) {
        (self.format, self.quality) = (format, quality)
    }

    /// All that changes a byte of the file, so that no two encodings have the same.
    var identifier: String {
        let quality = quality.map { "\(ImageEncodingOptions(quality: $0).quality)" } ?? ""
        var fields = [
            format?.rawValue ?? "", quality, isLossless ? "lossless" : "", maxByteCount.map { "\($0)" } ?? "",
            "\(frames)", "\(keptMetadata)",
        ]
        let rules = [
            Self.fields(preferredFormats.map(\.rawValue)), Self.fields(allowedFormats.map(\.rawValue)),
            Self.fields(formatQuality.map { "\($0.value) \($0.key.rawValue)" }.sorted()),
            maxFrameCount.map { "\($0)" } ?? "",
            (embedsProfile ? "profile" : "") + (keepsOrientation ? "orientation" : ""),
        ]
        if let targetScore { fields.append("score \(targetScore)") }
        if rules.contains(where: { !$0.isEmpty }) { fields += rules }
        if !encoder.identifier.isEmpty { fields.append("encoder " + encoder.identifier) }
        return Self.fields(fields)
    }

    /// Texts as one, of which each can be read again.
    private static func fields(_ texts: [String]) -> String {
        texts.map { "\($0.utf8.count):\($0)" }.joined()
    }
}

/// An image as the bytes of a file. (Not in Kingfisher.)
public struct EncodedImage: Sendable {
    private let content: EncodedContent
    /// The file.
    public var data: Data { content.data }
    /// Its format.
    public var contentType: ImageContentType { content.contentType }
    /// A number that is the same for the same bytes, on every machine, and another one for others (XXH3, 64 bits).
    ///
    /// It was computed when the file was made or read from the disk, so it is the cheap `ETag` of an answer.
    public var checksum: UInt64 { content.checksum }
    /// Its width in pixels; 0 if the file's header cannot be read, which is done when this is first asked for.
    public var pixelWidth: Int { content.info?.pixelWidth ?? 0 }
    /// Its height in pixels; 0 as for ``pixelWidth``.
    public var pixelHeight: Int { content.info?.pixelHeight ?? 0 }
    /// The number of its frames; 1 for stills, 0 as for ``pixelWidth``.
    public var frameCount: Int { content.info?.frameCount ?? 0 }
    /// Whether a part of the source was missing or could not be decoded.
    ///
    /// Such a result is not kept on disk, see ``KingfisherParsedOptionsInfo/cacheDamagedImages``.
    public let isDamaged: Bool
    /// Where it was found; ``CacheType/none`` when it was made.
    public internal(set) var cacheType = CacheType.none
    /// What the response of the source said about caching; nil when it said nothing, and for a result in memory unless it
    /// was stored with ``KingfisherParsedOptionsInfo/respectCacheControl``.
    public internal(set) var cacheMetadata: CacheMetadata?
    /// What the server said about the cached result; nil when it was not asked.
    public internal(set) var revalidation: RetrieveImageResult.Revalidation?
    /// Whether it may be sent, but its server has yet to be asked about it, with
    /// ``KingfisherParsedOptionsInfo/refreshCached``.
    ///
    /// Only ``KingfisherManager/cachedEncoded(with:options:as:)`` leaves that to its caller.
    public internal(set) var isStale = false

    /// The media type for a `Content-Type` field, such as `image/webp`.
    public var mimeType: String { contentType.mimeType }

    init(_ content: EncodedContent, isDamaged: Bool) {
        self.content = content
        self.isDamaged = isDamaged
        cacheMetadata = content.response as? CacheMetadata
    }
}

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// The image as the bytes of a file, encoded on the threads for pixels. (Not in Kingfisher.)
    ///
    /// - Parameter encoding: The format and the quality. An image knows the format it was decoded from, but none of the
    ///   metadata that could be kept.
    /// - Returns: The file.
    /// - Throws: `ImagingError.encodingFailed(_:detail:)`, or `ImagingError.outOfMemory(bytes:)`.
    public func encoded(as encoding: ImageEncoding) async throws(ImagingError) -> EncodedImage {
        let content = await WorkExecutor.cpu.run { [base] in
            Result { () throws(ImagingError) in try encoding.content(of: base, source: base.animatedData) }
        }
        return EncodedImage(try content.get(), isDamaged: base.isDamaged)
    }
}

extension ImageEncoding {
    /// The quality unless one is set.
    private static let usualQuality = 0.85
    private static let withoutQuality: Set<ImageContentType> = [.png, .gif, .ico, .bmp, .tiff]
    /// The lowest quality that is tried for the sake of ``maxByteCount``.
    private static let lowestQuality = 0.1

    /// Encodes an image.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - source: The bytes that it was made of, if they are known.
    /// - Returns: The file.
    /// - Throws: `ImagingError`.
    func content(of image: KFCrossPlatformImage, source: Data?) throws(ImagingError) -> EncodedContent {
        let animation = frames == .all ? image.frames.flatMap { severalFrames(of: $0) } : nil
        let sourceFormat = source.flatMap { ImageContentType(sniffing: $0) } ?? image.contentType
        let type = format ?? suitable(sourceFormat, for: image, isAnimated: animation != nil)
        let quality = formatQuality[type] ?? quality ?? Self.usualQuality
        var options = ImageEncodingOptions(quality: quality, lossless: isLossless)
        (options.encoder, options.targetScore) = (encoder, targetScore)
        options.metadata = EncodedMetadata(exif: exif(of: source), hasProfile: embedsProfile)
        func encoded() throws(ImagingError) -> Data {
            guard let animation, Codecs.canEncodeAnimation(as: type) else {
                return try Codecs.encode(image, as: type, options)
            }
            return try Codecs.encode(animation, as: type, options)
        }
        var data = try encoded()
        if let maxByteCount, !isLossless, !Self.withoutQuality.contains(type) {
            while data.count > maxByteCount, options.quality > Self.lowestQuality {
                guard !Task.isCancelled else { throw .encodingFailed(type, detail: "the task was cancelled") }
                let excess = Double(data.count) / Double(max(1, maxByteCount))
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

    /// The frames that are encoded, if there are several.
    private func severalFrames(of frames: any ImageFrameSource) -> (any ImageFrameSource)? {
        let count = min(frames.frameCount, maxFrameCount ?? .max)
        guard count > 1 else { return nil }
        return count < frames.frameCount ? FirstFrames(frames, count) : frames
    }

    /// A preferred format, the source's, or another one: the first that can be written and holds the result.
    private func suitable(
        _ source: ImageContentType?,
        for image: KFCrossPlatformImage,
        isAnimated: Bool
    ) -> ImageContentType {
        let size = PixelSize(image.pixelWidth, image.pixelHeight)
        func holds(_ type: ImageContentType, ignoringAlpha: Bool = false) -> Bool {
            let capacity = type.capacity
            return Codecs.canEncode(as: type) && capacity.holds(size)
                && (ignoringAlpha || capacity.hasAlpha || !image.hasAlpha)
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

    private func exif(of source: Data?) -> Data? {
        guard keptMetadata != .none, let source else { return nil }
        let block = Codecs.exif(of: source).flatMap { EXIFCopy($0) }
        guard keptMetadata != .copyright else { return block?.copyright }
        return block?.block(
            keepsLocation: keptMetadata == .exifWithLocation,
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
    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? { frames.frame(at: index, maxSize: maxSize) }
    func duration(at index: Int) -> TimeInterval { frames.duration(at: index) }
    func copy() -> FirstFrames { FirstFrames(frames.copy(), frameCount) }
}
