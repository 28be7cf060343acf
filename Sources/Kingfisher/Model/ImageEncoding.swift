// How a result is to be encoded, and the result. For KingfisherManager.retrieveEncoded and image.kf.encoded.

public import Foundation
import KFImaging

/// How images become the bytes that are sent: format, quality, limits. (Not in Kingfisher.)
public struct ImageEncoding: Hashable, Sendable {
    /// Which frames of an animation are encoded.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Frames: Hashable, Sendable {
        /// All, where the format holds animations; otherwise the first.
        case all
        /// The first.
        case first
    }

    /// What is taken over from the source beside the pixels.
    public struct KeptMetadata: OptionSet, Hashable, Sendable {
        /// One bit each.
        public let rawValue: Int

        /// A set from its bits.
        ///
        /// - Parameter rawValue: One bit each.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Nothing.
        public static let none: KeptMetadata = []
        /// Of EXIF the copyright and who made the image.
        public static let copyright = KeptMetadata(rawValue: 1)
        /// EXIF, but not where the image was taken.
        public static let exif = KeptMetadata(rawValue: 3)
        /// EXIF.
        public static let exifWithLocation = KeptMetadata(rawValue: 7)
        /// The gain map of a JPEG that is written as JPEG again, see `ImageInfo.gainMap`.
        ///
        /// It is cut, turned, mirrored and scaled as the image is, and keeps its parameters. It is dropped where
        /// anything else was done to the pixels, and where the result is no JPEG.
        public static let gainMap = KeptMetadata(rawValue: 8)

        fileprivate var identifier: String {
            let exif = contains(.exifWithLocation) ? "exifWithLocation" : contains(.exif) ? "exif" : ""
            let block = exif.isEmpty ? contains(.copyright) ? "copyright" : "none" : exif
            return contains(.gainMap) ? block + "+gainMap" : block
        }
    }

    /// The format; nil means the format of the source.
    ///
    /// Where that cannot be written, cannot hold the result, or is BMP or TIFF, animations become WebP, images with
    /// transparency PNG, and others JPEG; what is too large for these becomes GIF or PNG. If a format is named, no
    /// other is used: an image too large for it is an error.
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
    ///
    /// Any other number is an error when it is used.
    public var quality: Double?
    /// The score that JPEG, WebP and AVIF stills are to reach, in place of a quality: that of
    /// ``KingfisherWrapper/similarity(to:)``, 1 to 100, such as 75; any other number is an error when it is used.
    ///
    /// The lowest quality that reaches it is found in at most four encodings: of the image up to a megapixel, of
    /// sixteen squares of a larger one. Animations have the quality.
    public var targetScore: Double?
    /// The qualities that may be found for ``targetScore``, within 0.01…1: where none of them reaches the score it is
    /// the highest, and where all do the lowest.
    public var searchedQualities: ClosedRange<Double> = 0.01...1
    /// The qualities of formats whose quality is another one.
    public var formatQuality: [ImageContentType: Double] = [:]
    /// Whether nothing may be lost, for formats that can do both.
    public var isLossless = false
    /// The most bytes the file may have, if possible: lower qualities are tried until it fits or the quality is 0.1,
    /// and the last one is the result.
    ///
    /// Without effect on formats without a quality (PNG, GIF, ICO, BMP, TIFF) and on results that lose nothing.
    public var maxBytes: Int?
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
        let quality = quality.map { "\($0)" } ?? ""
        var fields = [
            format?.rawValue ?? "", quality, isLossless ? "lossless" : "", maxBytes.map { "\($0)" } ?? "",
            "\(frames)", keptMetadata.identifier,
        ]
        let rules = [
            Self.fields(preferredFormats.map(\.rawValue)), Self.fields(allowedFormats.map(\.rawValue)),
            Self.fields(formatQuality.map { "\($0.value) \($0.key.rawValue)" }.sorted()),
            maxFrameCount.map { "\($0)" } ?? "",
            (embedsProfile ? "profile" : "") + (keepsOrientation ? "orientation" : ""),
        ]
        if let targetScore {
            let isLimited = searchedQualities != ImageEncodingOptions.allQualities
            fields.append("score \(targetScore)" + (isLimited ? " \(searchedQualities)" : ""))
        }
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
    /// It was computed when the file was made or read from the disk, so ``entityTag`` costs nothing.
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
    /// What the response of the source said about caching; nil when it said nothing, and for a result in memory unless
    /// it was stored with ``KingfisherParsedOptionsInfo/respectCacheControl``.
    public internal(set) var cacheMetadata: CacheMetadata?
    /// What the server said about the cached result; nil when it was not asked.
    public internal(set) var revalidation: RetrieveImageResult.Revalidation?
    /// Whether it may be sent, but its server has yet to be asked about it, with
    /// ``KingfisherParsedOptionsInfo/refreshCached``.
    ///
    /// Only ``KingfisherManager/cachedEncoded(with:options:as:)-(Source,_,_)`` leaves that to its caller.
    public internal(set) var isStale = false

    /// The media type for a `Content-Type` field, such as `image/webp`.
    public var mimeType: String { contentType.mimeType }

    init(_ content: EncodedContent, isDamaged: Bool) {
        self.content = content
        self.isDamaged = isDamaged
        cacheMetadata = content.response as? CacheMetadata
    }
}
