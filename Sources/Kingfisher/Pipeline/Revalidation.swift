// How long a cached image may be used without asking its server, and what happens when the server is asked. For the
// manager.

import Foundation
import KFStorage
import KFSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a cache has of an image whose server may be asked.
private struct CachedImage: Sendable {
    /// What the entry holds.
    enum Content: Sendable {
        /// The image itself, and the generation of its key before it was read.
        case image(KFCrossPlatformImage, MemoryGeneration)
        /// What it is made of.
        case original(Original)
    }

    let content: Content
    let bytes: Data?
    var metadata: CacheMetadata?
}

extension KingfisherManager {
    /// Finds an image whose server says how long it may be used: what is cached, if that may be used; else the server
    /// is asked.
    func validImage(_ wanted: KeyedSource, for load: ImageLoad) async throws(KingfisherError) -> LoadResult {
        // 1. Memory, where another load may have put it by now.
        let options = wanted.options
        if let cache = options.targetCache, cache.hasFreshImage(wanted.query.key, options),
            let made = imageStoredMeanwhile(wanted)
        {
            return made
        }
        // 2. The disk, where it is with what its server said.
        let cached = await cachedImage(withMetadataOf: wanted)
        try checkIsWanted(wanted, load)
        guard let cached, await isUsable(cached, wanted) else { return try await loadedImage(wanted, for: load) }
        let (now, isShared) = (Date(), options.isCacheShared)
        if !options.refreshCached {
            let freshUntil = cached.metadata?.freshUntil(inShared: isShared) ?? .distantFuture
            if freshUntil > now { return try await result(of: cached, wanted) }
            if cached.metadata?.mayBeUsedWhileRevalidating(at: now, inShared: isShared) == true {
                revalidateInBackground(wanted)
                return try await result(of: cached, wanted, .inBackground)
            }
        }
        // 3. The server.
        let subscribers = load.subscribers.compactMap { $0.isWanted ? $0.showStale : nil }
        if !subscribers.isEmpty {
            var stale = try await result(of: cached, wanted)
            stale.data = cached.bytes
            for show in subscribers { await show(stale) }
        }
        return try await revalidated(cached, wanted, for: load)
    }

    /// Whether the response that is cached is one to the request that would be sent now.
    private func isUsable(_ cached: CachedImage, _ wanted: KeyedSource) async -> Bool {
        guard let metadata = cached.metadata, metadata.variesWithRequest, let url = wanted.source.url else {
            return true
        }
        let loader = (wanted.options.downloader ?? downloader).loader
        guard let request = try? await loader.conditions(for: url, wanted.options, timeout: nil).request else {
            return false
        }
        return metadata.answers(request)
    }

    /// Asks the server about a cached image.
    private func revalidated(
        _ cached: CachedImage,
        _ wanted: KeyedSource,
        for load: ImageLoad
    ) async throws(KingfisherError) -> LoadResult {
        var options = wanted.options
        options.conditionalFields = cached.metadata?.conditionalFields(for: wanted.source, options) ?? [:]
        do throws(KingfisherError) {
            var loaded = try await imageOfBytes(KeyedSource(wanted.source, options), for: load)
            loaded.revalidation = loaded.data == cached.bytes ? .notModified : .modified
            return loaded
        } catch {
            if let response = error.notModifiedResponse {
                var cached = cached
                if let metadata = cached.metadata {
                    // A downloader of the user's may not have notified the load: the redirects of this time are not known.
                    var newer = CacheMetadata(response: response)
                    newer.redirects = metadata.redirects
                    newer = load.confirmation ?? newer
                    let confirmed = metadata.confirmed(by: newer)
                    if options.mayStore(confirmed) {
                        await renew(cached, confirmed, wanted)
                    } else {
                        remove(wanted)
                    }
                    cached.metadata = confirmed
                }
                return try await result(of: cached, wanted, .notModified)
            }
            let mayBeUsed = cached.metadata?.mayBeUsed(after: error, at: Date(), inShared: options.isCacheShared)
            let isError = options.refreshCached && options.refreshFailureIsError
            let isRefresh = options.refreshCached && !options.respectCacheControl
            guard !error.isCancelled, !isError, isRefresh || mayBeUsed == true else { throw error }
            return try await result(of: cached, wanted, .failed(error))
        }
    }

    /// What the disk has: the image, or the original that it is made of.
    private func cachedImage(withMetadataOf wanted: KeyedSource) async -> CachedImage? {
        var query = wanted.query
        let options = wanted.options
        guard let cache = options.targetCache else { return nil }
        let generation = cache.core.generation(forKey: query.computedKey)
        (query.layers, query.promotes, query.wantsMetadata) = (.disk, false, true)
        // A cache that cannot be read has nothing.
        if wanted.query.layers.contains(.disk),
            case .disk(let image, let bytes, let metadata)? = try? await cache.find(query)
        {
            guard options.cacheSerializer.originalDataUsed, !options.processor.identifier.isEmpty else {
                return CachedImage(content: .image(image, generation), bytes: bytes, metadata: metadata)
            }
            // The entry holds the original bytes, which are processed each time they are read.
            guard let processed = try? await options.processor.processed(.image(image), options) else { return nil }
            return CachedImage(content: .image(processed, generation), bytes: bytes, metadata: metadata)
        }
        return await originalImage(wanted, needsMetadata: true).map {
            CachedImage(content: .original($0), bytes: $0.bytes, metadata: $0.metadata)
        }
    }

    /// A cached image as the result of a load: in memory for as long as it is fresh; made first, if there is the
    /// original.
    private func result(
        of cached: CachedImage,
        _ wanted: KeyedSource,
        _ revalidation: RetrieveImageResult.Revalidation? = nil
    ) async throws(KingfisherError) -> LoadResult {
        var result: LoadResult
        switch cached.content {
        case .image(let image, let generation):
            result = LoadResult(image: image, cacheType: .disk)
            if let cache = wanted.options.targetCache {
                var options = wanted.options
                options.limitMemory(of: image, to: cached.metadata, in: cache)
                let key = wanted.query.computedKey
                cache.core.promote(image, forKey: key, options, ifGeneration: generation, replacing: true)
            }
        case .original(var original):
            original.metadata = cached.metadata
            result = try await image(of: original, wanted)
        }
        (result.metadata, result.revalidation) = (cached.metadata, revalidation)
        if case .notModified? = revalidation { result.isConfirmed = true }
        return result
    }

    /// Keeps what a response of 304 said, and the entry for as long as if it had been stored now.
    private func renew(_ cached: CachedImage, _ confirmed: CacheMetadata, _ wanted: KeyedSource) async {
        let options = wanted.options
        let isOriginal = if case .original = cached.content { true } else { false }
        guard let cache = isOriginal ? options.originalCache : options.targetCache else { return }
        let (key, identifier) = (wanted.query.key, isOriginal ? "" : options.processor.identifier)
        for cache in cache.storingCaches {
            // What cannot be kept is asked about again the next time.
            _ = try? await cache.core.updateCacheMetadata(
                confirmed,
                replacing: cached.metadata,
                forKey: key.computedKey(with: identifier),
                options.forcedExtension,
                renewing: true
            )
        }
    }

    /// Asks the server for the next time; the loads that are under way at that time share one request.
    private func revalidateInBackground(_ wanted: KeyedSource) {
        var options = wanted.options
        options.follow(KingfisherParsedOptionsInfo())
        options.refreshCached = true
        options.waitForCache = false
        retrieveImage(with: wanted.source, parsed: options, completionHandler: nil)
    }

    /// Removes what is cached of an image that must not be stored.
    func remove(_ wanted: KeyedSource) {
        let (key, options) = (wanted.query.key, wanted.options)
        let keys = Set([wanted.query.computedKey, key])
        for cache in [options.targetCache, options.originalCache].compactMap(\.self).flatMap(\.storingCaches) {
            for key in keys {
                let work = cache.core.remove(key, options.forcedExtension, memory: true, disk: true)
                Task { await work() }
            }
        }
    }
}

extension KingfisherParsedOptionsInfo {
    /// Whether the server of a source may have to be asked about what is cached.
    func asksServer(about source: Source) -> Bool {
        guard refreshCached || respectCacheControl, !onlyFromCache, !forceRefresh, case .network = source else {
            return false
        }
        return true
    }

    /// Whether one of the caches is declared as shared.
    var isCacheShared: Bool { targetCache?.isShared == true || originalCache?.isShared == true }

    /// Whether a response may be stored.
    ///
    /// - Parameters:
    ///   - metadata: What it says about caching.
    ///   - isPersonal: Whether credentials were sent for it.
    ///   - redirects: The responses that redirected to it; the metadata has only those that say something.
    /// - Returns: Whether it may; one that is stored already may stay.
    func mayStore(
        _ metadata: CacheMetadata?,
        isPersonal: Bool = false,
        redirects: [HTTPURLResponse] = []
    ) -> Bool {
        guard respectCacheControl else { return true }
        if isPersonal, isCacheShared, redirects.contains(where: { !$0.isForEveryone }) { return false }
        guard let metadata else { return !isPersonal || !isCacheShared }
        return metadata.chain.allSatisfy { response in
            let control = CacheControl(response.cacheControl, isShared: isCacheShared)
            return !control.noStore && (!isPersonal || !isCacheShared || control.isForEveryone)
        }
    }

    /// Limits the time in memory to that for which the server need not be asked.
    ///
    /// The instant is fixed, however often the image is used: that is how a later load sees that it is fresh. One that
    /// depends on the request is marked, and stays out of memory if a modifier has changed its request: in memory it is
    /// for requests without modifiers.
    mutating func limitMemory(of image: KFCrossPlatformImage, to metadata: CacheMetadata?, in cache: ImageCache) {
        guard respectCacheControl else { return }
        if metadata?.variesWithRequest == true {
            guard requestModifier == nil else { return memoryCacheExpiration = .expired }
            image.updateMetadata { $0.variesWithRequest = true }
        }
        let usual = memoryCacheExpiration ?? cache.memoryStorage.config.expiration
        let now = Date()
        let freshUntil = metadata?.freshUntil(inShared: isCacheShared) ?? .distantFuture
        let end = min(usual.estimatedExpiration(since: now), freshUntil)
        // The clock of the memory storage is a little behind: what is never fresh would be fresh for a moment.
        memoryCacheExpiration = freshUntil > now ? .date(end) : .expired
    }
}

extension ImageCache {
    /// Whether an image is in memory that may be used without asking its server.
    func hasFreshImage(_ key: String, _ options: KingfisherParsedOptionsInfo, at instant: Date = Date()) -> Bool {
        guard !options.refreshCached else { return false }
        let computedKey = key.computedKey(with: options.processor.identifier)
        // A use may have prolonged the time in memory, but not this date.
        guard let entry = core.memory.store.entry(forKey: computedKey), case .date(let end) = entry.expiration,
            end > instant
        else { return false }
        return options.requestModifier == nil || !entry.value.metadata.variesWithRequest
    }
}

extension CacheMetadata {
    /// Whether bytes that are not fresh at `instant` may be used after a request for them has failed.
    func mayBeUsed(after error: KingfisherError, at instant: Date, inShared isShared: Bool) -> Bool {
        if error.isConnectionFailure { return mayBeUsedWithoutConnection(inShared: isShared) }
        return error.isServerFailure && mayBeUsedAfterServerFailure(at: instant, inShared: isShared)
    }

    /// The fields of a conditional request, if it is for the URL that the bytes came from; where a filter makes the
    /// keys, for one with the same key.
    fileprivate func conditionalFields(
        for source: Source,
        _ options: KingfisherParsedOptionsInfo
    ) -> [String: String] {
        guard let url, let requested = source.url else { return [:] }
        let isSame =
            url == requested
            || source.filteredKey(options).map { $0 == options.cacheKeyFilter?.cacheKey(for: url) } ?? false
        return isSame ? conditionalFields : [:]
    }
}

extension KingfisherError {
    /// The response of 304 to a conditional request.
    fileprivate var notModifiedResponse: HTTPURLResponse? {
        switch self {
        case .responseError(.invalidHTTPStatusCode(let response)) where response.statusCode == 304: response
        case .responseError(.notModified(let response)): response
        default: nil
        }
    }
}
