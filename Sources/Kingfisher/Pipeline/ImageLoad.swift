// How an image is found or made, step by step, when memory does not have it; once for all who want it at one time.

import Foundation
import KFStorage
import KFSupport

/// The load of an image for all its subscribers: memory, disk, original, bytes, process, store.
///
/// It begins on its first subscriber's thread. Once it has waited, it goes on on the threads for pixels, in a lane that
/// moves up when a more urgent subscriber joins: a disk hit is read, decoded and put in memory in one job, and
/// downloaded bytes are decoded where they were handed over. A look-up of an encoded file makes no pixels and must not
/// wait for them: all of it runs on a thread that reads the disk.
struct ImageLoad: Sendable {
    let manager: KingfisherManager
    let plan: LoadPlan
    /// The subscribers.
    let task: SharedImageLoad
    /// When it began.
    let start = ContinuousClock.now

    /// Finds or makes the image.
    func run() async throws(KingfisherError) -> LoadedImage {
        // 1. Memory, where another load may have put it by now, and the disk.
        var cached: CachedImage?
        var failure: KingfisherError?
        do throws(KingfisherError) {
            cached = try await cachedImage(validates: plan.asksServer)
        } catch {
            // A cache that cannot be read has nothing; where caches are all there is, that is the error.
            if case .cacheError = error {
                failure = error
            } else if plan.asksServer, !plan.options.isLookupOnly {
                try checkIsWanted()
                return try await imageOfSource()  // the server may have something that can be processed
            } else {
                throw error
            }
        }
        // 2. The original image, which has yet to be processed.
        if cached == nil, !plan.options.isLookupOnly {
            try checkIsWanted()
            cached = await original(validates: plan.asksServer)
        }
        if let cached {
            if cached.isInvalidated { return try await remade(cached) }
            guard cached.isWithMetadata else { return try await result(of: cached) }
            try checkIsWanted()
            if let result = try await validated(cached) { return result }
        }
        guard !plan.options.onlyFromCache, !plan.options.isLookupOnly else { throw failure ?? plan.notExisting }
        try checkIsWanted()
        // A load that shares nothing but the entry may have made the image while the disk was read.
        if let image = plan.imageInMemory() { return LoadedImage(image, from: .memory) }
        // 3. The bytes of the source: they are decoded, processed and stored; of several machines that share a tier, by one.
        return try await madeOnce { () async throws(KingfisherError) in
            try await imageInTier(newerThan: nil)
        } _: { () async throws(KingfisherError) in
            try await imageOfSource()
        }
    }

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

    /// Nothing is begun for subscribers that do not want the image any more.
    private func checkIsWanted() throws(KingfisherError) { guard task.isWanted else { throw plan.notExisting } }

    /// The cached image after the server has said that nothing has changed; also for loads that did not ask the cache
    /// before.
    private func confirmed() async throws(KingfisherError) -> LoadedImage? {
        let plan = plan.with { options in
            options.forceRefresh = false
            options.fromMemoryCacheOrRefresh = false
            (options.queryCacheLayers, options.originalQueryCacheLayers) = (.all, .all)
        }
        let load = ImageLoad(manager: manager, plan: plan, task: task)
        if let cached = try await load.cachedImage(validates: false) {
            var result = try await load.result(of: cached)
            result.isConfirmed = true
            return result
        }
        guard let original = await load.original(validates: false) else { return nil }
        return try await load.result(of: original)
    }

    /// The image made of the bytes of the source, stored.
    func imageOfBytes(_ plan: LoadPlan) async throws(KingfisherError) -> LoadedImage {
        try await manager.checkDownloadIsAllowed(plan.source, plan.options)
        let origin = manager.origin(of: plan)
        return try await origin.withBytes(of: plan, for: task) { bytes throws(KingfisherError) in
            try await beginProcessing(of: bytes, plan.options)
            let image = try await bytes.image(plan.options).get()
            await origin.didMake(image, of: bytes, plan.options)
            return stored(image, of: bytes)
        }
    }

    /// Before pixels are made: of a load that was cancelled while it waited for a thread none are, and a large image lets
    /// small ones go first.
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
}

/// An image that was found in a cache: the processed one, or its original.
struct CachedImage: Sendable {
    let image: KFCrossPlatformImage
    /// Where it was found.
    let cacheType: CacheType
    /// Whether it is the original image, which has yet to be processed.
    var isOriginal = false
    /// Whether it was read with its metadata, which decide whether it may be used.
    var isWithMetadata = false
    /// The bytes of its entry, and what their response said about caching, where these are needed.
    var bytes: Data?
    var metadata: CacheMetadata?
    /// The generation of its key before it was read, if it has yet to be put in memory: what is stored or removed in
    /// the meantime must not be undone.
    var generation: CacheCore.Generation?
    /// Whether it was invalidated, and is used until it has been made anew.
    var isInvalidated = false
}

extension ImageLoad {
    /// The image in the target cache, in memory or on disk; made once more if it was made with other options.
    ///
    /// - Parameters:
    ///   - validates: Whether its server may have to be asked about it: in memory it is fresh, and from the disk it comes
    ///     with its metadata.
    ///   - change: What else the look-up is.
    /// - Returns: The image; nil when the cache has none.
    /// - Throws: ``KingfisherError``: an entry that cannot be read or processed.
    func cachedImage(validates: Bool, _ change: (inout CacheCore.Lookup) -> Void = { _ in })
        async throws(KingfisherError) -> CachedImage?
    {
        let options = plan.options
        guard !options.forceRefresh, let cache = options.targetCache else { return nil }
        if validates, let image = plan.imageInMemory() { return CachedImage(image: image, cacheType: .memory) }
        // An entry of original bytes is processed each time it is read, and the result is kept in memory.
        let isOfOriginals = options.cacheSerializer.originalDataUsed
        var lookup = CacheCore.Lookup(layers: options.layersToQuery, promotes: !isOfOriginals && !validates)
        change(&lookup)
        if validates {
            lookup.wantsMetadata = true
            lookup.layers.remove(.memory)
            guard !lookup.layers.isEmpty else { return nil }
        }
        let generation = cache.core.generation(forKey: plan.computedKey)
        switch try await cache.find(plan.key, options, lookup) {
        case .nothing, .superseded: return nil
        case .memory(let image):
            guard let bytes = image.bytes(toDecodeAgainFor: options) else {
                return CachedImage(image: image, cacheType: .memory)
            }
            let generation = cache.core.generation(forKey: plan.computedKey)  // it may have been stored since
            let again = try await manager.decodedAgain(bytes, options)
            return CachedImage(image: again, cacheType: .memory, generation: generation)
        case .disk(var image, let bytes, let metadata, let isInvalidated):
            if isOfOriginals, !(validates && options.processor.identifier.isEmpty) {
                image = try await options.processor.processed(.image(image), options)
            }
            var cached = CachedImage(image: image, cacheType: .disk, metadata: metadata)
            (cached.isWithMetadata, cached.bytes) = (validates, validates ? bytes : nil)
            cached.isInvalidated = isInvalidated
            if !lookup.promotes, !isInvalidated { cached.generation = generation }
            return cached
        }
    }

    /// The unprocessed image from the original cache, if that is another cache or the image is a processed one, with its
    /// bytes and the cache metadata of the response if they are at hand.
    ///
    /// An image in memory comes without them, since the file may be another one by now: it does not count where its
    /// server may have to be asked about it.
    func original(validates: Bool) async -> CachedImage? {
        let options = plan.options
        guard !options.forceRefresh, let cache = options.cacheForOriginals else { return nil }
        guard cache !== options.targetCache || !options.processor.identifier.isEmpty else { return nil }
        var plain = options
        plain.processor = DefaultImageProcessor.default
        plain.queryCacheLayers = options.originalQueryCacheLayers
        let layers = plain.layersToQuery
        // A serializer that stores originals needs their bytes, and so do metadata that are kept: these are on disk only.
        let needsBytes =
            options.cacheSerializer.originalDataUsed || options.encoding.map { $0.keptMetadata != .none } ?? false
        if !validates, layers.contains(.memory), !needsBytes,
            let image = cache.findInMemory(plan.key, plain)
        {
            guard let bytes = image.bytes(toDecodeAgainFor: plain) else {
                return CachedImage(image: image, cacheType: .none, isOriginal: true)
            }
            return (try? await manager.decodedAgain(bytes, plain)).map {
                CachedImage(image: $0, cacheType: .none, isOriginal: true)
            }
        }
        var lookup = CacheCore.Lookup(layers: .disk, promotes: false, wantsMetadata: true)
        // Originals that are not kept here are not kept by other machines either.
        lookup.asksTier = plan.layersToStoreForOriginal.contains(.disk)
        guard layers.contains(.disk),
            case .disk(let image, let bytes, let metadata, isInvalidated: false)? = try? await cache.find(
                plan.key,
                plain,
                lookup
            )
        else { return nil }
        return CachedImage(
            image: image,
            cacheType: .none,
            isOriginal: true,
            isWithMetadata: validates,
            bytes: bytes,
            metadata: metadata
        )
    }

    /// What is cached as the result of the load: in memory; processed and stored first, if it is the original.
    func result(
        of cached: CachedImage,
        _ revalidation: RetrieveImageResult.Revalidation? = nil
    ) async throws(KingfisherError) -> LoadedImage {
        let options = plan.options
        var result: LoadedImage
        if cached.isOriginal {
            var options = options
            if options.encoding != nil { options.sourceBytes = cached.bytes }
            let image = try await options.processor.processed(.image(cached.image), options)
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
            if let generation = cached.generation, let cache = options.targetCache {
                var options = options
                if cached.isWithMetadata { options.limitMemory(of: cached.image, to: cached.metadata, in: cache) }
                cache.core.promote(
                    cached.image,
                    forKey: plan.computedKey,
                    options,
                    ifGeneration: generation,
                    replacing: true
                )
            }
        }
        result.describe { ($0.cacheMetadata, $0.revalidation) = (cached.metadata, revalidation) }
        if case .notModified? = revalidation { result.isConfirmed = true }
        return result
    }
}

extension LoadPlan {
    /// The image in memory, if it is as the options want it, and fresh if its server may have to be asked about it.
    func imageInMemory() -> KFCrossPlatformImage? {
        guard !options.forceRefresh, options.layersToQuery.contains(.memory), let cache = options.targetCache,
            let image = asksServer ? cache.findFreshInMemory(key, options) : cache.findInMemory(key, options),
            image.satisfies(options)
        else { return nil }
        return image
    }
}
