// The core of a cache: one place where images are found, stored and removed. Used by `ImageCache`, which adds
// completion handlers and lets subclasses override.

import Foundation
import KFStorage
import KFSupport
import KFTransport

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
        /// The cache key of the source, by which purges name it.
        fileprivate(set) var source = ""
        /// Whether the shared tier is asked after the disk.
        var asksTier = true
        /// Whether the disk is left out, and the shared tier asked at once: for what is newer there.
        var skipsDisk = false
        /// Whether it is looked for again because another machine may have made it meanwhile.
        var isAgain = false
        /// When the entry on disk was stored: an older value of the tier is refused.
        var newerThan: Date?
    }

    /// The result of a look-up.
    enum LookupResult: Sendable {
        /// An image that was in memory.
        case memory(KFCrossPlatformImage)
        /// An image that was on disk, its bytes, their cache metadata if it was asked for, and whether it has to be made
        /// anew.
        case disk(KFCrossPlatformImage, bytes: Data, metadata: CacheMetadata?, isInvalidated: Bool = false)
        /// There is none.
        case nothing
        /// The look-up was cancelled or superseded before it was known whether there is one.
        case superseded

        /// The image, if there is one.
        var image: KFCrossPlatformImage? {
            switch self {
            case .memory(let image), .disk(let image, _, _, _): image
            case .nothing, .superseded: nil
            }
        }

        /// Whether it may be put in memory.
        var isValid: Bool { if case .disk(_, _, _, true) = self { false } else { true } }

        /// Where it was found.
        var cacheType: CacheType {
            switch self {
            case .memory: .memory
            case .disk: .disk
            case .nothing, .superseded: .none
            }
        }
    }

    let memory: MemoryStorage.Backend<KFCrossPlatformImage>
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
        self.memory = memory
        self.disk = disk
        purges = PurgeLog(directory: disk.directoryURL, memory: memory)
    }

    deinit { purges.follow(nil) }

    /// The access to the store that other machines use too, if there is one.
    var tier: TierAccess? {
        get { sharedTier.withLock { $0 } }
        set {
            sharedTier.withLock { $0 = newValue }
            purges.follow(newValue)
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
        let image = memory.store.value(
            forKey: computedKey,
            extending: options.memoryCacheAccessExtendingExpiration,
            countingMiss: options.countsMemoryMiss && !mustBeFresh,
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

    /// Keeps with an image that is put in memory when its source was loaded; once something was purged.
    func note(_ image: KFCrossPlatformImage, loadedAt generation: @autoclosure () -> UInt64) {
        guard purges.generation > 0 else { return }
        let generation = generation()
        image.updateMetadata { $0.loadedAt = generation }
    }

    /// Changes when a key is stored or removed, and when something is purged.
    struct Generation: Sendable {
        fileprivate let memory: MemoryGeneration
        fileprivate let purges: UInt64
    }

    /// The key's generation; taken before slow work on an entry.
    func generation(forKey computedKey: String) -> Generation {
        Generation(memory: memory.store.generation(forKey: computedKey), purges: purges.generation)
    }

    /// Puts an image that was made of an entry in memory, unless its key has been stored or removed, or something was
    /// purged, since `generation` was taken.
    ///
    /// An image that is in memory by now stays, unless `replacing` is true: then it is replaced by the one made of it.
    func promote(
        _ image: KFCrossPlatformImage,
        forKey computedKey: String,
        _ options: KingfisherParsedOptionsInfo,
        ifGeneration generation: Generation,
        replacing: Bool = false
    ) {
        guard options.storeCacheLayers.contains(.memory) else { return }
        if options.encoding != nil { hasVariants.withLock { $0 = true } }
        memory.store.store(
            image,
            forKey: computedKey,
            cost: image.cacheCost,
            expiration: options.memoryCacheExpiration,
            ifGeneration: generation.memory,
            replacing: replacing,
            removingIfExpired: options.respectCacheControl
        )
        // Afterwards: a purge forgets what is in memory once it is known.
        if purges.generation != generation.purges { memory.remove(forKey: computedKey) }
    }

    // MARK: All entries

    /// The bytes of all files.
    func size() async -> Result<UInt, KingfisherError> {
        await operations.ticketForAll(holdingBack: false).run { [self] in
            await onDisk { disk throws(KingfisherError) in try disk.totalSize() }
        }
    }

    /// Takes a ticket in the queue, and returns the work that removes all files; a failure leaves files behind.
    func clearDisk() -> @Sendable () async -> Void {
        let ticket = operations.ticketForAll(holdingBack: true)
        return { [self] in
            _ = await ticket.run { await onDisk { disk throws(KingfisherError) in try disk.removeAll() } }
        }
    }

    /// Removes the files that have expired, then those above the size limit, and returns their URLs; files that cannot
    /// be removed are left to the next cleaning.
    func cleanDisk() async -> [URL] {
        await operations.ticketForAll(holdingBack: false).run { [self] in
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
    ///   - source: The key without the identifier of the processor.
    ///   - options: How to decode, how to extend lifetimes, and whether the look-up has been superseded.
    ///   - lookup: Where to look.
    /// - Returns: The image, and where it was.
    /// - Throws: ``KingfisherError``, a cache error, when there is an entry that cannot be read.
    func find(
        _ source: String,
        _ options: KingfisherParsedOptionsInfo,
        _ lookup: Lookup
    ) async throws(KingfisherError) -> LookupResult {
        let key = source.computedKey(options)
        var lookup = lookup
        lookup.source = source
        if lookup.layers.contains(.memory), let image = findInMemory(key, options) { return .memory(image) }
        guard lookup.layers.contains(.disk) else { return .nothing }
        // Taken before the disk is read: an entry removed or replaced in the meantime must not come back.
        let generation = generation(forKey: key)
        guard options.loadDiskFileSynchronously else {
            // The ticket is held until the image is in memory: of several loads that look for it, one reads and decodes.
            let ticket = operations.ticket(forKey: key)
            // Files that are sent are not decoded: they need not wait for pixels.
            let threads = options.processor is EncodedProcessor ? WorkExecutor.io : .cpu
            if threads === WorkExecutor.cpu { await threads.switchToThread() }
            return try await ticket.run { [self, lookup] in
                let found = await threads.run { [self] in
                    Result { () throws(KingfisherError) in try findInOrder(key, options, lookup, generation) }
                }
                guard case .success(.nothing) = found, lookup.asksTier else { return found }
                return await findInTier(key, options, lookup, generation, by: threads)
            }.get()
        }
        // A caller that reads on its own thread waits for no operation, and may read an entry that is about to be
        // replaced or removed.
        let isBusy = operations.isBusy(key)
        let found = try entryOnDisk(key, options, lookup)
        if lookup.promotes, !isBusy, found.isValid, let image = found.image {
            promote(image, forKey: key, options, ifGeneration: generation)
        }
        return found
    }

    /// Looks on disk once the operations on the key that came before are over: all of it on one thread, as going to
    /// another one takes longer than reading an entry that the system has in memory.
    private func findInOrder(
        _ key: String,
        _ options: KingfisherParsedOptionsInfo,
        _ lookup: Lookup,
        _ generation: Generation
    ) throws(KingfisherError) -> LookupResult {
        // The miss in memory has been counted already; the previous operation may have put the image there since.
        if lookup.promotes, options.queryCacheLayers.contains(.memory), let image = lookInMemoryAgain(key),
            !hasPurgedTag(image, options)
        {
            return .memory(image)
        }
        if lookup.skipsDisk { return .nothing }
        let found = try entryOnDisk(key, options, lookup)
        if lookup.promotes, found.isValid, let image = found.image {
            promote(image, forKey: key, options, ifGeneration: generation)
        }
        return found
    }

    /// The image, if it was put in memory after a miss there; the look-up is not counted and extends no expiry.
    func lookInMemoryAgain(_ computedKey: String) -> KFCrossPlatformImage? {
        guard memory.isCached(forKey: computedKey) else { return nil }
        return memory.store.entry(forKey: computedKey)?.value
    }

    /// Reads and decodes an entry; one that cannot be decoded is removed, the expiry of others is extended.
    ///
    /// Between the steps the load's observer is asked whether the load has been superseded.
    private func entryOnDisk(
        _ key: String,
        _ options: KingfisherParsedOptionsInfo,
        _ lookup: Lookup
    ) throws(KingfisherError) -> LookupResult {
        let isWanted = { options.observer?.isWanted ?? true }
        // The look-up may have waited for other operations.
        guard isWanted() else { return .superseded }
        let found = try recorder.measuring(.reading) { () throws(KingfisherError) in
            try disk.entry(forKey: key, forcedExtension: options.forcedExtension)
        }
        guard let entry = found else { return .nothing }
        let state = state(lookup, options, CacheMetadata.generation(ofStamped:), entry.userMetadata)
        guard state != .gone else {
            disk.discard(entry)
            return .nothing
        }
        guard isWanted() else { return .superseded }
        let image =
            (lookup.wantsMetadata ? knownImage(of: entry, key, options) : nil)
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
        let metadata = lookup.wantsMetadata ? entry.userMetadata.flatMap { CacheMetadata(encoded: $0) } : nil
        return .disk(ready, bytes: entry.data, metadata: metadata, isInvalidated: state == .stale)
    }

    /// Whether an entry was purged after it had been loaded; its generation is read only if something was.
    func state<Stamp>(
        _ lookup: Lookup,
        _ options: KingfisherParsedOptionsInfo,
        _ generation: (Stamp) -> UInt64,
        _ stamp: Stamp
    ) -> PurgeState {
        purges.loadIfNeeded()
        guard purges.generation > 0 else { return .valid }
        return purges.state(of: lookup.source, tags: options.cacheTags, loadedAt: generation(stamp))
    }

    /// The image in memory, if it was made of these very bytes: an entry that is looked at for its metadata need not be
    /// decoded again then.
    private func knownImage(
        of entry: FileStore.Entry,
        _ key: String,
        _ options: KingfisherParsedOptionsInfo
    ) -> KFCrossPlatformImage? {
        guard let known = memory.store.entry(forKey: key)?.value, known.isDecoded(from: entry.data),
            known.scale == options.scaleFactor, known.satisfies(options)
        else { return nil }
        return known
    }

    /// Where an image is; the disk is looked at after the operations on the key that came before.
    func cachedType(_ computedKey: String, _ forcedExtension: String?) async -> CacheType {
        if memory.isCached(forKey: computedKey) { return .memory }
        let isOnDisk = await operations.ticket(forKey: computedKey).run { [self] in
            await onDisk { disk throws(KingfisherError) in
                disk.isCached(forKey: computedKey, forcedExtension: forcedExtension)
            }
        }
        return (try? isOnDisk.get()) == true ? .disk : .none
    }
}
