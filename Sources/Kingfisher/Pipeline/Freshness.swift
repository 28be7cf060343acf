// How long a cached image may be used without asking its server. For loads.

import Foundation
import KFStorage
import KFSupport

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

    /// Until when the cached image of a source with a server may be used without asking the server.
    ///
    /// Nothing is known of an entry that was stored without a limit for unstated freshness.
    func freshUntil(_ metadata: CacheMetadata?) -> Date {
        guard let metadata = assumed(metadata) else { return unstatedFreshness == nil ? .distantFuture : .distantPast }
        return metadata.freshUntil(inShared: isCacheShared) ?? .distantFuture
    }

    /// Whether one of the caches is declared as shared.
    var isCacheShared: Bool { targetCache?.isShared == true || cacheForOriginals?.isShared == true }
}

extension ImageCache {
    /// The image in memory, if it may be used without asking its server.
    func findFreshInMemory(_ key: EntryKey, _ options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        guard !options.refreshCached else { return nil }
        guard isSubclassed || options.requestModifier != nil else {
            return core.findInMemory(key.computed, options, mustBeFresh: true)
        }
        // Looked at first, as it counts as used only if it is.
        guard let entry = core.images.entry(forKey: key.computed), case .date(let end) = entry.expiration,
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
    /// Limits with ``KingfisherParsedOptionsInfo/respectCacheControl`` for how long an image is used whose server does
    /// not say it.
    ///
    /// So many seconds after it has arrived it is asked about: in the background for as long again, and afterwards
    /// before it is used. Without this it is used for as long as the cache keeps it.
    ///
    /// - Parameter seconds: The seconds; 0 asks each time.
    /// - Returns: The option.
    @_spi(Server) public static func unstatedFreshness(_ seconds: Double) -> Self {
        Self { $0.unstatedFreshness = max(0, seconds) }
    }
}
