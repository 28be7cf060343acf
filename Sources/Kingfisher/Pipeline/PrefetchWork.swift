// How one source is prefetched: a load as any other, with a low priority and no other sources, so that a view which
// wants the image joins it and makes it more urgent. For ImagePrefetcher and PrefetchCoordinator, which decide when.

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
    /// Where images are looked up and stored unless the options name another cache.
    private let cache: ImageCache
    private let options: KingfisherParsedOptionsInfo

    /// - Parameters:
    ///   - info: The options.
    ///   - manager: Shares the loads; its defaults apply, unless it is the shared one.
    ///   - adapt: Changes the parsed options.
    init(
        _ info: KingfisherOptionsInfo?,
        manager: KingfisherManager,
        adapt: (inout KingfisherParsedOptionsInfo) -> Void
    ) {
        let defaultPriority = KingfisherParsedOptionsInfo().downloadPriority
        // Kingfisher's prefetchers know nothing of the shared manager's defaults.
        let isShared = manager === KingfisherManager.shared
        var options = KingfisherParsedOptionsInfo((isShared ? [] : manager.defaultOptions) + (info ?? []))
        cache = options.targetCache ?? (isShared ? .default : manager.cache)
        options.targetCache = cache
        options.downloader = options.downloader ?? (isShared ? .default : manager.downloader)
        manager.addRules(to: &options)
        options.alternativeSources = nil
        options.lowDataModeSource = nil
        // Their results would be for no one.
        options.imageModifier = nil
        options.progressiveJPEG = nil
        if options.downloadPriority == defaultPriority { options.downloadPriority = Self.lowPriority }
        adapt(&options)
        self.options = options
        self.manager = manager
    }

    /// The options for a source, with its cache named.
    private func options(for source: Source) -> KingfisherParsedOptionsInfo {
        var options = options
        manager.process(&options, for: source)
        options.targetCache = options.targetCache ?? cache
        return options
    }

    /// The priority of tasks that do the work.
    var priority: TaskPriority { TaskPriority(downloadPriority: options.downloadPriority) }

    /// Makes and stores the image of a source, unless it is cached.
    func image(of source: Source) async -> Outcome {
        await outcome { () async throws(KingfisherError) in
            var options = options(for: source)
            // A prefetch whose server may have to be asked is a load as any other.
            if mayBeSkipped(source, options), !options.asksServer(about: source) {
                switch await cachedType(of: source, options) {
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
            var options = options(for: source)
            if let refusal = manager.rules.refusal(of: source, options) { throw refusal }
            if mayBeSkipped(source, options) {
                if await cachedType(of: source, options).cached { return .skipped }
                if await cachedType(ofOriginalOf: source, options) == .disk { return .skipped }
            }
            let key = source.cacheKey(options)
            guard !options.onlyFromCache else { throw .cacheError(reason: .imageNotExisting(key: key)) }
            // The options processor may have named other sources: bytes are those of this one.
            (options.alternativeSources, options.lowDataModeSource) = (nil, nil)
            var attempts = Attempts(LoadPlan(source, options), by: manager)
            let loaded = try await attempts.run { _ throws(KingfisherError) in
                try await manager.rules.checkDownload(source, options)
                return try await manager.data(of: source, options)
            }
            guard !loaded.data.isEmpty else {
                throw .processorError(reason: .processingFailed(processor: options.processor, item: .data(loaded.data)))
            }
            // A provider may ignore that it is cancelled.
            guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
            let redirects = loaded.response?.redirects ?? []
            guard options.mayStore(loaded.cacheMetadata, isPersonal: loaded.isPersonal, redirects: redirects) else {
                manager.remove(LoadPlan(source, options))
                return .completed
            }
            options.load.cacheMetadata = loaded.cacheMetadata
            let stored = Promise<CacheStoreResult>()
            options.cacheForOriginals?.putOriginal(loaded.data, forKey: key, options, stored)
            try await stored.value.diskCacheResult.get()
            return .completed
        }
    }

    private func outcome(
        _ work: () async throws(KingfisherError) -> Outcome
    ) async -> Outcome {
        do throws(KingfisherError) { return try await work() } catch { return .failed(error) }
    }

    /// Whether a source that is cached counts; not if it is a file that must not be read, or its URL is blocked.
    private func mayBeSkipped(_ source: Source, _ options: KingfisherParsedOptionsInfo) -> Bool {
        !options.forceRefresh && options.queryCacheLayers == .all
            && manager.rules.refusal(of: source, options) == nil
    }

    private func cachedType(of source: Source, _ options: KingfisherParsedOptionsInfo) async -> CacheType {
        var resolved = options
        resolved.resolveProcessor()
        return await options.targetCache?.imageCachedTypeAsync(
            forKey: source.cacheKey(options),
            processorIdentifier: resolved.processor.identifier,
            forcedExtension: options.forcedExtension
        ) ?? .none
    }

    private func cachedType(ofOriginalOf source: Source, _ options: KingfisherParsedOptionsInfo) async -> CacheType {
        await options.cacheForOriginals?.imageCachedTypeAsync(
            forKey: source.cacheKey(options),
            forcedExtension: options.forcedExtension
        ) ?? .none
    }
}
