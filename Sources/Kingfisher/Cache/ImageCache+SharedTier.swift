// How a cache uses a store that several machines share. For users, and for CacheCore.

import Foundation
import KFStorage
import KFSupport

extension ImageCache {
    /// A store that other machines use too, such as Redis or S3; nil at first. (Not in Kingfisher.)
    ///
    /// What is neither in memory nor on disk is looked for there, and goes to disk and memory as a download does; what
    /// is written to disk is put there in the background, with the caching metadata of its response, and what is
    /// removed by its key is removed there (its encoded results are not; and while the tier fails, nothing is:
    /// ``purge(_:mode:)`` says so then). If the tier has leases, an image that several machines want at one time is
    /// downloaded and made by one of them.
    ///
    /// It is never in the way: a call that fails or takes longer than ``SharedTier/readTimeout(forKey:)`` (a quarter of
    /// a second unless the tier says otherwise) is a miss. After one the tier is left alone for 250 ms, and after five
    /// in a row for five seconds. What waits to be stored is limited to 512 values and 32 MB; more is dropped.
    /// See ``sharedTierStatistics``, and ``setSharedTier(_:onChange:)`` for a log.
    ///
    /// A cache with a tier is shared (``isShared``). Clearing or cleaning a cache, and look-ups that do not wait
    /// (``KingfisherParsedOptionsInfo/loadDiskFileSynchronously``, memory, probes) leave the tier alone. Of a group,
    /// the caches may have tiers.
    public final var sharedTier: (any SharedTier)? {
        get { core.tier?.tier }
        set { setSharedTier(newValue) }
    }

    /// Sets ``sharedTier``. (Not in Kingfisher.)
    ///
    /// - Parameters:
    ///   - tier: The tier; nil for none.
    ///   - onChange: Called when the tier is no longer used because it failed, and when it is again; on any thread.
    public final func setSharedTier(
        _ tier: (any SharedTier)?,
        onChange: (@Sendable (SharedTierChange) -> Void)? = nil
    ) {
        core.tier = tier.map { TierAccess($0, onChange: onChange) }
    }

    /// What became of the calls to ``sharedTier`` since it was set; nil without one. (Not in Kingfisher.)
    public final var sharedTierStatistics: SharedTierStatistics? { core.tier?.statistics }

    /// Waits until what has been stored or removed so far has reached ``sharedTier``, or failed to. (Not in
    /// Kingfisher.)
    ///
    /// Images whose storing is still under way are not waited for.
    public final func sharedTierWritesFinished() async { await core.tier?.writes.finishedAll() }
}

extension CacheCore {
    /// Looks in the tier for an entry that is not on disk; one that is there is written to disk and decoded.
    ///
    /// For an operation that has its turn in the order of those on the key.
    func findInTier(
        _ key: EntryKey,
        _ options: KingfisherParsedOptionsInfo,
        _ lookup: Lookup,
        _ version: Version,
        by threads: WorkExecutor
    ) async -> Result<LookupResult, KingfisherError> {
        guard let tier else { return .success(.nothing) }
        let tierKey = TierKey(forKey: key.computed, options.forcedExtension)
        guard let value = await tier.value(for: tierKey, isAgain: lookup.isAgain) else { return .success(.nothing) }
        return await threads.run { [self] in
            .success(entry(of: value, tierKey, key, options, lookup, version))
        }
    }

    private func entry(
        of value: TierValue,
        _ tierKey: TierKey,
        _ key: EntryKey,
        _ options: KingfisherParsedOptionsInfo,
        _ lookup: Lookup,
        _ version: Version
    ) -> LookupResult {
        guard options.load.observer?.isWanted ?? true else { return .superseded }
        let state = state(of: key.source, options, \.generation, value)
        let isOld = lookup.newerThan.map { value.metadata?.storedAt ?? .distantPast <= $0 } ?? false
        guard state == .valid || state == .stale && !lookup.isAgain, !isOld else { return .nothing }
        let decoded = recorder.measuring(.decoding) {
            options.cacheSerializer.image(with: value.bytes, options: options)
        }
        guard let decoded else {
            tier?.remove(tierKey)
            return .nothing
        }
        keepOnDisk(value, forKey: key.computed, options)
        let image = options.backgroundDecode ? decoded.kf.decoded(scale: options.scaleFactor) : decoded
        note(image, loadedAt: value.generation)
        var cached = CachedImage(image, from: .disk)
        (cached.bytes, cached.isInvalidated) = (value.bytes, state == .stale)
        if lookup.wantsMetadata { cached.metadata = value.metadata }
        cached.metadata?.generation = value.generation
        return promoted(.found(cached), forKey: key, options, lookup, version)
    }

    /// Writes an entry of the tier to disk, for as long as it has left; a disk that cannot be written only costs asking
    /// the tier again.
    private func keepOnDisk(_ value: TierValue, forKey key: String, _ options: KingfisherParsedOptionsInfo) {
        guard options.storeCacheLayers.contains(.disk) else { return }
        let now = Date()
        let own = options.diskCacheExpiration ?? disk.config.expiration
        let isEarlier = value.expires < own.estimatedExpiration(since: now)
        try? recorder.measuring(.writing) { () throws(KingfisherError) in
            try disk.write(
                value.bytes,
                forKey: key,
                isEarlier ? .seconds(value.expires.timeIntervalSince(now)) : own,
                options.diskStoreWriteOptions,
                options.forcedExtension,
                userMetadata: CacheMetadata.stamped(value.metadata, value.generation)
            )
        }
    }

    /// Puts an entry into the tier.
    func put(
        _ bytes: Data,
        in tier: TierAccess,
        forKey key: String,
        _ forcedExtension: String?,
        _ expiration: StorageExpiration?,
        metadata: CacheMetadata?,
        generation: UInt64
    ) {
        let now = Date()
        let expires = (expiration ?? disk.config.expiration).estimatedExpiration(since: now)
        let value = TierValue(
            bytes: bytes,
            metadata: metadata,
            madeAt: now,
            expires: expires,
            generation: generation
        )
        tier.put(value, for: TierKey(forKey: key, forcedExtension))
    }
}
