// One processor and one serializer for every format that can be written.

public import Foundation
public import KFImaging

/// A format that has a processor and a serializer.
public protocol PairedImageFormat: SendableMetatype {
    /// The format.
    static var contentType: ImageContentType { get }
    /// The name that the identifier of its processor begins with.
    static var name: String { get }
}

/// Decodes data of one format, animations too, and nothing else.
///
/// Used together with the serializer of the same format: `.processor(WebPProcessor.default)` and
/// `.cacheSerializer(WebPCacheSerializer.default)`. Images are cached under the processor's identifier. The default
/// processor decodes all formats; this one is for loads that want one format only.
public struct FormatImageProcessor<Format: PairedImageFormat>: ImageProcessor {
    /// The processor that refuses all other data.
    public static var `default`: Self { Self() }

    /// The format's name and "Processor", and the identifier of the fallback in parentheses.
    public let identifier: String
    private let fallback: (any ImageProcessor)?

    /// Creates a processor that refuses data of other formats.
    public init() {
        identifier = Format.name + "Processor"
        fallback = nil
    }

    /// Creates a processor that passes data of other formats on to another one.
    ///
    /// - Parameter fallback: The other processor.
    public init(fallback: any ImageProcessor) {
        identifier = "\(Format.name)Processor(\(fallback.identifier))"
        self.fallback = fallback
    }

    /// The decoded image, or the given one unchanged.
    ///
    /// Nil, too, for data of another format.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        switch item {
        case .image(let image):
            image
        case .data(let data) where ImageContentType(sniffing: data) == Format.contentType:
            DefaultImageProcessor.default.process(item: item, options: options)
        case .data:
            fallback?.process(item: item, options: options)
        }
    }
}

/// Stores images in one format, and reads nothing else.
public struct FormatCacheSerializer<Format: PairedImageFormat>: CacheSerializer, Hashable {
    private let quality: Double
    private let lossless: Bool
    private let preferOriginal: Bool

    fileprivate init(_ quality: CGFloat, _ lossless: Bool, _ preferOriginal: Bool) {
        self.quality = Double(quality)
        self.lossless = lossless
        self.preferOriginal = preferOriginal
    }

    /// The image in the format.
    ///
    /// An unchanged animation whose original bytes have the format is stored as those bytes; with `preferOriginal`, so
    /// is every other unchanged image.
    ///
    /// Nil for an empty image, and for an image that the format cannot hold.
    public func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        if preferOriginal, let original, ImageContentType(sniffing: original) == Format.contentType,
            image.isDecoded(from: original)
        {
            return original
        }
        return image.encoded(as: Format.contentType, quality: quality, lossless: lossless)
    }

    /// The image the bytes decode to, with the scale of the options.
    ///
    /// Nil for bytes of another format.
    public func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        guard ImageContentType(sniffing: data) == Format.contentType else { return nil }
        return options.decoded(data)
    }
}

/// WebP, lossy or not, animated or not.
public enum WebPPair: PairedImageFormat {
    /// WebP.
    public static let contentType = ImageContentType.webp
    /// "WebP".
    public static let name = "WebP"
}

/// AVIF; unchanged sequences are stored as their original bytes, others as their first frame.
public enum AVIFPair: PairedImageFormat {
    /// AVIF.
    public static let contentType = ImageContentType.avif
    /// "AVIF".
    public static let name = "AVIF"
}

/// JPEG.
public enum JPEGPair: PairedImageFormat {
    /// JPEG.
    public static let contentType = ImageContentType.jpeg
    /// "JPEG".
    public static let name = "JPEG"
}

/// PNG; unchanged animations are stored as their original bytes, others as their first frame.
public enum PNGPair: PairedImageFormat {
    /// PNG.
    public static let contentType = ImageContentType.png
    /// "PNG".
    public static let name = "PNG"
}

/// GIF, whose original bytes are stored; nothing is encoded as GIF.
public enum GIFPair: PairedImageFormat {
    /// GIF.
    public static let contentType = ImageContentType.gif
    /// "GIF".
    public static let name = "GIF"
}

/// Decodes WebP and nothing else.
public typealias WebPProcessor = FormatImageProcessor<WebPPair>
/// Stores images as WebP.
public typealias WebPCacheSerializer = FormatCacheSerializer<WebPPair>
/// Decodes AVIF and nothing else.
public typealias AVIFProcessor = FormatImageProcessor<AVIFPair>
/// Stores images as AVIF.
public typealias AVIFCacheSerializer = FormatCacheSerializer<AVIFPair>
/// Decodes JPEG and nothing else.
public typealias JPEGProcessor = FormatImageProcessor<JPEGPair>
/// Stores images as JPEG.
public typealias JPEGCacheSerializer = FormatCacheSerializer<JPEGPair>
/// Decodes PNG and nothing else.
public typealias PNGProcessor = FormatImageProcessor<PNGPair>
/// Stores images as PNG.
public typealias PNGCacheSerializer = FormatCacheSerializer<PNGPair>
/// Decodes GIF and nothing else.
public typealias GIFProcessor = FormatImageProcessor<GIFPair>
/// Stores the GIF bytes that images were made from; other images are not stored.
public typealias GIFCacheSerializer = FormatCacheSerializer<GIFPair>

extension FormatCacheSerializer where Format == WebPPair {
    /// Lossy, of quality 0.85; stills are always encoded.
    public static var `default`: Self { Self(preferOriginal: false) }

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 1; ignored when `lossless` is true.
    ///   - lossless: Whether to encode without loss.
    ///   - preferOriginal: Whether the original WebP bytes of an unchanged image are stored.
    public init(quality: CGFloat = 0.85, lossless: Bool = false, preferOriginal: Bool = true) {
        self.init(quality, lossless, preferOriginal)
    }
}

extension FormatCacheSerializer where Format == AVIFPair {
    /// Lossy, of quality 0.85; stills are always encoded.
    public static var `default`: Self { Self(preferOriginal: false) }

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 1; ignored when `lossless` is true.
    ///   - lossless: Whether to encode without loss.
    ///   - preferOriginal: Whether the original AVIF bytes of an unchanged image are stored.
    public init(quality: CGFloat = 0.85, lossless: Bool = false, preferOriginal: Bool = true) {
        self.init(quality, lossless, preferOriginal)
    }
}

extension FormatCacheSerializer where Format == JPEGPair {
    /// Of quality 0.85; images are always encoded.
    public static var `default`: Self { Self(preferOriginal: false) }

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 1.
    ///   - preferOriginal: Whether the original JPEG bytes of an unchanged image are stored.
    public init(quality: CGFloat = 0.85, preferOriginal: Bool = true) { self.init(quality, false, preferOriginal) }
}

extension FormatCacheSerializer where Format == PNGPair {
    /// Encodes all stills.
    public static var `default`: Self { Self(preferOriginal: false) }

    /// Creates a serializer.
    ///
    /// - Parameter preferOriginal: Whether the original PNG bytes of an unchanged image are stored.
    public init(preferOriginal: Bool = true) { self.init(1, true, preferOriginal) }
}

extension FormatCacheSerializer where Format == GIFPair {
    /// Stores GIF bytes.
    public static var `default`: Self { Self() }

    /// Creates a serializer.
    public init() { self.init(1, true, true) }
}
