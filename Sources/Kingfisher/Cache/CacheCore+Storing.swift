// How the core stores and removes: memory and the ticket in the queue at once, the disk later.

import Foundation
import KFStorage
import KFSupport
import KFTransport

extension CacheCore {
    /// The work that remains to be done on the disk after memory is done.
    typealias DiskWork = @Sendable () async -> Result<Void, KingfisherError>

    /// Where and how bytes are to be written.
    private struct Destination: Sendable {
        let computedKey: String
        let forcedExtension: String?
        let expiration: StorageExpiration?
        var writeOptions: Data.WritingOptions = []
        var metadata: CacheMetadata?
        let generation: UInt64
    }

    /// Stores an image in the layers that the options name: in memory now, on disk by the work that is returned.
    ///
    /// The ticket in the queue is taken before memory changes: a look-up in flight, which takes the key's version
    /// first and its ticket second, then either comes before and is not promoted, or comes after and sees the new
    /// entry.
    func put(
        _ image: KFCrossPlatformImage,
        original: Data?,
        forKey computedKey: String,
        _ options: KingfisherParsedOptionsInfo,
        toDisk: Bool
    ) -> DiskWork {
        let layers = options.storeCacheLayers
        let ticket = toDisk && layers.contains(.disk) ? operations.ticket(forKey: computedKey) : nil
        if layers.contains(.memory) {
            if options.load.encoding != nil { hasVariants.withLock { $0 = true } }
            note(image, loadedAt: options.load.generation ?? purges.generation)
            images.store(
                image,
                forKey: computedKey,
                cost: image.cost,
                expiration: options.memoryCacheExpiration,
                // What is in memory would count as fresh, although the server has sent something else since.
                removingIfExpired: options.respectCacheControl
            )
            // An image that was loaded before a purge is only for the callers that wait for it.
            if let generation = options.load.generation, purges.generation > generation {
                images.remove(forKey: computedKey)
            }
        } else if ticket != nil, !(options.diskCacheExpiration ?? disk.config.expiration).isExpired(at: Date()) {
            images.remove(forKey: computedKey)  // an older image
        }
        guard let ticket else { return { .success(()) } }

        let destination = Destination(
            computedKey: computedKey,
            forcedExtension: options.forcedExtension,
            expiration: options.diskCacheExpiration,
            writeOptions: options.diskStoreWriteOptions,
            metadata: options.load.cacheMetadata,
            generation: options.load.generation ?? purges.generation
        )
        let serializer = options.cacheSerializer
        return { [self] in
            await ticket.run {
                let data = await WorkExecutor.cpu.run { [recorder] in
                    recorder.measuring(.encoding) { serializer.data(with: image, original: original) }
                }
                guard let data else {
                    let reason = KingfisherError.CacheErrorReason.cannotSerializeImage(
                        image: image,
                        original: original,
                        serializer: serializer
                    )
                    return .failure(.cacheError(reason: reason))
                }
                return await write(data, to: destination)
            }
        }
    }

    /// Takes a ticket in the queue, and returns the work that writes bytes to disk.
    func putOnDisk(
        _ data: Data,
        forKey computedKey: String,
        _ forcedExtension: String?,
        _ expiration: StorageExpiration?,
        metadata: CacheMetadata? = nil,
        generation: UInt64? = nil
    ) -> DiskWork {
        let ticket = operations.ticket(forKey: computedKey)
        // An image that is being read is not the one the disk will hold, so it must not be promoted to memory.
        images.recordChange(forKey: computedKey)
        let destination = Destination(
            computedKey: computedKey,
            forcedExtension: forcedExtension,
            expiration: expiration,
            metadata: metadata,
            generation: generation ?? purges.generation
        )
        return { [self] in await ticket.run { await write(data, to: destination) } }
    }

    private func write(_ data: Data, to destination: Destination) async -> Result<Void, KingfisherError> {
        if let tier {
            put(
                data,
                in: tier,
                forKey: destination.computedKey,
                destination.forcedExtension,
                destination.expiration,
                metadata: destination.metadata,
                generation: destination.generation
            )
        }
        return await onDisk { [recorder] disk throws(KingfisherError) in
            try recorder.measuring(.writing) { () throws(KingfisherError) in
                try disk.write(
                    data,
                    forKey: destination.computedKey,
                    destination.expiration,
                    destination.writeOptions,
                    destination.forcedExtension,
                    userMetadata: CacheMetadata.stamped(destination.metadata, destination.generation)
                )
            }
        }
    }

    /// Removes an image and its encoded variants from memory, and returns the work that removes them from disk.
    func remove(_ computedKey: String, _ forcedExtension: String?, memory: Bool, disk: Bool) -> DiskWork {
        let ticket = disk ? operations.ticket(forKey: computedKey) : nil
        if memory {
            images.remove(forKey: computedKey)
            // A variant may be on its way from the disk.
            images.recordChangeOfAll()
            if hasVariants.withLock({ $0 }) {
                images.removeAll(withPrefix: computedKey + FileNaming.variantMark)
            }
        }
        guard let ticket else { return { .success(()) } }
        return { [self] in
            await ticket.run {
                tier?.remove(TierKey(forKey: computedKey, forcedExtension))
                return await onDisk { disk throws(KingfisherError) in
                    try disk.remove(forKey: computedKey, forcedExtension: forcedExtension)
                    try disk.removeVariants(of: computedKey)
                }
            }
        }
    }

    /// Keeps with an image that is put in memory when its source was loaded; once something was purged.
    func note(_ image: KFCrossPlatformImage, loadedAt generation: @autoclosure () -> UInt64) {
        guard purges.generation > 0 else { return }
        let generation = generation()
        image.updateMetadata { $0.loadedAt = generation }
    }

    /// Puts an image that was made of an entry in memory, unless its key has been stored or removed, or something was
    /// purged, since `version` was taken.
    ///
    /// An image that is in memory by now stays, unless `replacing` is true: then it is replaced by the one made of it.
    func promote(
        _ image: KFCrossPlatformImage,
        forKey computedKey: String,
        _ options: KingfisherParsedOptionsInfo,
        ifVersion version: Version,
        replacing: Bool = false
    ) {
        guard options.storeCacheLayers.contains(.memory) else { return }
        if options.load.encoding != nil { hasVariants.withLock { $0 = true } }
        images.store(
            image,
            forKey: computedKey,
            cost: image.cost,
            expiration: options.memoryCacheExpiration,
            ifVersion: version.memory,
            replacing: replacing,
            removingIfExpired: options.respectCacheControl
        )
        // Afterwards: a purge removes images from memory once it is known.
        if purges.generation != version.purges { images.remove(forKey: computedKey) }
    }
}
