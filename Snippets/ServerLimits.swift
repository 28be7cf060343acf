// What a server sets before it loads anything, where its users name the URLs.
import Foundation
import FoundationNetworking
import Kingfisher

/// A manager with limits; those of decoding hold for the whole process.
func limitedManager() -> KingfisherManager {
    ImageDecodingLimits.default.isolation = .required  // needs EmbeddedDecoder.start(), or kf-decoder
    ImageDecodingLimits.default.maxPixelCount = 50_000_000  // 200 MB for each image that is being decoded
    let cache = ImageCache.default
    cache.memoryStorage.config.totalCostLimit = 256 << 20
    cache.diskStorage.config.sizeLimit = 10 << 30

    let downloader = ImageDownloader(name: "user content")
    downloader.addressPolicy = .publicOnly
    downloader.totalTimeout = 30
    downloader.maxResponseBytes = 20 << 20
    downloader.maxBytesInFlight = 256 << 20
    let session = URLSessionConfiguration.ephemeral
    session.httpCookieAcceptPolicy = .never
    downloader.sessionConfiguration = session

    let manager = KingfisherManager(downloader: downloader, cache: cache)
    manager.allowsFileURLs = false
    return manager
}
