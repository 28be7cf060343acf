// How images become the bytes of the disk cache, and the bytes images again. Used by `ImageCache`.

public import Foundation
import KFImaging
import KFSupport

/// Converts images into bytes for the disk cache and bytes from it into images.
public protocol CacheSerializer: Sendable {
    /// The bytes to store for an image.
    /// - Parameters:
    ///   - image: The image.
    ///   - original: The bytes it was made from, if they are known.
    /// - Returns: The bytes, or nil when there is no way to make them.
    func data(with image: KFCrossPlatformImage, original: Data?) -> Data?

    /// The image stored as some bytes.
    /// - Parameters:
    ///   - data: Bytes from the cache.
    ///   - options: The options of the load.
    /// - Returns: The image, or nil when they cannot be decoded; the entry is then removed.
    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage?

    /// Whether ``data(with:original:)`` stores the original bytes, so that the processor has to run again on the image
    /// that is loaded. False by default.
    var originalDataUsed: Bool { get }
}

extension CacheSerializer {
    /// False: the processed image is stored.
    public var originalDataUsed: Bool { false }
}

/// Stores images in the format they came in.
public struct DefaultCacheSerializer: CacheSerializer, Hashable {
    /// The serializer loads use when they name no other.
    public static let `default` = DefaultCacheSerializer()

    /// The quality of lossy formats, from 0 to 1.
    public var compressionQuality: CGFloat = 1

    /// Whether to store the original bytes when they are known.
    public var preferCacheOriginalData = false

    /// Creates a serializer.
    public init() {}

    /// Mirrors ``preferCacheOriginalData``.
    public var originalDataUsed: Bool { preferCacheOriginalData }

    /// The bytes to store for an image.
    ///
    /// An unchanged image is stored as the original bytes it was decoded from, unless a ``compressionQuality``
    /// below 1 asks for fewer: nothing is lost, an animation stays one, and the file is the one the server sent.
    /// (Kingfisher encodes JPEG and PNG again.) Formats newer than PNG, JPEG and GIF are small already (BMP, ICO and
    /// TIFF are older), and are then stored unchanged whatever the quality. An image that a processor has decoded
    /// from other bytes than the original ones, say from an image embedded in them, counts as processed.
    ///
    /// A processed image is encoded in the format of its original, as PNG when that is unknown, cannot be written, or
    /// takes as long to write as AVIF. One that a processor has made transparent is PNG if its original is JPEG, which
    /// has no transparency. (Kingfisher writes JPEG, so that round corners are white when they come from the disk.)
    /// Frames that were processed become an animated WebP, which loses nothing at quality 1. What is too large for JPEG
    /// or WebP becomes PNG.
    ///
    /// Nil for an empty image, and for an animation that cannot be written.
    public func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        let bytes = original ?? image.animatedData
        let type = bytes.flatMap { ImageContentType(sniffing: $0) }
        let isModern = type.map { ![.png, .jpeg, .gif, .bmp, .ico, .tiff].contains($0) } ?? false
        if let bytes {
            let isGoodEnough = compressionQuality >= 1 || isModern
            if preferCacheOriginalData || (isGoodEnough && image.isDecoded(from: bytes)) { return bytes }
        }
        if let animation = image.animatedData { return animation }
        let quality = Double(compressionQuality)
        if let frames = image.frames, frames.frameCount > 1 {
            let size = PixelSize(image.pixelWidth, image.pixelHeight)
            guard ImageContentType.webp.capacity.holds(size) else { return try? Codecs.encode(frames, as: .png) }
            return image.encoded(as: .webp, quality: quality, lossless: quality >= 1)
        }
        switch original.flatMap({ ImageContentType(sniffing: $0) }) {
        case .jpeg where !image.hasAlpha:
            return image.jpegData(compressionQuality: compressionQuality) ?? image.pngData()
        case .webp: return image.encoded(as: .webp, quality: quality) ?? image.pngData()
        default: return image.pngData()
        }
    }

    /// The image the bytes decode to, with the scale of the options.
    public func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        options.decoded(data)
    }
}

/// Stores every image in one format.
public struct FormatIndicatedCacheSerializer: CacheSerializer, Hashable {
    /// Stores PNG.
    public static let png = FormatIndicatedCacheSerializer(.png)
    /// Stores JPEG of the best quality.
    public static let jpeg = FormatIndicatedCacheSerializer(.jpeg)
    /// Stores the GIF bytes an image was made from.
    public static let gif = FormatIndicatedCacheSerializer(.gif)
    /// Stores WebP that loses nothing.
    public static let webP = FormatIndicatedCacheSerializer(.webp, lossless: true)
    /// Stores AVIF that loses nothing.
    public static let avif = FormatIndicatedCacheSerializer(.avif, lossless: true)

    /// Stores JPEG of a given quality.
    /// - Parameter compressionQuality: From 0 to 1.
    /// - Returns: The serializer.
    public static func jpeg(compressionQuality: CGFloat) -> FormatIndicatedCacheSerializer {
        FormatIndicatedCacheSerializer(.jpeg, quality: compressionQuality)
    }

    /// Stores lossy WebP of a given quality, animations as animated WebP.
    /// - Parameter compressionQuality: From 0 to 1.
    /// - Returns: The serializer.
    public static func webP(compressionQuality: CGFloat) -> FormatIndicatedCacheSerializer {
        FormatIndicatedCacheSerializer(.webp, quality: compressionQuality)
    }

    /// Stores lossy AVIF of a given quality.
    /// - Parameter compressionQuality: From 0 to 1.
    /// - Returns: The serializer.
    public static func avif(compressionQuality: CGFloat) -> FormatIndicatedCacheSerializer {
        FormatIndicatedCacheSerializer(.avif, quality: compressionQuality)
    }

    private let type: ImageContentType
    private let quality: Double
    private let lossless: Bool

    private init(_ type: ImageContentType, quality: CGFloat = 1, lossless: Bool = false) {
        self.type = type
        self.quality = Double(quality)
        self.lossless = lossless
    }

    /// The image in the indicated format; failing that in the original's, failing that the original bytes.
    ///
    /// Nil for an empty image.
    public func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        image.encoded(as: type, quality: quality, lossless: lossless)
            ?? original.flatMap { ImageContentType(sniffing: $0) }.flatMap { image.encoded(as: $0, quality: quality) }
            ?? original
            ?? image.pngData()
    }

    /// The image the bytes decode to, with the scale of the options.
    public func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        options.decoded(data)
    }
}

/// A serializer made from closures. (Not in Kingfisher.)
///
/// It equals its copies; loads with equal ones share what they store.
public struct AnyCacheSerializer: CacheSerializer, Hashable {
    private let identity = CodeIdentity()
    private let encode: @Sendable (KFCrossPlatformImage, Data?) -> Data?
    private let decode: @Sendable (Data, KingfisherParsedOptionsInfo) -> KFCrossPlatformImage?

    /// Whether `data` stores the original bytes, so that the processor has to run again on the image that is loaded.
    public let originalDataUsed: Bool

    /// Creates a serializer.
    /// - Parameters:
    ///   - originalDataUsed: Whether `data` stores the original bytes.
    ///   - data: Gives the bytes to store for an image and the bytes it was made from, or nil.
    ///   - image: Gives the image stored as some bytes, or nil when they cannot be decoded.
    public init(
        originalDataUsed: Bool = false,
        data: @escaping @Sendable (_ image: KFCrossPlatformImage, _ original: Data?) -> Data?,
        image: @escaping @Sendable (_ data: Data, _ options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage?
    ) {
        self.originalDataUsed = originalDataUsed
        (encode, decode) = (data, image)
    }

    /// The result of the first closure.
    public func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { encode(image, original) }

    /// The result of the second closure.
    public func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        decode(data, options)
    }

    /// Whether one is a copy of the other.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.identity == rhs.identity }
    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
