// How images become the bytes of the disk cache and back. Knows nothing of files.

public import Foundation
import KFImaging

/// Turns images into bytes for the disk cache and bytes from it into images.
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
    /// - Returns: The image, or nil when the bytes are none; the entry is then removed.
    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage?

    /// Whether ``data(with:original:)`` stores the original bytes, so that the processor has to run again on what
    /// is loaded. False by default.
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
    /// An image that is what its original bytes decode to is stored as those bytes, unless a
    /// ``compressionQuality`` below 1 asks for smaller ones: nothing is lost, an animation stays one, and the file is
    /// the one the server sent. (Kingfisher encodes JPEG and PNG again.) A processed image is encoded in the format of
    /// its original, as PNG when that is unknown or cannot be written.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - original: The bytes it was made from.
    /// - Returns: The bytes, or nil for an empty image.
    public func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        let keepsOriginal = preferCacheOriginalData || (image.isUnprocessed && compressionQuality >= 1)
        if keepsOriginal, let original = original ?? image.animatedData { return original }
        switch original.flatMap({ ImageContentType(sniffing: $0) }) {
        case .jpeg: return image.jpegData(compressionQuality: compressionQuality)
        case .webp: return try? Codecs.encode(image, as: .webp, quality: Double(compressionQuality))
        default: return image.animatedData ?? image.pngData()
        }
    }

    /// The image the bytes decode to, with the scale of the options.
    /// - Parameters:
    ///   - data: Bytes from the cache.
    ///   - options: Names the scale.
    /// - Returns: The image, or nil for bytes that are none.
    public func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        Image(data: data, scale: options.scaleFactor)
    }
}

/// Stores every image in one format.
public struct FormatIndicatedCacheSerializer: CacheSerializer {
    /// Stores PNG.
    public static let png = FormatIndicatedCacheSerializer(format: .PNG, quality: nil)
    /// Stores JPEG of the best quality.
    public static let jpeg = FormatIndicatedCacheSerializer(format: .JPEG, quality: 1)
    /// Stores the GIF bytes an image was made from.
    public static let gif = FormatIndicatedCacheSerializer(format: .GIF, quality: nil)

    /// Stores JPEG of a given quality.
    /// - Parameter compressionQuality: From 0 to 1.
    /// - Returns: The serializer.
    public static func jpeg(compressionQuality: CGFloat) -> FormatIndicatedCacheSerializer {
        FormatIndicatedCacheSerializer(format: .JPEG, quality: compressionQuality)
    }

    private let format: ImageFormat
    private let quality: CGFloat?

    private init(format: ImageFormat, quality: CGFloat?) {
        self.format = format
        self.quality = quality
    }

    /// The image in the indicated format; failing that in the original's, failing that the original bytes.
    /// - Parameters:
    ///   - image: The image.
    ///   - original: The bytes it was made from.
    /// - Returns: The bytes, or nil for an empty image.
    public func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        encoded(image, format)
            ?? original.flatMap { encoded(image, ImageFormat(sniffing: $0)) }
            ?? original
            ?? image.pngData()
    }

    private func encoded(_ image: KFCrossPlatformImage, _ format: ImageFormat) -> Data? {
        switch format {
        case .PNG: image.pngData()
        case .JPEG: image.jpegData(compressionQuality: quality ?? 1)
        case .GIF: image.animatedData
        case .unknown: nil
        }
    }

    /// The image the bytes decode to, with the scale of the options.
    /// - Parameters:
    ///   - data: Bytes from the cache.
    ///   - options: Names the scale.
    /// - Returns: The image, or nil for bytes that are none.
    public func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        Image(data: data, scale: options.scaleFactor)
    }
}
