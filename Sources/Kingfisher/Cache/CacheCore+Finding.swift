// How the core finds images: in memory at once, then on disk; an entry that cannot be decoded is removed.

import Foundation
import KFStorage
import KFSupport
import KFTransport

extension CacheCore {
    /// Looks in memory, then on disk.
    ///
    /// An image in memory is found before this first suspends, one on disk too if the options ask for that. An entry
    /// that cannot be decoded is removed, and is a miss.
    /// - Parameters:
    ///   - key: The key with the identifier of the processor.
    ///   - options: How to decode, how to extend lifetimes, and whether the look-up has been superseded.
    ///   - lookup: Where to look.
    /// - Returns: The image, and where it was.
    /// - Throws: ``KingfisherError``, a cache error, when there is an entry that cannot be read.
    func find(
        _ key: String,
        _ options: KingfisherParsedOptionsInfo,
        _ lookup: Lookup
    ) async throws(KingfisherError) -> LookupResult {
        if lookup.layers.contains(.memory), let image = findInMemory(key, options) { return .memory(image) }
        guard lookup.layers.contains(.disk) else { return .nothing }
        // Taken before the disk is read: an entry removed or replaced in the meantime must not come back.
        let generation = generation(forKey: key)
        guard options.loadDiskFileSynchronously else {
            // The ticket is held until the image is in memory: of several loads that look for it, one reads and decodes.
            return try await operations.ticket(forKey: key).run { [self] in
                await WorkExecutor.cpu.run { [self] in
                    Result { () throws(KingfisherError) in try findInOrder(key, options, lookup, generation) }
                }
            }.get()
        }
        // A caller that reads on its own thread waits for no operation, and may read an entry that is about to be
        // replaced or removed.
        let isBusy = operations.isBusy(key)
        let found = try entryOnDisk(key, options, lookup)
        if lookup.promotes, !isBusy, let image = found.image {
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
        _ generation: MemoryGeneration
    ) throws(KingfisherError) -> LookupResult {
        // The miss in memory has been counted already; the previous operation may have put the image there since.
        if lookup.promotes, options.queryCacheLayers.contains(.memory), let image = lookInMemoryAgain(key) {
            return .memory(image)
        }
        let found = try entryOnDisk(key, options, lookup)
        if lookup.promotes, let image = found.image { promote(image, forKey: key, options, ifGeneration: generation) }
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
        let metadata = lookup.wantsMetadata ? entry.userMetadata.flatMap { CacheMetadata(encoded: $0) } : nil
        return .disk(ready, bytes: entry.data, metadata: metadata)
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
