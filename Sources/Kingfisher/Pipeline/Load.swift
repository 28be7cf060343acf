// The request of one caller, and the result of a load that several callers may share. For the manager.

import Foundation
import KFStorage
import KFSupport

/// One caller's request.
struct Load: Sendable {
    let source: Source
    var options: KingfisherParsedOptionsInfo
    let progress: ProgressRelay?
    let previews: Previews?
    /// Cancels the load; if it runs in a task of the caller's, only when all of the manager are.
    let handle: DownloadTask
    let updated: DownloadTaskUpdatedBlock?

    /// Whether the caller still wants the image.
    var isWanted: Bool { !handle.isCancelled && options.hooks.isWanted?() ?? true }

    /// The caller as a subscriber of a shared load; `updated` is called if this is not its first attempt.
    func subscriber(to wanted: Source, isFirstAttempt: Bool) -> Subscriber<LoadResult> {
        var hooks = LoadHooks()
        hooks.handle = handle
        hooks.isWanted = options.hooks.isWanted
        let (progress, previews, handle) = (progress, previews, handle)
        let updated = isFirstAttempt ? nil : updated
        let started = options.requestModifier?.onDownloadTaskStarted
        let observe = options.onDataReceived
        if progress != nil || previews != nil || observe != nil {
            hooks.received = { piece in
                observe?(piece.task, piece.data)
                progress?.report(piece)
                previews?.moreDataHasArrived()
            }
        }
        if let progress { hooks.progressed = { progress.report(received: $0, expected: $1) } }
        if previews != nil || started != nil || updated != nil {
            hooks.served = { service in
                if case .transfer(let transfer, _) = service {
                    previews?.follow(transfer)
                    started?(handle)
                }
                updated?(handle)
            }
        }
        var subscriber = Subscriber<LoadResult>(hooks: hooks, priority: options.downloadPriority)
        if let show = options.onStaleImage {
            subscriber.showStale = { [self] stale in
                let result = await result(stale, from: wanted)
                options.callbackQueue.execute { if isWanted { show(result) } }
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
typealias ImageLoad = SharedLoad<LoadKey, LoadResult>

/// The result of a shared load, before it is adapted to each subscriber.
struct LoadResult: Sendable {
    let image: KFCrossPlatformImage
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
}

/// A source with its keys in a cache, which are built once.
struct KeyedSource: Sendable {
    let source: Source
    let query: CacheCore.Query

    init(_ source: Source, _ options: KingfisherParsedOptionsInfo) {
        self.source = source
        var options = options
        if options.hooks.keepsDownload, case .network = source { options.cacheOriginalImage = true }
        query = CacheCore.Query(source.cacheKey(options), options)
    }

    var options: KingfisherParsedOptionsInfo { query.options }

    /// The error of a load that finds nothing, where caches are all there is, or that no subscriber wants any more.
    var notExisting: KingfisherError { .cacheError(reason: .imageNotExisting(key: query.key)) }
}
