//! What a server that loads images for strangers sets when it starts.
import Foundation
import FoundationNetworking
import Kingfisher

ImageDecodingLimits.default.maxPixelCount = 50_000_000  // 200 MB for each image that is being decoded
let cache = ImageCache.default
cache.memoryStorage.config.totalCostLimit = 256 << 20
cache.diskStorage.config.sizeLimit = 10 << 30

let downloader = ImageDownloader(name: "user content")
downloader.addressPolicy = .publicOnly
downloader.totalTimeout = 30
downloader.maximumResponseSize = 20 << 20
downloader.maximumBytesInFlight = 256 << 20
let session = URLSessionConfiguration.ephemeral
session.httpCookieAcceptPolicy = .never
downloader.sessionConfiguration = session

let manager = KingfisherManager(downloader: downloader, cache: cache)
manager.allowsFileURLs = false

func thumbnail(of url: URL) async throws -> Data? {
    let processor = ThumbnailImageProcessor(size: CGSize(width: 200, height: 200), mode: .fill)
    let result = try await manager.retrieveImage(with: url, options: [.processor(processor)])
    return result.image.jpegData(compressionQuality: 0.8)  // not result.data()
}
