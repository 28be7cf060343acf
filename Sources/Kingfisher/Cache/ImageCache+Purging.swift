// Purging: what was made of sources that have changed is made anew, on all machines that share a tier. For users.

import KFStorage

extension ImageCache {
    /// Purges what was made of sources, without looking for it. (Not in Kingfisher.)
    ///
    /// A purge is a note that what was loaded before it, and is about its scope, is no longer valid; it takes the same
    /// time however many images that are, on disk and in ``sharedTier``. Other machines with the same tier know of it
    /// within a second; other processes with the same folder and no tier know of it when they start. It stays known
    /// when the process ends. Loads that are under way return what they have loaded, and store it as purged.
    ///
    /// - Parameters:
    ///   - scope: Which images.
    ///   - mode: Whether they are still used until they have been made anew.
    /// - Throws: ``SharedTierError`` if there is a tier and it cannot be asked: purge again then. Where a tier has no
    ///   leases, of two purges at the same time one may be lost.
    public final func purge(_ scope: PurgeScope, mode: PurgeMode = .invalidate) async throws(SharedTierError) {
        if let group = self as? ImageCacheGroup {
            for cache in group.caches { try await cache.purge(scope, mode: mode) }
            return
        }
        try await core.purges.purge(scope, mode, core.tier)
    }

    /// Has all that was made of a source used until it has been loaded and made anew. (Not in Kingfisher.)
    ///
    /// - Parameter source: The source.
    /// - Throws: ``SharedTierError``, see ``purge(_:mode:)``.
    public final func invalidate(source: Source) async throws(SharedTierError) {
        try await purge(.source(key: source.cacheKey))
    }

    /// Has all that is asked for with a tag used until it has been loaded and made anew. (Not in Kingfisher.)
    ///
    /// - Parameter tag: One of the ``KingfisherParsedOptionsInfo/cacheTags`` of loads.
    /// - Throws: ``SharedTierError``, see ``purge(_:mode:)``.
    public final func invalidate(tag: String) async throws(SharedTierError) { try await purge(.tag(tag)) }
}
