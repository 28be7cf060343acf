// How the core finds images: in memory at once, then on disk; an entry that cannot be decoded is removed.

import Foundation
import KFStorage
import KFSupport
import KFTransport

extension CacheCore {
    /// Looks in the layers of the query, in their order.
    ///
    /// An image in memory is found before this first suspends, one on disk too if the options ask for that. An entry
    /// that cannot be decoded is removed, and is a miss.
    /// - Throws: ``KingfisherError``, a cache error, when there is an entry that cannot be read.
    func find(_ query: Query) async throws(KingfisherError) -> LookupResult {
        let key = query.computedKey
        if query.layers.contains(.memory), let image = findInMemory(key, query.options) { return .memory(image) }
        guard query.layers.contains(.disk) else { return .nothing }
        // Taken before the disk is read: an entry removed or replaced in the meantime must not come back.
        let generation = generation(forKey: key)
        guard query.options.loadDiskFileSynchronously else {
            return try await operations.ticket(forKey: key).run { [self] in await findInOrder(query, generation) }.get()
        }
        // A caller that reads on its own thread waits for no operation, and may read an entry that is about to be
        // replaced or removed.
        let isBusy = operations.isBusy(key)
        let found = try await findOnDisk(query)
        if query.promotes, !isBusy, let image = found.image {
            promote(image, forKey: key, query.options, ifGeneration: generation)
        }
        return found
    }

    /// Looks on disk once the operations on the key that came before are over.
    ///
    /// The ticket is held until the image is in memory: of several callers that request it, one reads and decodes.
    private func findInOrder(_ query: Query, _ generation: MemoryGeneration) async -> Result<
        LookupResult, KingfisherError
    > {
        // The miss in memory has been counted already; the previous operation may have put the image there since.
        if query.promotes, query.options.queryCacheLayers.contains(.memory),
            let image = lookInMemoryAgain(query.computedKey)
        {
            return .success(.memory(image))
        }
        return await Result { () async throws(KingfisherError) in
            let found = try await findOnDisk(query)
            if query.promotes, let image = found.image {
                promote(image, forKey: query.computedKey, query.options, ifGeneration: generation)
            }
            return found
        }
    }

    /// The image, if it was put in memory after a miss there; the look-up is not counted and extends no expiry.
    func lookInMemoryAgain(_ computedKey: String) -> KFCrossPlatformImage? {
        guard memory.isCached(forKey: computedKey) else { return nil }
        return memory.store.entry(forKey: computedKey)?.value
    }

    /// Reads and decodes an entry on one thread: the caller's, if the options ask for that.
    ///
    /// Going to another thread in between takes longer than reading an entry that the system has in memory.
    private func findOnDisk(_ query: Query) async throws(KingfisherError) -> LookupResult {
        guard !query.options.loadDiskFileSynchronously else { return try entryOnDisk(query) }
        return try await WorkExecutor.cpu.run { [self] () async throws(KingfisherError) in try entryOnDisk(query) }
    }

    /// Reads and decodes an entry; one that cannot be decoded is removed, the expiry of others is extended.
    ///
    /// Between the steps the load's observer is asked whether the load has been superseded.
    private func entryOnDisk(_ query: Query) throws(KingfisherError) -> LookupResult {
        let options = query.options
        let isWanted = { options.observer?.isWanted ?? true }
        // The look-up may have waited for other operations.
        guard isWanted() else { return .superseded }
        let found = try recorder.measuring(.reading) { () throws(KingfisherError) in
            try disk.entry(forKey: query.computedKey, forcedExtension: options.forcedExtension)
        }
        guard let entry = found else { return .nothing }
        guard isWanted() else { return .superseded }
        let image =
            knownImage(of: entry, query)
            ?? recorder.measuring(.decoding) { options.cacheSerializer.image(with: entry.data, options: options) }
        guard let image else {
            disk.discard(entry)
            return .nothing
        }
        guard isWanted() else { return .superseded }
        disk.touch(entry, extending: options.diskCacheAccessExtendingExpiration)
        // The pixels are decoded already; the option only makes its scale win over the serializer's.
        let ready = options.backgroundDecode ? image.kf.decoded(scale: options.scaleFactor) : image
        let metadata = query.wantsMetadata ? entry.userMetadata.flatMap { CacheMetadata(encoded: $0) } : nil
        return .disk(ready, bytes: entry.data, metadata: metadata)
    }

    /// The image in memory, if it was made of these very bytes: an entry that is looked at for its metadata need not be
    /// decoded again then.
    private func knownImage(of entry: FileStore.Entry, _ query: Query) -> KFCrossPlatformImage? {
        guard query.wantsMetadata, let known = memory.store.entry(forKey: query.computedKey)?.value,
            known.isDecoded(from: entry.data), known.scale == query.options.scaleFactor,
            known.satisfies(query.options)
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
