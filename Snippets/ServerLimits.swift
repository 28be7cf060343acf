// What a server that makes images for strangers sets when it starts, and how it answers and ends.
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

/// The answer to a request: a status and, when there is one, an image with its media type.
func thumbnail(of url: URL) async -> (status: Int, image: EncodedImage?) {
    guard PixelThreads.queueLength < 100 else { return (429, nil) }
    let processor = ThumbnailImageProcessor(size: CGSize(width: 200, height: 200), mode: .fill)
    do throws(KingfisherError) {
        let options: KingfisherOptionsInfo = [.processor(processor), .respectCacheControl]
        let image = try await manager.retrieveEncoded(with: url, options: options, as: ImageEncoding(.webp))
        return image.isDamaged ? (422, nil) : (200, image)
    } catch {
        switch error.urlRefusal {
        case .unsupported, .malformedData: return (400, nil)
        case .address, .file: return (403, nil)
        case nil: break
        }
        return (error.imagingError == nil ? 502 : 422, nil)
    }
}

func serve(_ urls: [URL]) async {
    for url in urls {
        let (status, image) = await thumbnail(of: url)
        print(status, image?.mimeType ?? "-", image?.data.count ?? 0)
    }
    await ImageCache.allCachesWillTerminate(within: 5)
}
await serve(CommandLine.arguments.dropFirst().compactMap(URL.init))
