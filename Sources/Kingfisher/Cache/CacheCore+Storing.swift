// How the core stores and removes: memory and the place in the order at once, the disk later.

import Foundation
import KFSupport
import KFTransport

extension CacheCore {
    /// What remains to be done on the disk after memory is done.
    typealias DiskWork = @Sendable () async -> Result<Void, KingfisherError>

    /// Where and how bytes are to be written.
    private struct Destination: Sendable {
        let computedKey: String
        let forcedExtension: String?
        let expiration: StorageExpiration?
        var writeOptions: Data.WritingOptions = []
        var facts: HTTPFacts?
    }

    /// Stores an image in memory, and returns what brings it to disk.
    ///
    /// The place in the order is taken before memory changes: a look-up in flight, which marks the key's generation first
    /// and takes its place second, then either comes before and is not promoted, or comes after and sees all.
    func put(
        _ image: KFCrossPlatformImage,
        original: Data?,
        forKey computedKey: String,
        _ options: KingfisherParsedOptionsInfo,
        toDisk: Bool
    ) -> DiskWork {
        let place = toDisk ? order.place(forKey: computedKey) : nil
        memory.store(value: image, forKey: computedKey, expiration: options.memoryCacheExpiration)
        guard let place else { return { .success(()) } }

        let destination = Destination(
            computedKey: computedKey,
            forcedExtension: options.forcedExtension,
            expiration: options.diskCacheExpiration,
            writeOptions: options.diskStoreWriteOptions,
            facts: options.httpFacts
        )
        let serializer = options.cacheSerializer
        return { [self] in
            await place.run {
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

    /// Takes the place in the order, and returns what writes bytes to disk.
    func putOnDisk(
        _ data: Data,
        forKey computedKey: String,
        _ forcedExtension: String?,
        _ expiration: StorageExpiration?,
        facts: HTTPFacts? = nil
    ) -> DiskWork {
        let place = order.place(forKey: computedKey)
        // What is being read is not what the disk will hold, and does not go to memory any more.
        memory.store.noteChange(forKey: computedKey)
        let destination = Destination(
            computedKey: computedKey,
            forcedExtension: forcedExtension,
            expiration: expiration,
            facts: facts
        )
        return { [self] in await place.run { await write(data, to: destination) } }
    }

    private func write(_ data: Data, to destination: Destination) async -> Result<Void, KingfisherError> {
        await onDisk { [recorder] disk throws(KingfisherError) in
            try recorder.measuring(.writing) { () throws(KingfisherError) in
                try disk.write(
                    data,
                    forKey: destination.computedKey,
                    destination.expiration,
                    destination.writeOptions,
                    destination.forcedExtension,
                    attachment: destination.facts?.encoded()
                )
            }
        }
    }

    /// Removes an image from memory, and returns what removes it from disk.
    func remove(_ computedKey: String, _ forcedExtension: String?, memory: Bool, disk: Bool) -> DiskWork {
        let place = disk ? order.place(forKey: computedKey) : nil
        if memory { self.memory.remove(forKey: computedKey) }
        guard let place else { return { .success(()) } }
        return { [self] in
            await place.run {
                await onDisk { disk throws(KingfisherError) in
                    try disk.remove(forKey: computedKey, forcedExtension: forcedExtension)
                }
            }
        }
    }
}

extension String {
    /// The key an image is stored under that a processor made of what this key stands for.
    func computedKey(with identifier: String) -> String { identifier.isEmpty ? self : "\(self)@\(identifier)" }
}
