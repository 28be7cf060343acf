// How long a cached image may be used without asking its server, and what may be stored. For loads and prefetches.

import Foundation
import KFStorage
import KFSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension KingfisherParsedOptionsInfo {
    private enum UnstatedFreshnessKey: OptionKey { typealias Value = TimeInterval }

    /// For how many seconds a response is fresh that does not say it; nil is for as long as the cache keeps it.
    var unstatedFreshness: TimeInterval? {
        get { self[UnstatedFreshnessKey.self] }
        set { self[UnstatedFreshnessKey.self] = newValue }
    }

    /// What a response says about freshness, or is assumed to say.
    func assumed(_ metadata: CacheMetadata?) -> CacheMetadata? {
        guard let unstatedFreshness else { return metadata }
        return metadata?.assuming(unstatedFreshness, inShared: isCacheShared)
    }

    /// Until when what is cached of a source with a server may be used without asking that.
    ///
    /// Nothing is known of an entry that was stored without a limit to what is unstated.
    func freshUntil(_ metadata: CacheMetadata?) -> Date {
        guard let metadata = assumed(metadata) else { return unstatedFreshness == nil ? .distantFuture : .distantPast }
        return metadata.freshUntil(inShared: isCacheShared) ?? .distantFuture
    }

    /// Whether the server of a source may have to be asked about what is cached.
    func asksServer(about source: Source) -> Bool {
        guard refreshCached || respectCacheControl, !onlyFromCache, !forceRefresh, case .network = source else {
            return false
        }
        return true
    }

    /// Whether one of the caches is declared as shared.
    var isCacheShared: Bool { targetCache?.isShared == true || cacheForOriginals?.isShared == true }

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
    /// The end is a fixed date, which using the image does not move: a later load reads from it whether the image is
    /// fresh. An image that depends on the request (`Vary`) is marked, and stays out of memory if a modifier has changed
    /// the request: images in memory are for requests without modifiers.
    mutating func limitMemory(of image: KFCrossPlatformImage, to metadata: CacheMetadata?, in cache: ImageCache) {
        // Who sends files on may look at what is missing, and has nothing of keeping it.
        if encoding != nil, image.isDamaged, !cacheDamagedImages { return memoryCacheExpiration = .expired }
        guard respectCacheControl else { return }
        if metadata?.variesWithRequest == true {
            guard requestModifier == nil else { return memoryCacheExpiration = .expired }
            image.updateMetadata { $0.variesWithRequest = true }
        }
        if encoding != nil { image.updateMetadata { $0.encoded?.response = metadata } }
        let usual = memoryCacheExpiration ?? cache.memoryStorage.config.expiration
        let now = Date()
        // What has no metadata has no server.
        var freshUntil = metadata == nil ? .distantFuture : freshUntil(metadata)
        // With a tier, what is used often is asked for on disk before that: there it may be made anew early.
        if cache.core.tier != nil, let metadata, freshUntil > now {
            freshUntil -= metadata.earlyBy(chance: .random(in: 0...1))
        }
        let end = min(usual.estimatedExpiration(since: now), freshUntil)
        // The clock of the memory storage is a little behind: what is never fresh would be fresh for a moment.
        memoryCacheExpiration = freshUntil > now ? .date(end) : .expired
    }
}

extension ImageCache {
    /// The image in memory, if it may be used without asking its server.
    func findFreshInMemory(_ key: String, _ options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        guard !options.refreshCached else { return nil }
        let computedKey = key.computedKey(options)
        guard isSubclassed || options.requestModifier != nil else {
            return core.findInMemory(computedKey, options, mustBeFresh: true)
        }
        // Looked at first, as it counts as used only if it is.
        guard let entry = core.memory.store.entry(forKey: computedKey), case .date(let end) = entry.expiration,
            end > Date(), options.requestModifier == nil || !entry.value.metadata.variesWithRequest
        else { return nil }
        return findInMemory(key, options)
    }
}

extension CacheMetadata {
    /// Whether bytes that are not fresh at `instant` may be used after a request for them has failed.
    func mayBeUsed(after error: KingfisherError, at instant: Date, inShared isShared: Bool) -> Bool {
        if error.isConnectionFailure { return mayBeUsedWithoutConnection(inShared: isShared) }
        return error.isServerFailure && mayBeUsedAfterServerFailure(at: instant, inShared: isShared)
    }
}

extension KingfisherOptionsInfoItem {
    /// Limits with ``KingfisherParsedOptionsInfo/respectCacheControl`` for how long an image is used whose server does not
    /// say it.
    ///
    /// So many seconds after it has arrived it is asked about: in the background for as long again, and afterwards before
    /// it is used. Without this it is used for as long as the cache keeps it.
    ///
    /// - Parameter seconds: The seconds; 0 asks each time.
    /// - Returns: The option.
    @_spi(Server) public static func unstatedFreshness(_ seconds: Double) -> Self {
        Self { $0.unstatedFreshness = max(0, seconds) }
    }
}
