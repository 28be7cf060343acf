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
    }

    /// The result of a look-up.
    enum LookupResult: Sendable {
        /// An image that was in memory.
        case memory(KFCrossPlatformImage)
        /// An image that was on disk, its bytes, and their cache metadata if it was asked for.
        case disk(KFCrossPlatformImage, bytes: Data, metadata: CacheMetadata?)
        /// There is none.
        case nothing
        /// The look-up was cancelled or superseded before it was known whether there is one.
        case superseded

        /// The image, if there is one.
        var image: KFCrossPlatformImage? {
            switch self {
            case .memory(let image), .disk(let image, _, _): image
            case .nothing, .superseded: nil
            }
        }

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

    init(memory: MemoryStorage.Backend<KFCrossPlatformImage>, disk: DiskStorage.Backend<Data>) {
        self.memory = memory
        self.disk = disk
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
        memory.store.value(
            forKey: computedKey,
            extending: options.memoryCacheAccessExtendingExpiration,
            countingMiss: options.countsMemoryMiss && !mustBeFresh,
            mustBeFresh: mustBeFresh
        )
    }

    /// The key's generation, which changes when the key is stored or removed; taken before slow work on an entry.
    func generation(forKey computedKey: String) -> MemoryGeneration { memory.store.generation(forKey: computedKey) }

    /// Puts an image that was made of an entry in memory, unless its key has been stored or removed since `generation`
    /// was taken.
    ///
    /// An image that is in memory by now stays, unless `replacing` is true: then it is replaced by the one made of it.
    func promote(
        _ image: KFCrossPlatformImage,
        forKey computedKey: String,
        _ options: KingfisherParsedOptionsInfo,
        ifGeneration generation: MemoryGeneration,
        replacing: Bool = false
    ) {
        guard options.storeCacheLayers.contains(.memory) else { return }
        memory.store.store(
            image,
            forKey: computedKey,
            cost: image.cacheCost,
            expiration: options.memoryCacheExpiration,
            ifGeneration: generation,
            replacing: replacing,
            removingIfExpired: options.respectCacheControl
        )
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
