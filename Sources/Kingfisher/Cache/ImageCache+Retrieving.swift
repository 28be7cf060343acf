// How the cache finds images: memory at once, then the disk; and what becomes of an entry that is no good.

import Foundation
import KFStorage
import KFSupport

extension ImageCache {
    /// Whether the code that runs now looks in memory for what it has missed there a moment ago, in case somebody else
    /// has stored it since.
    ///
    /// Such a miss is not counted again. Looking up is for subclasses to override: this goes past its parameters.
    @TaskLocal static var isLookingAgain = false

    /// What is on disk, if that is to be looked at; it goes to memory.
    func findBelowMemory(
        _ key: String,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> ImageCacheResult {
        guard !options.fromMemoryCacheOrRefresh else { return .none }
        let computedKey = key.computedKey(with: options.processor.identifier)
        // Marked before the disk is read: what is removed or stored meanwhile must not come back.
        let generation = generation(forKey: computedKey)
        guard options.loadDiskFileSynchronously else {
            return try await order.place(forKey: computedKey).run { [self] in
                await findInTurn(computedKey, options, generation)
            }.get()
        }
        // Who reads on the caller's thread waits for nobody, and may read what is about to be replaced or removed.
        let isEarly = order.isBusy(computedKey)
        guard let (image, _) = try await findOnDisk(computedKey, options) else { return .none }
        if !isEarly { promote(image, forKey: computedKey, options, ifGeneration: generation) }
        return .disk(image)
    }

    /// The same when its turn among the operations on the key has come, which lasts until the image is in memory: of
    /// several who want it, one reads and decodes.
    private func findInTurn(
        _ computedKey: String,
        _ options: KingfisherParsedOptionsInfo,
        _ generation: MemoryGeneration
    ) async -> Result<ImageCacheResult, KingfisherError> {
        // It was missed before, and counted.
        if memoryStorage.isCached(forKey: computedKey), let entry = memoryStorage.store.entry(forKey: computedKey) {
            return .success(.memory(entry.value))
        }
        return await Result { () async throws(KingfisherError) in
            let (outcome, _) = try await lookOnDisk(computedKey, options, isInTurn: true)
            guard case .image(let image) = outcome else { return .none }
            promote(image, forKey: computedKey, options, ifGeneration: generation)
            return .disk(image)
        }
    }

    /// What changes when a key is stored or removed; taken before something slow is done with an entry.
    func generation(forKey computedKey: String) -> MemoryGeneration {
        memoryStorage.store.generation(forKey: computedKey)
    }

    /// Whether a key may have been stored or removed since `generation` was taken, in memory or on disk.
    func mayHaveChanged(_ computedKey: String, since generation: MemoryGeneration) -> Bool {
        self.generation(forKey: computedKey) != generation
    }

    /// Puts in memory what was made of an entry, unless its key has been stored or removed since `generation` was taken.
    ///
    /// What is there by now stays, unless it is to be replaced by what was made of it.
    func promote(
        _ image: KFCrossPlatformImage,
        forKey computedKey: String,
        _ options: KingfisherParsedOptionsInfo,
        ifGeneration generation: MemoryGeneration,
        replacing: Bool = false
    ) {
        memoryStorage.store.store(
            image,
            forKey: computedKey,
            cost: image.cacheCost,
            expiration: options.memoryCacheExpiration,
            ifGeneration: generation,
            replacing: replacing
        )
    }

    /// An entry's image and its bytes; nil if there is none, or if nobody wants it any more.
    func findOnDisk(
        _ computedKey: String,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> (image: KFCrossPlatformImage, bytes: Data)? {
        let (outcome, entry) = try await lookOnDisk(computedKey, options)
        guard case .image(let image) = outcome, let entry else { return nil }
        return (image, entry.data)
    }

    /// An entry's image, its bytes, and what is kept with just that entry.
    func findOnDiskWithFacts(
        _ computedKey: String,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> (image: KFCrossPlatformImage, bytes: Data, facts: HTTPFacts?)? {
        let (outcome, entry) = try await lookOnDisk(computedKey, options)
        guard case .image(let image) = outcome, let entry else { return nil }
        let attachment = await onDisk { disk throws(KingfisherError) in try disk.attachment(of: entry) }
        return (image, entry.data, ((try? attachment.get()) ?? nil).flatMap { HTTPFacts(encoded: $0) })
    }

    /// Reads and decodes an entry, and gives that too; one that cannot be decoded is removed, others have their
    /// life prolonged.
    ///
    /// The options' checker is asked between the steps whether the image is still wanted.
    private func lookOnDisk(
        _ computedKey: String,
        _ options: KingfisherParsedOptionsInfo,
        isInTurn: Bool = false
    ) async throws(KingfisherError) -> (outcome: DiskRetrievalOutcome, entry: FileStore.Entry?) {
        let isWanted = options.sourceTaskIdentifierChecker ?? { true }
        let entry: FileStore.Entry
        switch try await read(computedKey, options, isWanted, isInTurn: isInTurn) {
        case .entry(let found): entry = found
        case .nothing: return (.notFound, nil)
        case .unwanted: return (.stale, nil)
        }
        guard isWanted() else { return (.stale, nil) }
        guard let image = await decode(entry, options) else {
            await settle(entry, isGood: false, options)
            return (.notFound, nil)
        }
        guard isWanted() else { return (.stale, nil) }
        await settle(entry, isGood: true, options)
        // Decoded pixels have been made already; what is left of the option is that its scale wins over the serializer's.
        let ready = options.backgroundDecode ? image.kf.decoded(scale: options.scaleFactor) : image
        return (.image(ready), entry)
    }

    /// What reading came to.
    private enum Reading: Sendable {
        case entry(FileStore.Entry)
        case nothing
        /// It was not read.
        case unwanted
    }

    private func read(
        _ computedKey: String,
        _ options: KingfisherParsedOptionsInfo,
        _ isWanted: @escaping @Sendable () -> Bool,
        isInTurn: Bool
    ) async throws(KingfisherError) -> Reading {
        let reading = { @Sendable [recorder] (disk: DiskStorage.Backend<Data>) throws(KingfisherError) -> Reading in
            // Asked when its turn has come: it may have waited for others.
            guard isWanted() else { return .unwanted }
            let entry = try recorder.measuring(.reading) { () throws(KingfisherError) in
                try disk.entry(forKey: computedKey, forcedExtension: options.forcedExtension)
            }
            return entry.map { .entry($0) } ?? .nothing
        }
        // On the caller's thread nothing may wait for other operations either.
        if options.loadDiskFileSynchronously { return try reading(diskStorage) }
        if isInTurn { return try await onDisk(reading).get() }
        return try await order.place(forKey: computedKey).run { [self] in await onDisk(reading) }.get()
    }

    private func decode(
        _ entry: FileStore.Entry,
        _ options: KingfisherParsedOptionsInfo
    ) async -> KFCrossPlatformImage? {
        let decoding = { @Sendable [recorder] in
            recorder.measuring(.decoding) { options.cacheSerializer.image(with: entry.data, options: options) }
        }
        return options.loadDiskFileSynchronously ? decoding() : await WorkExecutor.cpu.run { decoding() }
    }

    private func settle(_ entry: FileStore.Entry, isGood: Bool, _ options: KingfisherParsedOptionsInfo) async {
        let settling = { @Sendable [diskStorage] in
            if isGood {
                diskStorage.touch(entry, extending: options.diskCacheAccessExtendingExpiration)
            } else {
                diskStorage.discard(entry)
            }
        }
        if options.loadDiskFileSynchronously { settling() } else { await WorkExecutor.io.run { settling() } }
    }
}

// MARK: - The disk alone

/// What a look at the disk came to.
enum DiskRetrievalOutcome: Sendable {
    /// An image.
    case image(KFCrossPlatformImage)
    /// There is none.
    case notFound
    /// Nobody wants it any more; whether there is one was not found out.
    case stale

    /// The image, if there is one.
    var image: KFCrossPlatformImage? {
        if case .image(let image) = self { image } else { nil }
    }
}

extension ImageCache {
    /// Looks an image up on disk only, and leaves memory as it is; a miss is a success with nil.
    func retrieveImageInDiskCache(
        forKey key: String,
        options: KingfisherParsedOptionsInfo,
        callbackQueue: CallbackQueue = .untouch,
        completionHandler: @escaping @Sendable (Result<KFCrossPlatformImage?, KingfisherError>) -> Void
    ) {
        retrieveImageInDiskCache(
            forKey: key,
            options: options,
            callbackQueue: callbackQueue,
            outcomeHandler: {
                completionHandler($0.map(\.image))
            }
        )
    }

    /// Looks an image up on disk only, leaves memory as it is, and tells a miss from a look that was given up.
    func retrieveImageInDiskCache(
        forKey key: String,
        options: KingfisherParsedOptionsInfo,
        callbackQueue: CallbackQueue = .untouch,
        outcomeHandler: @escaping @Sendable (Result<DiskRetrievalOutcome, KingfisherError>) -> Void
    ) {
        let computedKey = key.computedKey(with: options.processor.identifier)
        report(to: outcomeHandler, on: callbackQueue) { [self] in
            await Result { () async throws(KingfisherError) in try await lookOnDisk(computedKey, options).outcome }
        }
    }

    /// Looks an image up on disk only, and leaves memory as it is; a miss is nil.
    func retrieveImageInDiskCache(
        forKey key: String,
        options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> KFCrossPlatformImage? {
        try await findOnDisk(key.computedKey(with: options.processor.identifier), options)?.image
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
        callbackQueue: CallbackQueue = .default,
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
