// The provider of a small copy of an image at a URL, for programs that keep the copy and not the image.

public import Foundation
import KFImaging
import KFSupport

/// Gives a small copy of the image at a URL, in the format of the original.
///
/// The copy is the first frame, upright, decoded at the reduced size. It is written in the format of the original, with
/// quality 0.9 where that loses something, or as PNG if that format cannot be written here. All of it happens on the
/// library's own threads. To load an image that is cached as a whole, too, use ``ThumbnailImageProcessor`` instead.
public struct ThumbnailImageDataProvider: ImageDataProvider {
    /// Why there is no copy; what went wrong with reading or downloading is thrown as it is.
    public enum ThumbnailImageDataProviderError: Error {
        /// What is at the URL is no image that can be read here.
        case invalidImageSource
        /// The pixels of the image cannot be decoded.
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
    /// The key in the caches.
    public var cacheKey: String

    /// Creates a provider.
    /// - Parameters:
    ///   - url: Where the image is.
    ///   - maxPixelSize: The most pixels that the longer side of the copy has.
    ///   - alwaysCreateThumbnail: Without effect: previews that files have embedded are never used.
    ///   - cacheKey: The key in the caches; nil makes one of the other parameters.
    public init(url: URL, maxPixelSize: CGFloat, alwaysCreateThumbnail: Bool = true, cacheKey: String? = nil) {
        self.url = url
        self.maxPixelSize = maxPixelSize
        self.alwaysCreateThumbnail = alwaysCreateThumbnail
        let name = url.absoluteString.hasDataScheme ? url.cacheKey : url.absoluteString
        self.cacheKey = cacheKey ?? "\(name)_thumb_\(maxPixelSize.identifierText)_\(alwaysCreateThumbnail)"
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
        // Rounded down: the copy may not be larger by a part of a pixel.
        let side = maxPixelSize > 0 ? max(maxPixelSize.rounded(.down), 1) : 0
        let limit = Geometry.thumbnailLimit(points: CGSize(width: side, height: side), scale: 1)
        guard let image = Image.downsampled(original, limit: limit, scale: 1) else { throw .invalidThumbnail }
        let type = image.contentType ?? .png
        guard let data = (try? Codecs.encode(image, as: type, quality: 0.9)) ?? image.pngData() else {
            throw .writeDataError
        }
        return data
    }
}
