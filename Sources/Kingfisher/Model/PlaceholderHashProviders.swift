// Providers of the blurred images that BlurHash and ThumbHash texts stand for, for placeholders and grids of them.

public import Foundation
import KFImaging
import KFSupport

/// Makes the blurred image that a BlurHash stands for, as PNG. (Not in Kingfisher.)
///
/// The image is made and encoded on the library's own threads.
public struct BlurHashImageDataProvider: ImageDataProvider {
    /// The letters of the hash.
    public let hash: String
    /// The size of the image in pixels; 32 or so are enough, since there are no details.
    public let size: CGSize
    /// The contrast; 1 is that of the original.
    ///
    /// Limited to 0…100; NaN counts as 1.
    public let punch: CGFloat
    /// The key in the caches.
    public var cacheKey: String

    /// Creates a provider.
    /// - Parameters:
    ///   - hash: The letters of the hash; checked when the bytes are asked for.
    ///   - size: The size of the image in pixels.
    ///   - punch: The contrast; 1 is that of the original.
    ///   - cacheKey: The key in the caches; nil makes one of the other parameters.
    public init(hash: String, size: CGSize, punch: CGFloat = 1, cacheKey: String? = nil) {
        self.hash = hash
        self.size = size
        self.punch = punch
        self.cacheKey = cacheKey ?? "kingfisher.blurHash/\(hash)(\(size.identifierText), \(punch.identifierText))"
    }

    /// The image as PNG.
    ///
    /// - Returns: The bytes.
    /// - Throws: ``BlurHashError``.
    public func data() async throws -> Data {
        try await WorkExecutor.cpu.run { () async throws -> Data in
            if let image = Image(blurHash: hash, size: size, punch: punch) { return try Codecs.encode(image, as: .png) }
            // The hash is good where it makes a single pixel.
            guard Image(blurHash: hash, size: CGSize(width: 1, height: 1)) != nil else {
                throw BlurHashError.malformedHash(hash)
            }
            throw BlurHashError.impossibleSize(size)
        }
    }

    /// Why a ``BlurHashImageDataProvider`` made no image.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum BlurHashError: Error, Hashable, CustomStringConvertible {
        /// The letters are no BlurHash.
        case malformedHash(String)
        /// No bitmap can have this size, or there is no memory for it.
        case impossibleSize(CGSize)

        /// The error in words.
        public var description: String {
            switch self {
            case .malformedHash(let hash): "\"\(hash.prefix(100))\" is no BlurHash"
            case .impossibleSize(let size): "no image can have \(size.identifierText) pixels"
            }
        }
    }
}

/// Makes the blurred image that a ThumbHash stands for, as PNG whose longer side has 32 pixels. (Not in Kingfisher.)
///
/// The image is made and encoded on the library's own threads.
public struct ThumbHashImageDataProvider: ImageDataProvider {
    /// The bytes of the hash in Base64.
    public let base64String: String
    /// The key in the caches.
    public var cacheKey: String

    /// Creates a provider for a hash in Base64, in which it is usually written.
    /// - Parameters:
    ///   - base64String: The hash in Base64; checked when the bytes are asked for.
    ///   - cacheKey: The key in the caches; nil makes one of the hash.
    public init(base64String: String, cacheKey: String? = nil) {
        self.base64String = base64String
        self.cacheKey = cacheKey ?? "kingfisher.thumbHash/\(base64String)"
    }

    /// Creates a provider for the bytes of a hash.
    /// - Parameters:
    ///   - hash: The bytes of the hash; checked when those of the image are asked for.
    ///   - cacheKey: The key in the caches; nil makes one of the hash.
    public init(hash: Data, cacheKey: String? = nil) {
        self.init(base64String: hash.base64EncodedString(), cacheKey: cacheKey)
    }

    /// The image as PNG.
    ///
    /// - Returns: The bytes.
    /// - Throws: ``MalformedThumbHash``.
    public func data() async throws -> Data {
        try await WorkExecutor.cpu.run { () async throws -> Data in
            guard let image = Data(base64Encoded: base64String).flatMap({ Image(thumbHash: $0) }) else {
                throw MalformedThumbHash(base64String: base64String)
            }
            return try Codecs.encode(image, as: .png)
        }
    }

    /// The text of a ``ThumbHashImageDataProvider`` was not Base64, or its bytes were no ThumbHash.
    public struct MalformedThumbHash: Error, Hashable, CustomStringConvertible {
        /// The provider's text.
        public let base64String: String
        /// The error in words.
        public var description: String { "\"\(base64String.prefix(100))\" is no ThumbHash in Base64" }
    }
}
