// How the cache stores and removes: memory and the place in the order at once, the disk later.

import Foundation
import KFSupport

extension ImageCache {
    /// What remains to be done on the disk after memory is done.
    typealias DiskWork = @Sendable () async -> Result<Void, KingfisherError>

    /// Stores an image in memory, and answers what brings it to disk.
    ///
    /// The place in the order is taken before memory changes: a look-up in flight, which marks the key's generation first
    /// and takes its place second, then either comes before and is not promoted, or comes after and sees all.
    func put(
        _ image: KFCrossPlatformImage,
        original: Data?,
        forKey key: String,
        options: KingfisherParsedOptionsInfo,
        toDisk: Bool
    ) -> DiskWork {
        let computedKey = key.computedKey(with: options.processor.identifier)
        let place = toDisk ? order.place(forKey: computedKey) : nil
        memoryStorage.store(value: image, forKey: computedKey, expiration: options.memoryCacheExpiration)
        guard let place else { return { .success(()) } }

        return { [self] in
            await place.run {
                let serializer = options.cacheSerializer
                let data = await WorkExecutor.cpu.run { serializer.data(with: image, original: original) }
                guard let data else {
                    let reason = KingfisherError.CacheErrorReason.cannotSerializeImage(
                        image: image,
                        original: original,
                        serializer: serializer
                    )
                    return .failure(.cacheError(reason: reason))
                }
                return await write(data, computedKey, options.forcedExtension, options.diskCacheExpiration)
            }
        }
    }

    /// Answers what writes bytes to disk.
    func putOnDisk(
        _ data: Data,
        forKey computedKey: String,
        _ forcedExtension: String?,
        _ expiration: StorageExpiration?
    ) -> DiskWork {
        let place = order.place(forKey: computedKey)
        return { [self] in await place.run { await write(data, computedKey, forcedExtension, expiration) } }
    }

    private func write(
        _ data: Data,
        _ computedKey: String,
        _ forcedExtension: String?,
        _ expiration: StorageExpiration?
    ) async -> Result<Void, KingfisherError> {
        await onDisk { disk throws(KingfisherError) in
            try disk.store(
                value: data,
                forKey: computedKey,
                expiration: expiration,
                forcedExtension: forcedExtension
            )
        }
    }

    /// Removes an image from memory, and answers what removes it from disk.
    func remove(_ computedKey: String, _ forcedExtension: String?, memory: Bool, disk: Bool) -> DiskWork {
        let place = disk ? order.place(forKey: computedKey) : nil
        if memory { memoryStorage.remove(forKey: computedKey) }
        guard let place else { return { .success(()) } }
        return { [self] in
            await place.run {
                await onDisk { disk throws(KingfisherError) in
                    try disk.remove(forKey: computedKey, forcedExtension: forcedExtension)
                }
            }
        }
    }

    // MARK: What all operations need

    /// Does something with the disk where waiting for it is allowed.
    func onDisk<Value: Sendable>(
        _ body: @escaping @Sendable (DiskStorage.Backend<Data>) throws(KingfisherError) -> Value
    ) async -> Result<Value, KingfisherError> {
        await WorkExecutor.io.run { [diskStorage] in
            await Result { () async throws(KingfisherError) in try body(diskStorage) }
        }
    }

    /// Starts `work` now, on this thread, and hands its result to `handler` through `queue`.
    func report<Value: Sendable>(
        to handler: (@Sendable (Value) -> Void)?,
        on queue: CallbackQueue,
        _ work: @escaping @Sendable () async -> Value
    ) {
        Task.immediate {
            let value = await work()
            if let handler { queue.execute { handler(value) } }
        }
    }

    /// Starts `work` now, on this thread, and calls `handler` through `queue` when it is done.
    func finish(
        with handler: (@Sendable () -> Void)?,
        on queue: CallbackQueue,
        _ work: @escaping @Sendable () async -> Void
    ) {
        Task.immediate {
            await work()
            if let handler { queue.execute(handler) }
        }
    }

    /// The options that the forms without options stand for.
    static func options(
        _ identifier: String,
        _ forcedExtension: String?,
        _ serializer: any CacheSerializer
    ) -> KingfisherParsedOptionsInfo {
        var options = KingfisherParsedOptionsInfo()
        options.processor = NamedProcessor(identifier: identifier)
        options.forcedExtension = forcedExtension
        options.cacheSerializer = serializer
        return options
    }
}

/// Stands for the processor that made an image, of which only the identifier is known.
private struct NamedProcessor: ImageProcessor {
    let identifier: String

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)
    }
}

extension String {
    /// The key an image is stored under that a processor made of what this key stands for.
    func computedKey(with identifier: String) -> String { identifier.isEmpty ? self : "\(self)@\(identifier)" }
}
