// What becomes of a cached image whose server may have to be asked about it. A step of a load.
//
// The metadata of responses lie on disk, beside the bytes. Memory has none: a load that asks servers stores there with
// a date of expiry, the end of the freshness, and takes from memory only what has such a date. `Vary` needs the
// request: the metadata has a digest of the fields that it names, and the request that would be sent now is made to
// compare. Memory cannot do that, so an image that varies is marked, and loads with a request modifier look on disk.

import Foundation
import FoundationNetworking
import KFSupport

extension ImageLoad {
    /// What is cached, if it may be used, or if its server confirms it; else what the server sends in its place.
    ///
    /// - Returns: Nil when the cached image is no response to the request that would be sent now.
    func validated(_ cached: CachedImage) async throws(KingfisherError) -> LoadedImage? {
        let options = plan.options
        guard await answersRequest(cached) else { return nil }
        if !options.refreshCached {
            let (now, isShared) = (Date(), options.isCacheShared)
            let freshUntil = options.freshUntil(cached.metadata)
            if freshUntil > now {
                guard isDue(cached, freshUntil, at: now) else { return try await result(of: cached) }
                revalidateInBackground()
                return try await result(of: cached, .inBackground)
            }
            let metadata = options.assumed(cached.metadata)
            if metadata?.mayBeUsedWhileRevalidating(at: now, inShared: isShared) == true {
                revalidateInBackground()
                return try await result(of: cached, .inBackground)
            }
        }
        guard !options.load.isLookupOnly else { return nil }
        let subscribers = task.subscribers.compactMap { $0.isWanted ? $0.showStale : nil }
        if !subscribers.isEmpty {
            var stale = try await result(of: cached)
            stale.data = cached.bytes
            for show in subscribers { await show(stale) }
        }
        return try await madeOnce { () async throws(KingfisherError) in
            try await imageInTier(newerThan: cached.metadata)
        } _: { () async throws(KingfisherError) in
            try await revalidated(cached)
        }
    }

    /// Whether something fresh is made anew already: where several machines share it, so that they do not all begin
    /// when it is no longer fresh.
    private func isDue(_ cached: CachedImage, _ freshUntil: Date, at now: Date) -> Bool {
        guard plan.options.targetCache?.core.tier != nil, let metadata = cached.metadata else { return false }
        return freshUntil.addingTimeInterval(-metadata.earlyBy(chance: .random(in: 0...1))) <= now
    }

    /// Whether the response that is cached is one to the request that would be sent now.
    func answersRequest(_ cached: CachedImage) async -> Bool {
        guard let metadata = cached.metadata, metadata.variesWithRequest, let url = plan.source.url else {
            return true
        }
        let loader = (plan.options.downloader ?? manager.downloader).loader
        guard let request = try? await loader.conditions(for: url, plan.options, timeout: nil).request else {
            return false
        }
        return metadata.answers(request)
    }

    /// Asks the server about a cached image.
    private func revalidated(_ cached: CachedImage) async throws(KingfisherError) -> LoadedImage {
        let options = plan.options
        let fields = cached.metadata?.conditionalFields(for: plan.source, options) ?? [:]
        do throws(KingfisherError) {
            var loaded = try await imageOfBytes(plan.with { $0.load.conditionalFields = fields })
            let isSame = loaded.data == cached.bytes
            loaded.describe { $0.revalidation = isSame ? .notModified : .modified }
            return loaded
        } catch {
            if let response = error.notModifiedResponse {
                return try await result(of: await renewed(cached, by: response), .notModified)
            }
            let metadata = options.assumed(cached.metadata)
            let mayBeUsed = metadata?.mayBeUsed(after: error, at: Date(), inShared: options.isCacheShared)
            let isError = options.refreshCached && options.refreshFailureIsError
            let isRefresh = options.refreshCached && !options.respectCacheControl
            guard !error.isCancelled, !isError, isRefresh || mayBeUsed == true else { throw error }
            return try await result(of: cached, .failed(error))
        }
    }

    /// A cached image with what a response of 304 said, which is kept, too: the entry stays for as long as if it had
    /// been stored now.
    private func renewed(_ cached: CachedImage, by response: HTTPURLResponse) async -> CachedImage {
        guard let metadata = cached.metadata else { return cached }
        var confirmed = cached
        if let newer = task.confirmation {
            confirmed.metadata = metadata.confirmed(by: newer)
        } else {
            // A downloader of the user's has not notified the load: the redirects of this time are not known.
            confirmed.metadata = metadata.confirmed(by: CacheMetadata(response: response))
            confirmed.metadata?.redirects = metadata.redirects
        }
        confirmed.metadata?.generation = plan.generation
        guard plan.options.mayStore(confirmed.metadata) else {
            manager.remove(plan)
            return confirmed
        }
        let options = plan.options
        let cache = cached.isOriginal ? options.cacheForOriginals : options.targetCache
        for cache in cache?.storingCaches ?? [] {
            guard let newest = confirmed.metadata else { continue }
            if let bytes = cached.bytes, let tier = cache.core.tier {
                // Other machines then need not ask either.
                cache.core.put(
                    bytes,
                    in: tier,
                    forKey: cached.isOriginal ? plan.key.source : plan.key.computed,
                    options.forcedExtension,
                    options.diskCacheExpiration,
                    metadata: newest,
                    generation: plan.generation
                )
            }
            // An answer that cannot be kept is asked for again the next time.
            _ = try? await cache.core.updateCacheMetadata(
                newest,
                replacing: metadata,
                forKey: cached.isOriginal ? plan.key.source : plan.key.computed,
                options.forcedExtension,
                renewing: true
            )
        }
        return confirmed
    }

    /// An invalidated image is used once more, and made anew for the next time; at once for a load that wants its
    /// server asked.
    func remade(_ cached: CachedImage) async throws(KingfisherError) -> LoadedImage {
        guard plan.options.refreshCached else {
            revalidateInBackground()
            return try await result(of: cached, .inBackground)
        }
        do throws(KingfisherError) {
            return try await madeOnce(isRemaking: true) { () async throws(KingfisherError) in
                try await imageInTier(newerThan: cached.metadata)
            } _: { () async throws(KingfisherError) in
                try await imageOfBytes(plan)
            }
        } catch {
            guard !error.isCancelled, !plan.options.refreshFailureIsError else { throw error }
            return try await result(of: cached, .failed(error))
        }
    }

    /// Asks the server for the next time; the loads that are under way at that time share one request.
    ///
    /// A load that only looks in the cache starts no request; its result says that the image is stale.
    private func revalidateInBackground() {
        guard !plan.options.load.isLookupOnly, !plan.options.onlyFromCache else { return }
        var options = plan.options
        options.load = plan.options.load.unattended
        options.refreshCached = true
        options.waitForCache = false
        manager.retrieveImage(with: plan.source, parsed: options, completionHandler: nil)
    }
}

extension CacheMetadata {
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
