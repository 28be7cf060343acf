// The provider of a small copy of an image at a URL, for programs that keep the copy and not the image.

public import Foundation
import KFImaging
import KFSupport

/// Gives a small copy of the image at a URL, in the format of the original.
///
/// The copy is one frame, the first unless ``frameIndex`` says otherwise, upright, decoded at the reduced size. It is
/// written in the format of the original, with quality 0.9 where that loses something, or as PNG if that format cannot
/// be written here. All of it happens on the library's own threads. To load an image that is cached as a whole, too,
/// use ``ThumbnailImageProcessor`` instead.
public struct ThumbnailImageDataProvider: ImageDataProvider {
    /// Why there is no copy; what went wrong with reading or downloading is thrown as it is.
    public enum ThumbnailImageDataProviderError: Error {
        /// What is at the URL is no image that can be read here.
        case invalidImageSource
        /// The pixels of the image cannot be decoded, or it has no frame of that index.
        case invalidThumbnail
        /// The copy cannot be encoded.
        case writeDataError
        /// Never thrown here: encoding is one step, see ``writeDataError``.
        case finalizeDataError
    }

    /// Where the image is.
    ///
    /// A file and a `data:` URL are read, anything else is downloaded by ``ImageDownloader/default``.
    public let url: URL
    /// The most pixels that the longer side of the copy has; 0, a negative number or NaN keeps the size of the image.
    ///
    /// Images are never enlarged.
    public var maxPixelSize: CGFloat
    /// Without effect: previews that files have embedded are never used.
    public var alwaysCreateThumbnail: Bool
    /// Which frame of an animation is copied, from 0; one that is not there makes the load fail. (Not in Kingfisher.)
    public var frameIndex: Int
    /// The key in the caches.
    public var cacheKey: String

    /// Creates a provider.
    /// - Parameters:
    ///   - url: Where the image is.
    ///   - maxPixelSize: The most pixels that the longer side of the copy has.
    ///   - alwaysCreateThumbnail: Without effect: previews that files have embedded are never used.
    ///   - frameIndex: Which frame of an animation is copied, from 0.
    ///   - cacheKey: The key in the caches; nil makes one of the other parameters.
    public init(
        url: URL,
        maxPixelSize: CGFloat,
        alwaysCreateThumbnail: Bool = true,
        frameIndex: Int = 0,
        cacheKey: String? = nil
    ) {
        self.url = url
        self.maxPixelSize = maxPixelSize
        self.alwaysCreateThumbnail = alwaysCreateThumbnail
        self.frameIndex = frameIndex
        let name = url.absoluteString.hasDataScheme ? url.cacheKey : url.absoluteString
        let size = maxPixelSize.identifierText
        let frame = frameIndex == 0 ? "" : "_frame\(frameIndex)"
        self.cacheKey = cacheKey ?? "\(name)_thumb_\(size)_\(alwaysCreateThumbnail)\(frame)"
    }

    /// The copy.
    ///
    /// - Returns: The bytes of a file.
    /// - Throws: ``ThumbnailImageDataProviderError``, or the error of reading or downloading the image.
    public func data() async throws -> Data {
        let original = try await original()
        return try await WorkExecutor.cpu.run { () async throws -> Data in try thumbnail(of: original) }
    }

    private func original() async throws -> Data {
        switch url.convertToSource() {
        case .provider(let provider): try await provider.data()
        case .network: try await ImageDownloader.default.downloadData(with: url).data
        }
    }

    private func thumbnail(of original: Data) throws(ThumbnailImageDataProviderError) -> Data {
        guard (try? Codecs.info(of: original)) != nil else { throw .invalidImageSource }
        guard let image = frame(of: original) else { throw .invalidThumbnail }
        let type = ImageContentType(sniffing: original) ?? .png
        guard let data = (try? Codecs.encode(image, as: type, quality: 0.9)) ?? image.pngData() else {
            throw .writeDataError
        }
        return data
    }

    /// The frame at the reduced size, upright.
    private func frame(of original: Data) -> Image? {
        // Rounded down: the copy may not be larger by a part of a pixel.
        let side = maxPixelSize > 0 ? max(maxPixelSize.rounded(.down), 1) : 0
        let size = CGSize(width: side, height: side)
        guard frameIndex != 0 else {
            return .downsampled(original, limit: Geometry.thumbnailLimit(points: size, scale: 1), scale: 1)
        }
        let frames = (try? Codecs.frameSource(of: original)) ?? nil
        return frames?.frame(at: frameIndex, maxSize: size).map { Image(cgImage: $0) }
    }
}
