// The core of a cache: one place where images are found, stored and removed. Used by `ImageCache`, which adds
// completion handlers and lets subclasses override.

import Foundation
import KFStorage
import KFSupport
import KFTransport

/// An image that was found in a cache: the processed one, or its original.
struct CachedImage: Sendable {
    var image: KFCrossPlatformImage
    /// Where it was found.
    let cacheType: CacheType
    /// Whether it is the original image, which has yet to be processed.
    var isOriginal = false
    /// Whether its metadata decide whether it may be used.
    var isWithMetadata = false
    /// The bytes of its entry, and what their response said about caching if that was asked for; nil in memory.
    var bytes: Data?
    var metadata: CacheMetadata?
    /// The version of its key before it was read, if it has yet to be put in memory: what is stored or removed in
    /// the meantime must not be undone.
    var version: CacheCore.Version?
    /// Whether it was invalidated, and is used until it has been made anew.
    var isInvalidated = false

    init(_ image: KFCrossPlatformImage, from cacheType: CacheType, isOriginal: Bool = false) {
        (self.image, self.cacheType, self.isOriginal) = (image, cacheType, isOriginal)
    }
}

/// The storages of an ``ImageCache``, and the order of operations on one entry.
///
/// A ticket in the queue is taken before anything is awaited: operations on one entry take effect in the order of the
/// calls.
final class CacheCore: Sendable {
    /// Where an entry is looked for, and what for.
    struct Lookup: Sendable {
        var layers: CacheLayers
        /// Whether an image found on disk is put in memory.
        var promotes = true
        /// Whether the cache metadata of the entry is to be read as well.
        var wantsMetadata = false
        /// Whether the shared tier is asked after the disk.
        var asksTier = true
        /// Whether the disk is left out, and the shared tier asked at once: for a newer entry there.
        var skipsDisk = false
        /// Whether it is looked for again because another machine may have made it meanwhile.
        var isAgain = false
        /// When the entry on disk was stored: an older value of the tier is refused.
        var newerThan: Date?
        /// How its original is looked for where there is no image; nil if it is not.
        var original: OriginalLookup?
    }

    /// Where the original of an image is looked for.
    struct OriginalLookup: Sendable {
        let layers: CacheLayers
        let asksTier: Bool
    }

    /// The result of a look-up.
    enum LookupResult: Sendable {
        case found(CachedImage)
        /// There is no image.
        case nothing
        /// The look-up was cancelled or superseded before it was known whether there is an image.
        case superseded

        /// The image, if there is one.
        var image: KFCrossPlatformImage? { if case .found(let cached) = self { cached.image } else { nil } }
    }

    let memory: MemoryStorage.Backend<KFCrossPlatformImage>
    /// The store of the memory storage.
    let images: MemoryStore<KFCrossPlatformImage>
    let disk: DiskStorage.Backend<Data>
    let operations = KeyedSerialQueue()
    let recorder = CacheRecorder()
    /// Whether several people use the cache.
    let isShared = Locked(false)
    /// Whether memory may hold encoded variants of images, which are removed with them.
    let hasVariants = Locked(false)
    private let sharedTier = Locked<TierAccess?>(nil)
    /// Which entries are no longer valid.
    let purges: PurgeLog

    init(memory: MemoryStorage.Backend<KFCrossPlatformImage>, disk: DiskStorage.Backend<Data>) {
        (self.memory, self.disk, images) = (memory, disk, memory.store)
        purges = PurgeLog(directory: disk.directoryURL, memory: memory)
    }

    deinit { purges.watch(nil) }

    /// The access to the store that other machines use too, if there is one.
    var tier: TierAccess? {
        get { sharedTier.withLock { $0 } }
        set {
            sharedTier.withLock { $0 = newValue }
            purges.watch(newValue)
        }
    }

    /// Uses the disk storage on a thread that may be blocked.
    func onDisk<Value: Sendable>(
        by executor: WorkExecutor = .io,
        _ body: @escaping @Sendable (DiskStorage.Backend<Data>) throws(KingfisherError) -> Value
    ) async -> Result<Value, KingfisherError> {
        await executor.run { [disk] in await Result { () async throws(KingfisherError) in try body(disk) } }
    }

    // MARK: Memory

    /// The image that is in memory, if there is one; does not wait for anything.
    func findInMemory(
        _ computedKey: String,
        _ options: KingfisherParsedOptionsInfo,
        mustBeFresh: Bool = false
    ) -> KFCrossPlatformImage? {
        let image = images.value(
            forKey: computedKey,
            extending: options.memoryCacheAccessExtendingExpiration,
            countingMiss: options.load.countsMemoryMiss && !mustBeFresh,
            mustBeFresh: mustBeFresh
        )
        return image.flatMap { hasPurgedTag($0, options) ? nil : $0 }
    }

    /// Whether an image in memory, which a load with other tags may have put there, was purged by a tag of this load.
    ///
    /// Memory forgets all when a tag is purged; but what is on disk may come back for those who have other tags.
    private func hasPurgedTag(_ image: KFCrossPlatformImage, _ options: KingfisherParsedOptionsInfo) -> Bool {
        let tags = options.cacheTags
        guard !tags.isEmpty, let loadedAt = image.metadata.loadedAt else { return false }
        return purges.state(of: "", tags: tags, loadedAt: loadedAt) != .valid
    }

    /// Changes when a key is stored or removed, and when something is purged.
    struct Version: Sendable {
        let memory: MemoryVersion
        let purges: UInt64
    }

    /// The key's version; taken before slow work on an entry.
    func version(forKey computedKey: String) -> Version {
        Version(memory: images.version(forKey: computedKey), purges: purges.generation)
    }

    // MARK: All entries

    /// The bytes of all files.
    func size() async -> Result<UInt, KingfisherError> {
        await operations.ticketForAll(isBarrier: false).run { [self] in
            await onDisk { disk throws(KingfisherError) in try disk.totalSize() }
        }
    }

    /// Takes a ticket in the queue, and returns the work that removes all files; a failure leaves files behind.
    func clearDisk() -> @Sendable () async -> Void {
        let ticket = operations.ticketForAll(isBarrier: true)
        return { [self] in
            _ = await ticket.run { await onDisk { disk throws(KingfisherError) in try disk.removeAll() } }
        }
    }

    /// Removes the files that have expired, then those above the size limit, and returns their URLs; files that cannot
    /// be removed are left to the next cleaning.
    func cleanDisk() async -> [URL] {
        await operations.ticketForAll(isBarrier: false).run { [self] in
            let expired = await onDisk { disk throws(KingfisherError) in try disk.removeExpiredValues() }
            let excess = await onDisk { disk throws(KingfisherError) in try disk.removeSizeExceededValues() }
            return ((try? expired.get()) ?? []) + ((try? excess.get()) ?? [])
        }
    }
}

extension CacheCore {
    /// Looks in memory, then on disk.
    ///
    /// An image in memory is found before this first suspends, one on disk too if the options ask for that. An entry
    /// that cannot be decoded is removed, and is a miss.
    /// - Parameters:
    ///   - key: The keys of the image.
    ///   - options: How to decode, how to extend lifetimes, and whether the look-up has been superseded.
    ///   - lookup: Where to look.
    /// - Returns: The image, and where it was.
    /// - Throws: ``KingfisherError``, a cache error, when there is an entry that cannot be read.
    func find(
        _ key: EntryKey,
        _ options: KingfisherParsedOptionsInfo,
        _ lookup: Lookup
    ) async throws(KingfisherError) -> LookupResult {
        if lookup.layers.contains(.memory), let image = findInMemory(key.computed, options) {
            return .found(CachedImage(image, from: .memory))
        }
        guard lookup.layers.contains(.disk) else { return .nothing }
        // Taken before the disk is read: an entry removed or replaced in the meantime must not come back.
        let version = version(forKey: key.computed)
        guard options.loadDiskFileSynchronously else {
            // The ticket is held until the image is in memory: of several loads that look for it, one reads and
            // decodes.
            let ticket = operations.ticket(forKey: key.computed)
            // Files that are sent are not decoded: they need not wait for pixels.
            let threads = options.processor is EncodedProcessor ? WorkExecutor.io : .cpu
            if threads === WorkExecutor.cpu { await threads.switchToThread() }
            return try await ticket.run { [self] in
                let found = await threads.run { [self] in
                    Result { () throws(KingfisherError) in try findInOrder(key, options, lookup, version) }
                }
                guard case .success(.nothing) = found, lookup.asksTier, tier != nil else { return found }
                return await findInTier(key, options, lookup, version, by: threads)
            }.get()
        }
        // A caller that reads on its own thread waits for no operation, and may read an entry that is about to be
        // replaced or removed.
        let isBusy = operations.isBusy(key.computed)
        let found = try entryOnDisk(key, options, lookup)
        return isBusy ? found : promoted(found, forKey: key, options, lookup, version)
    }

    /// Looks on disk once the operations on the key that came before are over: all of it on one thread, as going to
    /// another one takes longer than reading an entry that the system has in memory.
    private func findInOrder(
        _ key: EntryKey,
        _ options: KingfisherParsedOptionsInfo,
        _ lookup: Lookup,
        _ version: Version
    ) throws(KingfisherError) -> LookupResult {
        // The miss in memory has been counted already; the previous operation may have put the image there since.
        if lookup.promotes, options.queryCacheLayers.contains(.memory), let image = lookInMemoryAgain(key.computed),
            !hasPurgedTag(image, options)
        {
            return .found(CachedImage(image, from: .memory))
        }
        if lookup.skipsDisk { return .nothing }
        return promoted(try entryOnDisk(key, options, lookup), forKey: key, options, lookup, version)
    }

    /// What was found, put in memory if the look-up says so; else with the version, for who does that later.
    func promoted(
        _ found: LookupResult,
        forKey key: EntryKey,
        _ options: KingfisherParsedOptionsInfo,
        _ lookup: Lookup,
        _ version: Version
    ) -> LookupResult {
        guard case .found(var cached) = found, !cached.isInvalidated else { return found }
        if lookup.promotes {
            promote(cached.image, forKey: key.computed, options, ifVersion: version)
        } else {
            cached.version = version
        }
        return .found(cached)
    }

    /// The image, if it was put in memory after a miss there; the look-up is not counted and extends no expiry.
    func lookInMemoryAgain(_ computedKey: String) -> KFCrossPlatformImage? {
        guard images.isCached(forKey: computedKey) else { return nil }
        return images.entry(forKey: computedKey)?.value
    }

    /// Reads and decodes an entry; one that cannot be decoded is removed, the expiry of others is extended.
    ///
    /// Between the steps the load's observer is asked whether the load has been superseded.
    private func entryOnDisk(
        _ key: EntryKey,
        _ options: KingfisherParsedOptionsInfo,
        _ lookup: Lookup
    ) throws(KingfisherError) -> LookupResult {
        let isWanted = { options.load.observer?.isWanted ?? true }
        // The look-up may have waited for other operations.
        guard isWanted() else { return .superseded }
        let found = try recorder.measuring(.reading) { () throws(KingfisherError) in
            try disk.entry(forKey: key.computed, forcedExtension: options.forcedExtension)
        }
        guard let entry = found else { return .nothing }
        let state = state(of: key.source, options, CacheMetadata.generation(ofStamped:), entry.userMetadata)
        guard state != .deleted else {
            disk.discard(entry)
            return .nothing
        }
        guard isWanted() else { return .superseded }
        let image =
            (lookup.wantsMetadata ? knownImage(of: entry, key.computed, options) : nil)
            ?? recorder.measuring(.decoding) { options.cacheSerializer.image(with: entry.data, options: options) }
        guard let image else {
            disk.discard(entry)
            return .nothing
        }
        guard isWanted() else { return .superseded }
        disk.touch(entry, extending: options.diskCacheAccessExtendingExpiration)
        // The pixels are decoded already; the option only makes its scale win over the serializer's.
        let ready = options.backgroundDecode ? image.kf.decoded(scale: options.scaleFactor) : image
        note(ready, loadedAt: CacheMetadata.generation(ofStamped: entry.userMetadata))
        var cached = CachedImage(ready, from: .disk)
        (cached.bytes, cached.isInvalidated) = (entry.data, state == .stale)
        if lookup.wantsMetadata { cached.metadata = entry.userMetadata.flatMap { CacheMetadata(encoded: $0) } }
        return .found(cached)
    }

    /// Whether an entry was purged after it had been loaded; its generation is read only if something was.
    func state<Stamp>(
        of source: String,
        _ options: KingfisherParsedOptionsInfo,
        _ generation: (Stamp) -> UInt64,
        _ stamp: Stamp
    ) -> PurgeState {
        purges.loadIfNeeded()
        guard purges.generation > 0 else { return .valid }
        return purges.state(of: source, tags: options.cacheTags, loadedAt: generation(stamp))
    }

    /// The image in memory, if it was made of these very bytes: an entry that is looked at for its metadata need not be
    /// decoded again then.
    private func knownImage(
        of entry: FileStore.Entry,
        _ key: String,
        _ options: KingfisherParsedOptionsInfo
    ) -> KFCrossPlatformImage? {
        guard let known = images.entry(forKey: key)?.value, known.isDecoded(from: entry.data),
            known.scale == options.scaleFactor, known.satisfies(options)
        else { return nil }
        return known
    }

    /// Where an image is; the disk is looked at after the operations on the key that came before.
    func cachedType(_ computedKey: String, _ forcedExtension: String?) async -> CacheType {
        if images.isCached(forKey: computedKey) { return .memory }
        let isOnDisk = await operations.ticket(forKey: computedKey).run { [self] in
            await onDisk { disk throws(KingfisherError) in
                disk.isCached(forKey: computedKey, forcedExtension: forcedExtension)
            }
        }
        return (try? isOnDisk.get()) == true ? .disk : .none
    }
}
