// What the caches have of an image: memory, disk, original, each asked once. The first steps of a load.

import Foundation
import KFStorage
import KFSupport

/// What the caches have: an image, or the original that it is made of.
struct CachedImage: Sendable {
    let image: KFCrossPlatformImage
    /// Where it was found.
    let cacheType: CacheType
    /// Whether it is the original, which has to be processed.
    var isOriginal = false
    /// The bytes of its entry, and what their response said about caching, where these are needed.
    var bytes: Data?
    var metadata: CacheMetadata?
    /// The generation of its key before it was read, if it has yet to be put in memory: what is stored or removed in
    /// the meantime must not be undone.
    var generation: MemoryGeneration?
}

extension ImageLoad {
    /// The image in the target cache, in memory or on disk; made once more if it was made with other options.
    ///
    /// - Parameter validates: Whether its server may have to be asked about it: in memory it is fresh, and from the disk
    ///   it comes with its metadata.
    /// - Returns: The image; nil when the cache has none.
    /// - Throws: ``KingfisherError``: an entry that cannot be read or processed.
    func cachedImage(validates: Bool) async throws(KingfisherError) -> CachedImage? {
        let options = plan.options
        guard !options.forceRefresh, let cache = options.targetCache else { return nil }
        if validates, let image = imageInMemory() { return CachedImage(image: image, cacheType: .memory) }
        // An entry of original bytes is processed each time it is read, and the result is kept in memory.
        let isOfOriginals = options.cacheSerializer.originalDataUsed
        var lookup = CacheCore.Lookup(layers: options.layersToQuery, promotes: !isOfOriginals && !validates)
        if validates {
            lookup.wantsMetadata = true
            lookup.layers.remove(.memory)
            guard !lookup.layers.isEmpty else { return nil }
        }
        let generation = cache.core.generation(forKey: plan.computedKey)
        if lookup.layers.contains(.disk) { await WorkExecutor.cpu.arrive() }
        switch try await cache.find(plan.key, options, lookup) {
        case .nothing, .superseded: return nil
        case .memory(let image):
            guard let bytes = image.bytes(toDecodeAgainFor: options) else {
                return CachedImage(image: image, cacheType: .memory)
            }
            let generation = cache.core.generation(forKey: plan.computedKey)  // it may have been stored since
            let again = try await manager.decodedAgain(bytes, options)
            return CachedImage(image: again, cacheType: .memory, generation: generation)
        case .disk(var image, let bytes, let metadata):
            if isOfOriginals, !(validates && options.processor.identifier.isEmpty) {
                do throws(KingfisherError) {
                    image = try await options.processor.processed(.image(image), options)
                } catch {
                    guard validates else { throw error }
                    return nil  // the server may have something that can be processed
                }
            }
            var cached = CachedImage(image: image, cacheType: .disk, metadata: metadata)
            if validates { cached.bytes = bytes }
            if !lookup.promotes { cached.generation = generation }
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
        // A serializer that stores originals needs their bytes, which are on disk only.
        if !validates, layers.contains(.memory), !options.cacheSerializer.originalDataUsed,
            let image = cache.findInMemory(plan.key, plain)
        {
            let bytes = image.bytes(toDecodeAgainFor: plain)
            guard let made = bytes == nil ? image : try? await manager.decodedAgain(bytes ?? Data(), plain) else {
                return nil
            }
            return CachedImage(image: made, cacheType: .none, isOriginal: true)
        }
        let lookup = CacheCore.Lookup(layers: .disk, promotes: false, wantsMetadata: true)
        guard layers.contains(.disk),
            case .disk(let image, let bytes, let metadata)? = try? await cache.find(plan.key, plain, lookup)
        else { return nil }
        return CachedImage(image: image, cacheType: .none, isOriginal: true, bytes: bytes, metadata: metadata)
    }

    /// The image in memory, if it is as the options want it, and fresh if its server may have to be asked about it.
    func imageInMemory() -> KFCrossPlatformImage? {
        let options = plan.options
        guard !options.forceRefresh, options.layersToQuery.contains(.memory), let cache = options.targetCache,
            let image = plan.asksServer
                ? cache.findFreshInMemory(plan.key, options) : cache.findInMemory(plan.key, options),
            image.satisfies(options)
        else { return nil }
        return image
    }

    /// What is cached as the result of the load: in memory; processed and stored first, if it is the original.
    func result(
        of cached: CachedImage,
        _ revalidation: RetrieveImageResult.Revalidation? = nil
    ) async throws(KingfisherError) -> LoadedImage {
        let options = plan.options
        var result: LoadedImage
        if cached.isOriginal {
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
                if plan.asksServer { options.limitMemory(of: cached.image, to: cached.metadata, in: cache) }
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
