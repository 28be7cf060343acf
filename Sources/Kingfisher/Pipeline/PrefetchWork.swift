// How one source is prefetched. For ImagePrefetcher and PrefetchCoordinator, which decide when.

import Foundation
import KFSupport

/// Prefetches single sources with the same options.
struct PrefetchWork: Sendable {
    /// How the prefetch of one source ended.
    enum Outcome: Sendable {
        /// It was cached already.
        case skipped
        case completed
        case failed(KingfisherError)
    }

    /// The priority of downloads that nothing waits for, unless the options name one.
    private static let lowPriority: Float = 0.1

    private let manager: KingfisherManager
    private let options: KingfisherParsedOptionsInfo
    /// The identifier of the processor, as it is part of cache keys.
    private let identifier: String
    private let cache: ImageCache
    private let originalCache: ImageCache
    private let downloader: ImageDownloader

    /// - Parameters:
    ///   - info: The options; the manager's defaults do not apply.
    ///   - manager: Shares the loads.
    ///   - adapt: Changes the parsed options.
    init(
        _ info: KingfisherOptionsInfo?,
        manager: KingfisherManager,
        adapt: (inout KingfisherParsedOptionsInfo) -> Void
    ) {
        let defaultPriority = KingfisherParsedOptionsInfo().downloadPriority
        var options = KingfisherParsedOptionsInfo(info)
        cache = options.targetCache ?? .default
        originalCache = options.originalCache ?? cache
        downloader = options.downloader ?? .default
        (options.targetCache, options.originalCache, options.downloader) = (cache, originalCache, downloader)
        options.alternativeSources = nil
        options.lowDataModeSource = nil
        // Their results would be for no one.
        options.imageModifier = nil
        options.progressiveJPEG = nil
        if options.downloadPriority == defaultPriority { options.downloadPriority = Self.lowPriority }
        adapt(&options)
        self.options = options
        self.manager = manager
        options.resolveProcessor()
        identifier = options.processor.identifier
    }

    /// The priority of tasks that do the work.
    var priority: TaskPriority { TaskPriority(downloadPriority: options.downloadPriority) }

    /// Makes and stores the image of a source, unless it is cached.
    func image(of source: Source) async -> Outcome {
        await outcome { () async throws(KingfisherError) in
            var options = options
            // What its server may have to be asked about is a load as any other.
            if mayBeSkipped(source), !options.asksServer(about: source) {
                switch await cachedType(of: source, identifier, in: cache) {
                case .memory: return .skipped
                case .disk where !options.alsoPrefetchToMemory: return .skipped
                case .disk:
                    options.onlyFromCache = true
                    options.fromMemoryCacheOrRefresh = false
                case .none: break
                }
            }
            let result = try await manager.retrieveImage(with: source, parsed: options)
            try result.cacheStoreResult?.diskCacheResult.get()
            return result.cacheType.cached && !options.forceRefresh ? .skipped : .completed
        }
    }

    /// Stores the bytes of a source on disk as they are, unless they or the image made of them are cached.
    func bytes(of source: Source) async -> Outcome {
        await outcome { () async throws(KingfisherError) in
            if let file = manager.forbiddenFile(source) { throw .requestError(reason: .fileURLNotAllowed(url: file)) }
            if mayBeSkipped(source) {
                if await cachedType(of: source, identifier, in: cache).cached { return .skipped }
                if await cachedType(of: source, "", in: originalCache) == .disk { return .skipped }
            }
            guard !options.onlyFromCache else {
                throw .cacheError(reason: .imageNotExisting(key: source.cacheKey))
            }
            let loaded = try await loadedWithRetries(source)
            guard !loaded.data.isEmpty else {
                throw .processorError(reason: .processingFailed(processor: options.processor, item: .data(loaded.data)))
            }
            // A provider may ignore that it is cancelled.
            guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
            var query = CacheCore.Query(source.cacheKey, options)
            query.options.hooks.cacheMetadata = loaded.response.flatMap { CacheMetadata($0) }
            let stored = Promise<CacheStoreResult>()
            originalCache.putOriginal(loaded.data, query, stored)
            try await stored.value.diskCacheResult.get()
            return .completed
        }
    }

    private func outcome(
        _ work: () async throws(KingfisherError) -> Outcome
    ) async -> Outcome {
        do throws(KingfisherError) { return try await work() } catch { return .failed(error) }
    }

    /// Whether a source that is cached counts; of a file that must not be read nothing does.
    private func mayBeSkipped(_ source: Source) -> Bool {
        !options.forceRefresh && manager.forbiddenFile(source) == nil
    }

    private func cachedType(of source: Source, _ identifier: String, in cache: ImageCache) async -> CacheType {
        let (key, type) = (source.cacheKey, options.forcedExtension)
        guard cache.isSubclassed else {
            return await cache.core.cachedType(key.computedKey(with: identifier), type)
        }
        return await WorkExecutor.io.run {
            cache.imageCachedType(forKey: key, processorIdentifier: identifier, forcedExtension: type)
        }
    }

    private func loadedWithRetries(_ source: Source) async throws(KingfisherError) -> DataLoadingResult {
        var retried: RetryContext?
        while true {
            do throws(KingfisherError) {
                return try await loaded(source)
            } catch {
                guard !error.isCancelled, let strategy = options.retryStrategy else { throw error }
                let context = retried ?? RetryContext(source: source, error: error)
                retried = context
                context.fail(with: error)
                guard case .retry(let info) = await strategy.firstDecision(for: context), !Task.isCancelled else {
                    throw error
                }
                context.countRetry(userInfo: info)
            }
        }
    }

    private func loaded(_ source: Source) async throws(KingfisherError) -> DataLoadingResult {
        switch source {
        case .network(let resource):
            try await downloader.downloadData(with: resource.downloadURL, options: options)
        case .provider(let provider):
            DataLoadingResult(data: try await manager.data(of: provider), url: nil, metrics: nil)
        }
    }
}
