// Caches, downloads, prefetching, retries and cancelling, as the articles about them show it.
import Foundation
import FoundationNetworking
import Kingfisher

// snippet.keys
KingfisherManager.shared.cacheKeyFilter = QueryItemsCacheKeyFilter(removing: ["Expires", "Signature", "Key-Pair-Id"])

func isCached(_ signed: URL) -> Bool {
    let key = KingfisherManager.shared.cacheKeyFilter?.cacheKey(for: signed) ?? signed.cacheKey
    return ImageCache.default.isCached(forKey: key)
}
// snippet.end

// snippet.layers
let originals = ImageCache(name: "originals")

func thumbnail(_ url: URL) async throws -> KFCrossPlatformImage {
    try await KingfisherManager.shared.retrieveImage(
        with: url,
        options: [
            .processor(DownsamplingImageProcessor(size: CGSize(width: 200, height: 200))),
            .storeCacheLayers(.memory),
            .originalCache(originals),
            .originalStoreCacheLayers(.disk),
        ]
    ).image
}
// snippet.end

// snippet.http
KingfisherManager.shared.defaultOptions = [.respectCacheControl]

func refresh(_ url: URL, show: @escaping @Sendable (KFCrossPlatformImage) -> Void) async throws {
    let options: KingfisherOptionsInfo = [.refreshCached, .onStaleImage { stale in show(stale.image) }]
    let result = try await KingfisherManager.shared.retrieveImage(with: url, options: options)
    show(result.image)
    if case .failed(let error) = result.revalidation { print("still the old image:", error.localizedDescription) }
}
// snippet.end

// snippet.failed
final class Rules: KingfisherManagerDelegate {
    func manager(
        _ manager: KingfisherManager,
        shouldDownload source: Source,
        options: KingfisherParsedOptionsInfo
    ) -> Bool { source.url?.host != "tracker.example.com" }
}

let rules = Rules()
KingfisherManager.shared.delegate = rules
KingfisherManager.shared.failedURLs = FailedURLRegistry(capacity: 500, expiration: .seconds(300))

func load(_ url: URL) async throws -> KFCrossPlatformImage {
    do {
        return try await KingfisherManager.shared.retrieveImage(with: url).image
    } catch KingfisherError.requestError(reason: .urlBlocked) {
        // It has failed before: not even the cache was asked. Try it nevertheless:
        return try await KingfisherManager.shared.retrieveImage(with: url, options: [.retryFailed]).image
    }
}
// snippet.end

// snippet.limits
var configuration = CurlTransport.Configuration()
configuration.proxy = "http://proxy.internal:3128"  // else that of the environment
let downloader = ImageDownloader(name: "gallery", transport: CurlTransport(configuration: configuration))
downloader.maxConcurrentDownloads = 32
downloader.downloadTimeout = 10  // seconds without a byte
downloader.totalTimeout = 60
downloader.maxResponseBytes = 20 << 20
KingfisherManager.shared.downloader = downloader
// snippet.end

// snippet.hooks
struct Authorizing: ThrowingImageDownloadRequestModifier {
    let token: @Sendable () async throws -> String

    func modified(for request: URLRequest) async throws -> URLRequest {
        var request = request
        request.setValue("Bearer \(try await token())", forHTTPHeaderField: "Authorization")
        return request
    }
}

let options: KingfisherOptionsInfo = [
    .requestModifier(Authorizing { "token" }),
    .dataModifier(AnyDataModifier { data, _ in Data(base64Encoded: data) }),
    .onDataReceived { task, data in print(task.originalURL?.path ?? "", data.count) },
]
// snippet.end

// snippet.prefetching
func prefetch(_ urls: [URL]) async {
    let prefetcher = ImagePrefetcher(
        urls: urls,
        options: [.alsoPrefetchToMemory],
        progressBlock: { skipped, failed, completed in
            print(skipped.count + failed.count + completed.count, "of", urls.count)
        }
    )
    prefetcher.maxConcurrentDownloads = 10
    for failure in await prefetcher.prefetch().failed { print(failure.source.cacheKey, failure.error) }
}
// snippet.end

// snippet.coordinator
let urls = (0..<1_000).compactMap { URL(string: "https://example.com/\($0).jpg") }
let coordinator = PrefetchCoordinator(window: 20) { row in row < urls.count ? .network(urls[row]) : nil }

func listScrolled(to rows: Range<Int>) { coordinator.visibleRows(rows) }
// snippet.end

// snippet.retries
KingfisherManager.shared.defaultOptions += [.retryStrategy(DelayRetryStrategy.transient)]

func loadOnTheTrain(_ url: URL) async throws -> KFCrossPlatformImage {
    let waiting = NetworkRetryStrategy(timeoutInterval: 60)  // waits for the network, a minute at most
    return try await KF.url(url).retry(waiting).retrieve().image
}
// snippet.end

// snippet.strategy
/// Asks the user, once.
struct AskingStrategy: AsyncRetryStrategy {
    let ask: @Sendable (String) async -> Bool

    func decision(for context: RetryContext) async -> RetryDecision {
        guard context.retriedCount == 0, await ask(context.error.localizedDescription) else { return .stop }
        return .retry(userInfo: nil)
    }
}
// snippet.end

// snippet.cancelling
func loadUntilCancelled(_ url: URL) async -> KFCrossPlatformImage? {
    let loading = Task { try await KingfisherManager.shared.retrieveImage(with: url).image }
    let task = KingfisherManager.shared.retrieveImage(with: url) { result in
        if case .failure(let error) = result, error.isTaskCancelled { print("cancelled") }
    }
    task?.cancel()  // ends this load; the one above shares the download, and goes on
    loading.cancel()  // the last one: the download ends, too
    return try? await loading.value
}
// snippet.end

// snippet.priorities
func loadFirst(_ url: URL) async throws -> KFCrossPlatformImage {
    try await KF.url(url).downloadPriority(1).retrieve().image  // 0.5 unless set; prefetching has less
}

ImageDownloader.default.executionOrder = .newestFirst
// snippet.end

// snippet.measuring
func measure(_ url: URL) async throws {
    let result = try await KingfisherManager.shared.retrieveImage(with: url)
    print(result.cacheType, result.metrics?.totalRequestDuration ?? 0, result.metrics?.connectDuration ?? 0)
    let statistics = ImageCache.default.statistics
    print(statistics.memory.hitRatio ?? 0, statistics.disk.hitRatio ?? 0, statistics.memory.evictions)
    print(PixelThreads.queueLength, ImageDownloader.default.queueStatus)
}
// snippet.end
