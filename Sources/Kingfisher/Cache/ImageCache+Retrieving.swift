// How the cache finds images: memory at once, then the disk; and what becomes of an entry that is no good.

import Foundation
import KFStorage
import KFSupport

extension ImageCache {
    /// Memory, then disk; what was on disk goes to memory.
    func find(_ key: String, _ options: KingfisherParsedOptionsInfo) async throws(KingfisherError) -> ImageCacheResult {
        if let image = retrieveImageInMemoryCache(forKey: key, options: options) { return .memory(image) }
        guard !options.fromMemoryCacheOrRefresh else { return .none }

        let computedKey = key.computedKey(with: options.processor.identifier)
        // Marked before the disk is read: what is removed or stored meanwhile must not come back.
        let generation = memoryStorage.store.generation(forKey: computedKey)
        guard let (image, _) = try await findOnDisk(computedKey, options) else { return .none }
        memoryStorage.store.store(
            image,
            forKey: computedKey,
            cost: image.cacheCost,
            expiration: options.memoryCacheExpiration,
            ifGeneration: generation
        )
        return .disk(image)
    }

    /// Reads and decodes an entry, and gives its bytes too; one that cannot be decoded is removed, others have their
    /// life prolonged.
    func findOnDisk(
        _ computedKey: String,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> (image: KFCrossPlatformImage, bytes: Data)? {
        let fileExtension = options.forcedExtension
        // On the caller's thread nothing may wait for other operations either.
        if options.loadDiskFileSynchronously {
            guard let entry = try diskStorage.entry(forKey: computedKey, forcedExtension: fileExtension) else {
                return nil
            }
            let image = decode(entry, options)
            settle(entry, isGood: image != nil, options)
            return image.map { ($0, entry.data) }
        }

        let reading = await order.place(forKey: computedKey).run { [self] in
            await onDisk { disk throws(KingfisherError) in
                try disk.entry(forKey: computedKey, forcedExtension: fileExtension)
            }
        }
        guard let entry = try reading.get() else { return nil }
        let image = await WorkExecutor.cpu.run { [self] in decode(entry, options) }
        await WorkExecutor.io.run { [self] in settle(entry, isGood: image != nil, options) }
        return image.map { ($0, entry.data) }
    }

    private func decode(_ entry: FileStore.Entry, _ options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        options.cacheSerializer.image(with: entry.data, options: options)
    }

    private func settle(_ entry: FileStore.Entry, isGood: Bool, _ options: KingfisherParsedOptionsInfo) {
        guard isGood else { return diskStorage.discard(entry) }
        diskStorage.touch(entry, extending: options.diskCacheAccessExtendingExpiration)
    }
}

// MARK: - Asking

extension ImageCache {
    /// Whether an image is cached at all.
    ///
    /// Looks at the disk on the caller's thread.
    public func isCached(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) -> Bool {
        imageCachedType(forKey: key, processorIdentifier: identifier, forcedExtension: forcedExtension).cached
    }

    /// Where an image is.
    ///
    /// A hit in memory is reported before this returns if the queue allows; the disk is looked at elsewhere.
    public func imageCachedTypeAsync(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil,
        callbackQueue: CallbackQueue = .mainCurrentOrAsync,
        completionHandler: @escaping @Sendable (CacheType) -> Void
    ) {
        report(to: completionHandler, on: callbackQueue) { [self] in
            await imageCachedTypeAsync(
                forKey: key,
                processorIdentifier: identifier,
                forcedExtension: forcedExtension
            )
        }
    }

    /// Where an image is.
    public func imageCachedTypeAsync(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) async -> CacheType {
        let computedKey = key.computedKey(with: identifier)
        if memoryStorage.isCached(forKey: computedKey) { return .memory }
        let isOnDisk = await order.place(forKey: computedKey).run { [self] in
            await onDisk { disk throws(KingfisherError) in
                disk.isCached(forKey: computedKey, forcedExtension: forcedExtension)
            }
        }
        return (try? isOnDisk.get()) == true ? .disk : .none
    }
}
