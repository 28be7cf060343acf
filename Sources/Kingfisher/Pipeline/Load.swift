// The request of one caller, and the result of a load that several callers may share. For the manager.

import Foundation
import KFStorage
import KFSupport

/// One caller's request.
final class Load: LoadObserver {
    let source: Source
    let options: KingfisherParsedOptionsInfo
    let progress: ProgressRelay?
    let previews: Previews?
    /// Cancels the load; if it runs in a task of the caller's, only when all of the manager are.
    let handle: DownloadTask
    /// Called for what replaces the first attempt: with its handle once it is known from where it loads, or with nil
    /// when a cache had the image.
    let updated: DownloadTaskUpdatedBlock?
    private let hasTried = Locked(false)

    init(
        source: Source,
        options: KingfisherParsedOptionsInfo,
        progress: ProgressRelay?,
        previews: Previews?,
        handle: DownloadTask,
        updated: DownloadTaskUpdatedBlock?
    ) {
        (self.source, self.options, self.progress) = (source, options, progress)
        (self.previews, self.handle, self.updated) = (previews, handle, updated)
    }

    /// The same request with other options.
    func with(_ options: KingfisherParsedOptionsInfo) -> Load {
        Load(
            source: source,
            options: options,
            progress: progress,
            previews: previews,
            handle: handle,
            updated: updated
        )
    }

    /// The attempts that follow take the place of the first one.
    func willTryAgain() { hasTried.withLock { $0 = true } }

    /// Whether the attempt that is under way is the first one.
    var isFirst: Bool { !hasTried.withLock { $0 } }

    // MARK: What it is notified of

    var isCancelled: Bool { handle.isCancelled }
    var isWanted: Bool { !isCancelled && options.observer?.isWanted ?? true }
    var hasHandle: Bool { true }

    func didSubscribe(_ subscription: any TaskSubscription) { handle.didSubscribe(subscription) }

    func didStart(from origin: LoadOrigin) {
        handle.didStart(from: origin)
        if case .transfer(let transfer, _) = origin {
            previews?.follow(transfer)
            options.requestModifier?.onDownloadTaskStarted?(handle)
        }
        if !isFirst { updated?(handle) }
    }

    func didReceive(_ piece: ReceivedPiece) {
        guard isWanted else { return }
        options.onDataReceived?(piece.task, piece.data)
        progress?.report(piece)
        previews?.moreDataHasArrived()
    }

    func didProgress(_ received: Int64, of expected: Int64) {
        if isWanted { progress?.report(received: received, expected: expected) }
    }

    // MARK: Its place among those that share the work, and its result

    /// The caller as a subscriber of a shared load of one of its sources.
    func subscriber(to source: Source) -> Subscriber<LoadResult> {
        var subscriber = Subscriber<LoadResult>(observer: self, priority: options.downloadPriority)
        if let show = options.onStaleImage {
            subscriber.showStale = { [self] stale in
                let result = await result(stale, from: source)
                options.callbackQueue.execute { if self.isWanted { show(result) } }
            }
        }
        return subscriber
    }

    /// Adapts a result to the caller: its image modifier, which runs on the caller's thread if asked for, its sources.
    func result(
        _ loaded: LoadResult,
        from source: Source,
        onThisThread: Bool = false
    ) async -> RetrieveImageResult {
        var image = loaded.image
        if let modifier = options.imageModifier {
            image =
                onThisThread ? modifier.modify(image) : await WorkExecutor.cpu.run { [image] in modifier.modify(image) }
        }
        let data: @Sendable () -> Data? = if let data = loaded.data { { data } } else { options.encoding(of: image) }
        var result = RetrieveImageResult(
            image: image,
            cacheType: loaded.cacheType,
            source: source,
            originalSource: self.source,
            data: data,
            metrics: loaded.metrics
        )
        (result.revalidation, result.cacheMetadata) = (loaded.revalidation, loaded.metadata)
        return result
    }
}

/// A load of an image, shared by all loads with the same key.
typealias ImageLoad = SharedTask<LoadKey, LoadResult>

/// The result of a shared load, before it is adapted to each subscriber.
struct LoadResult: Sendable {
    var image: KFCrossPlatformImage
    let cacheType: CacheType
    /// The downloaded or provided bytes; nil when the image came from a cache.
    var data: Data?
    var metrics: NetworkMetrics?
    /// Whether the server confirmed that what the cache has is unchanged.
    var isConfirmed = false
    /// What the server said about the cached image, if it was asked.
    var revalidation: RetrieveImageResult.Revalidation?
    /// What the response said about caching.
    var metadata: CacheMetadata?
    /// How storing goes; nil when nothing is stored.
    var storing: Promise<CacheStoreResult>?
    /// The images that subscribers who want their frames otherwise have made of the same bytes.
    let remade = OncePerKey<ProcessingKey, Result<KFCrossPlatformImage, KingfisherError>>()
}

/// A source with its keys in a cache, which are built once.
struct KeyedSource: Sendable {
    let source: Source
    let query: CacheCore.Query

    init(_ source: Source, _ options: KingfisherParsedOptionsInfo) {
        self.source = source
        var options = options
        if options.keepsDownload, case .network = source { options.cacheOriginalImage = true }
        query = CacheCore.Query(source.cacheKey(options), options)
    }

    var options: KingfisherParsedOptionsInfo { query.options }

    /// The error of a load that finds nothing, where caches are all there is, or that no subscriber wants any more.
    var notExisting: KingfisherError { .cacheError(reason: .imageNotExisting(key: query.key)) }
}
