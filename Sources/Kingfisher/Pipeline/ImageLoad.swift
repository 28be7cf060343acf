// How an image is found or made, step by step, when memory does not have it; once for all who want it at one time.

import Foundation
import KFStorage
import KFSupport

/// The load of an image for all its subscribers: disk, original, bytes, process, store.
///
/// It begins on its first subscriber's thread. Once it has waited, it goes on on the threads for pixels, in a lane that
/// moves up when a more urgent subscriber joins: a disk hit is read, decoded and put in memory in one job, and
/// downloaded bytes are decoded where they were handed over. A look-up of an encoded file makes no pixels and must not
/// wait for them: all of it runs on a thread that reads the disk.
struct ImageLoad: Sendable {
    let manager: KingfisherManager
    /// The first subscriber's plan, without the options that are that subscriber's own.
    let plan: LoadPlan
    /// The answer of memory when the first subscriber asked.
    private let inMemory: MemoryAnswer
    /// The subscribers.
    let task: SharedImageLoad
    /// When it began.
    let start = ContinuousClock.now

    init(_ plan: LoadPlan, _ inMemory: MemoryAnswer, for task: SharedImageLoad, by manager: KingfisherManager) {
        (self.manager, self.inMemory, self.task) = (manager, inMemory, task)
        self.plan = plan.with { options in
            options.loadDiskFileSynchronously = false  // it runs on no caller's thread
            options.downloadPriority = task.priority
            options.onDataReceived = nil  // each subscriber has its own
            options.onStaleImage = nil
            var load = options.load
            load.countsMemoryMiss = false  // each subscriber has asked memory
            (load.observer, load.generation) = (task, plan.generation)
            options.load = load
        }
    }

    /// The same load with another plan.
    private init(_ load: ImageLoad, _ plan: LoadPlan) {
        (manager, self.plan, inMemory, task) = (load.manager, plan, .nothing, load.task)
    }

    /// Finds or makes the image.
    func run() async throws(KingfisherError) -> LoadedImage {
        // 1. The caches: the image, or its original, which has yet to be processed.
        var cached: CachedImage?
        var failure: KingfisherError?
        do throws(KingfisherError) {
            cached = try await self.cached(validates: plan.asksServer)
        } catch {
            // A cache that cannot be read has nothing; where only caches are asked, this is the error of the load.
            if case .cacheError = error {
                failure = error
            } else if plan.asksServer, !plan.options.load.isLookupOnly {
                try checkIsWanted()
                return try await imageOfSource()  // the server may have something that can be processed
            } else {
                throw error
            }
        }
        if let cached {
            if cached.isInvalidated { return try await remade(cached) }
            guard cached.isWithMetadata else { return try await result(of: cached) }
            try checkIsWanted()
            if let result = try await validated(cached) { return result }
        }
        guard !plan.options.onlyFromCache, !plan.options.load.isLookupOnly else { throw failure ?? plan.notExisting }
        try checkIsWanted()
        // 2. The bytes of the source, which are decoded, processed and stored; of machines that share a tier, by one.
        guard plan.options.targetCache?.core.tier != nil else { return try await imageOfSource() }
        return try await madeOnce { () async throws(KingfisherError) in
            try await imageInTier(newerThan: nil)
        } _: { () async throws(KingfisherError) in
            try await imageOfSource()
        }
    }

    /// Nothing is begun for subscribers that do not want the image any more.
    private func checkIsWanted() throws(KingfisherError) { guard task.isWanted else { throw plan.notExisting } }

    /// Loads the bytes of the source and makes the image; when the server says that nothing has changed, gives the
    /// cached image.
    private func imageOfSource() async throws(KingfisherError) -> LoadedImage {
        do throws(KingfisherError) {
            return try await imageOfBytes(plan)
        } catch {
            guard error.isNotModified, let confirmed = try await confirmed() else { throw error }
            return confirmed
        }
    }

    /// The cached image after the server has said that nothing has changed; also for loads that did not ask the cache
    /// before.
    private func confirmed() async throws(KingfisherError) -> LoadedImage? {
        let load = ImageLoad(
            self,
            plan.with { options in
                options.forceRefresh = false
                options.fromMemoryCacheOrRefresh = false
                (options.queryCacheLayers, options.originalQueryCacheLayers) = (.all, .all)
            }
        )
        guard let cached = try await load.cached(validates: false, { $0.layers = .all }) else { return nil }
        var result = try await load.result(of: cached)
        result.isConfirmed = !cached.isOriginal
        return result
    }

    /// The image made of the bytes of the source, stored.
    func imageOfBytes(_ plan: LoadPlan) async throws(KingfisherError) -> LoadedImage {
        try await manager.rules.checkDownload(plan.source, plan.options)
        return try await manager.withBytes(of: plan, for: task) { bytes throws(KingfisherError) in
            try await beginProcessing(of: bytes, plan.options)
            return stored(try await bytes.image(for: plan.options), of: bytes)
        }
    }

    /// Before pixels are made: of a load that was cancelled while it waited for a thread none are, and a large image
    /// lets small ones go first.
    private func beginProcessing(
        of bytes: LoadedBytes,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) {
        let processor = options.processor.named
        switch (processor as? any WeighingImageProcessor)?.weight(of: bytes.data) {
        case nil, .small?: break
        case .large?: await task.makeWay()
        case .refused?:
            throw .processorError(reason: .processingFailed(processor: processor, item: .data(bytes.data)))
        }
        guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
    }
}

extension ImageLoad {
    /// What the caches have: the image as it is wanted, or its original.
    ///
    /// - Parameters:
    ///   - validates: Whether its server may have to be asked about it: then it comes from the disk with its metadata.
    ///   - change: What else the look-up is.
    /// - Returns: The image; nil when the caches have none.
    /// - Throws: ``KingfisherError``: an entry that cannot be read or processed.
    func cached(
        validates: Bool,
        _ change: (inout CacheCore.Lookup) -> Void = { _ in }
    ) async throws(KingfisherError) -> CachedImage? {
        let options = plan.options
        guard !options.forceRefresh, let cache = options.targetCache else { return nil }
        if case .otherwise(let image) = inMemory {
            return try await asWanted(CachedImage(image, from: .memory), in: cache)
        }
        // An entry of original bytes is processed each time it is read, and the result is kept in memory.
        let isOfOriginals = options.cacheSerializer.originalDataUsed
        // Memory was asked when the load began.
        var lookup = CacheCore.Lookup(layers: options.layersToQuery.subtracting(.memory))
        (lookup.promotes, lookup.wantsMetadata) = (!isOfOriginals && !validates, validates)
        lookup.original = originalLookup(validates: validates)
        change(&lookup)
        guard case .found(var cached) = try await cache.find(plan.key, options, lookup) else { return nil }
        cached.isWithMetadata = validates
        guard cached.cacheType != .memory else { return try await asWanted(cached, in: cache) }
        if isOfOriginals, !cached.isOriginal, !(validates && options.processor.identifier.isEmpty) {
            cached.image = try await options.processor.processed(.image(cached.image), options)
        }
        return cached
    }

    /// How the original is looked for; nil where it is the image, or nothing is to be made of it.
    private func originalLookup(validates: Bool) -> CacheCore.OriginalLookup? {
        let options = plan.options
        guard !options.load.isLookupOnly, let cache = options.cacheForOriginals,
            cache !== options.targetCache || !options.processor.identifier.isEmpty
        else { return nil }
        var layers = options.originalQueryCacheLayers
        if options.fromMemoryCacheOrRefresh { layers.formIntersection(.memory) }
        // A serializer that stores originals needs their bytes, as metadata that are kept do, and where the server has
        // a say the metadata of the response are needed: all these are on disk only.
        let keepsMetadata = options.load.encoding.map { $0.keptMetadata != .none } ?? false
        if validates || options.cacheSerializer.originalDataUsed || keepsMetadata { layers.remove(.memory) }
        // Originals that are not kept here are not kept by other machines either.
        let asksTier = plan.layersToStoreForOriginal.contains(.disk)
        return CacheCore.OriginalLookup(layers: layers, asksTier: asksTier)
    }

    /// An image from memory, decoded again if it was made with other options; nil for an original that cannot be.
    private func asWanted(_ cached: CachedImage, in cache: ImageCache) async throws(KingfisherError) -> CachedImage? {
        guard let bytes = cached.image.bytes(toDecodeAgainFor: plan.options) else { return cached }
        var cached = cached
        guard !cached.isOriginal else {
            let image = try? await DefaultImageProcessor.default.processed(.data(bytes), plan.options)
            return image.map { CachedImage($0, from: .memory, isOriginal: true) }
        }
        cached.version = cache.core.version(forKey: plan.key.computed)  // it may have been stored since
        cached.image = try await plan.options.decodedAgain(bytes)
        return cached
    }

    /// What is cached as the result of the load: in memory; processed and stored first, if it is the original.
    func result(
        of cached: CachedImage,
        _ revalidation: RetrieveImageResult.Revalidation? = nil
    ) async throws(KingfisherError) -> LoadedImage {
        let options = plan.options
        var result: LoadedImage
        if cached.isOriginal {
            var processor = options.processor
            if var encoded = processor as? EncodedProcessor {
                encoded.source = cached.bytes
                processor = encoded
            }
            let image = try await processor.processed(.image(cached.image), options)
            result = LoadedImage(image, from: .none)
            result.data = cached.bytes
            result.describe { $0.cacheMetadata = cached.metadata }
            if let cache = options.targetCache, options.mayStore(cached.metadata) {
                let stored = Promise<CacheStoreResult>()
                store(result, keepsOriginal: false, in: cache, result: stored)
                result.storing = stored
            }
        } else {
            result = LoadedImage(cached.image, from: cached.cacheType)
            if let version = cached.version, let cache = options.targetCache {
                var options = options
                if cached.isWithMetadata { options.limitMemoryExpiry(of: cached.image, to: cached.metadata, in: cache) }
                cache.core.promote(
                    cached.image,
                    forKey: plan.key.computed,
                    options,
                    ifVersion: version,
                    replacing: true
                )
            }
        }
        result.describe { ($0.cacheMetadata, $0.revalidation) = (cached.metadata, revalidation) }
        if case .notModified? = revalidation { result.isConfirmed = true }
        return result
    }
}

/// A load of an image, shared by all loads with the same identity.
typealias SharedImageLoad = SharedTask<LoadPlan.Identity, LoadedImage>

/// The result of a shared load, before it is adapted to each subscriber.
struct LoadedImage: Sendable {
    var image: KFCrossPlatformImage
    let cacheType: CacheType
    /// The downloaded or provided bytes; nil when the image came from a cache.
    var data: Data?
    /// Whether the server confirmed that what the cache has is unchanged.
    var isConfirmed = false
    /// How storing goes; nil when nothing is stored.
    var storing: Promise<CacheStoreResult>?
    /// Metrics, cache metadata and the like, which the results of all subscribers share.
    private(set) var details: RetrieveImageResult.Details?
    /// The images that subscribers who want their frames otherwise have made of the same bytes; nil for a still.
    let remade: OncePerKey<ImageIdentity, Result<KFCrossPlatformImage, KingfisherError>>?

    init(_ image: KFCrossPlatformImage, from cacheType: CacheType) {
        (self.image, self.cacheType) = (image, cacheType)
        remade = image.frameCount ?? 1 > 1 ? OncePerKey() : nil
    }

    /// What the response said about caching.
    var metadata: CacheMetadata? { details?.value.cacheMetadata }

    mutating func describe(_ change: (inout RetrieveImageResult.Details.Value) -> Void) {
        details = .changed(details, change)
    }

    /// The image as one subscriber wants it.
    ///
    /// An animation that was made for a subscriber that wants its frames decoded at another time is made again, once
    /// for all who want it alike.
    func image(as options: KingfisherParsedOptionsInfo) async throws(KingfisherError) -> KFCrossPlatformImage {
        guard let images = remade, let bytes = image.bytes(toDecodeAgainFor: options) else { return image }
        let made = Promise<Result<KFCrossPlatformImage, KingfisherError>>()
        Task {
            let image = await images.value(for: ImageIdentity(options)) {
                await Result { () async throws(KingfisherError) in try await options.decodedAgain(bytes) }
            }
            made.fulfil(image)
        }
        let cancelled = KingfisherError.requestError(reason: .asyncTaskContextCancelled)
        return try await made.value { made.fulfil(.failure(cancelled)) }.get()
    }
}

extension KingfisherParsedOptionsInfo {
    /// Another image of the bytes of an animation in memory.
    fileprivate func decodedAgain(_ bytes: Data) async throws(KingfisherError) -> KFCrossPlatformImage {
        // Frames that were processed, written and read again are not to be processed twice.
        let processor = processor.transformsFrames ? DefaultImageProcessor.default : processor
        return try await processor.processed(.data(bytes), self)
    }
}
