// Where the caches are asked, and for what: memory, disk, the original. The first steps of a load.

import Foundation
import KFStorage
import KFSupport

extension KingfisherManager {
    /// The image of a source in memory, as it is delivered; never waits and makes no system call.
    ///
    /// Nothing for a file that is forbidden, for a URL that is blocked, and for an animation that was made with other
    /// options.
    func imageInMemory(
        _ source: Source,
        _ options: KingfisherParsedOptionsInfo,
        requested: Source
    ) -> RetrieveImageResult? {
        guard !options.forceRefresh, forbiddenFile(source) == nil, blockedURL(source, options) == nil,
            options.queryCacheLayers.contains(.memory), let cache = options.targetCache
        else { return nil }
        let key = source.cacheKey(options)
        guard !options.asksServer(about: source) || cache.hasFreshImage(key, options),
            let cached = cache.findInMemory(key, options), cached.satisfies(options)
        else { return nil }
        let image = options.imageModifier?.modify(cached) ?? cached
        return RetrieveImageResult(
            image: image,
            cacheType: .memory,
            source: source,
            originalSource: requested,
            data: options.encoding(of: image)
        )
    }

    /// The image on disk, read without leaving the thread; nil where it has to be processed first.
    func imageOnDiskAtOnce(_ wanted: KeyedSource) async -> LoadResult? {
        var (options, query) = (wanted.options, wanted.query)
        guard !options.forceRefresh, query.layers.contains(.disk), !options.asksServer(about: wanted.source),
            !options.cacheSerializer.originalDataUsed,
            let cache = options.targetCache, !cache.core.memory.isCached(forKey: query.computedKey)
        else { return nil }
        query.layers = .disk
        guard let found = try? await cache.find(query), let image = found.image, image.satisfies(options) else {
            return nil
        }
        return LoadResult(image: image, cacheType: found.cacheType)
    }

    /// The image in the target cache, in memory or on disk; made once more if it was made with other options.
    func cachedImage(_ wanted: KeyedSource) async throws(KingfisherError) -> LoadResult? {
        var (query, options) = (wanted.query, wanted.options)
        guard !options.forceRefresh, let cache = options.targetCache else { return nil }
        // Taken before anything is found: what is removed or stored while that is processed must not come back.
        var generation = cache.core.generation(forKey: query.computedKey)
        query.promotes = !options.cacheSerializer.originalDataUsed
        let found = try await cache.find(query)
        guard var image = found.image else { return nil }
        var isRemade = false
        if case .disk = found, !query.promotes {
            // The entry holds the original bytes: they are processed once, and the result is kept in memory.
            image = try await options.processor.processed(.image(image), options)
            isRemade = true
        } else if case .memory = found, let bytes = image.bytes(toDecodeAgainFor: options) {
            generation = cache.core.generation(forKey: query.computedKey)  // it may have been stored since
            image = try await decodedAgain(bytes, options)
            isRemade = true
        }
        if isRemade {
            cache.core.promote(image, forKey: query.computedKey, options, ifGeneration: generation, replacing: true)
        }
        return LoadResult(image: image, cacheType: found.cacheType)
    }

    /// The image that another load has put in memory since it was missed there.
    func imageStoredMeanwhile(_ wanted: KeyedSource) -> LoadResult? {
        let options = wanted.options
        guard !options.forceRefresh, wanted.query.layers.contains(.memory), let cache = options.targetCache,
            let image = cache.findInMemory(wanted.query.key, options), image.satisfies(options)
        else { return nil }
        return LoadResult(image: image, cacheType: .memory)
    }

    /// The unprocessed image from the original cache, if that is another cache, with its bytes and the cache metadata
    /// of the response if they are at hand.
    ///
    /// An image in memory comes without them, since the file may be another one by now: it does not count where they
    /// are needed.
    func originalImage(_ wanted: KeyedSource, needsMetadata: Bool = false) async -> Original? {
        let options = wanted.options
        guard !options.forceRefresh, let cache = options.originalCache else { return nil }
        guard cache !== options.targetCache || !options.processor.identifier.isEmpty else { return nil }
        var plain = options
        plain.processor = DefaultImageProcessor.default
        plain.queryCacheLayers = options.originalQueryCacheLayers
        var query = CacheCore.Query(wanted.query.key, plain)
        // A serializer that stores originals needs their bytes, which are on disk only.
        if !needsMetadata, query.layers.contains(.memory), !options.cacheSerializer.originalDataUsed,
            let image = cache.findInMemory(query.key, plain)
        {
            guard let bytes = image.bytes(toDecodeAgainFor: plain) else { return Original(image: image) }
            return (try? await decodedAgain(bytes, plain)).map { Original(image: $0) }
        }
        guard query.layers.contains(.disk) else { return nil }
        (query.layers, query.promotes, query.wantsMetadata) = (.disk, false, true)
        guard case .disk(let image, let bytes, let metadata)? = try? await cache.find(query) else { return nil }
        return Original(image: image, bytes: bytes, metadata: metadata)
    }

    /// Another image of the bytes of an animation in memory.
    func decodedAgain(
        _ bytes: Data,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> KFCrossPlatformImage {
        // Frames that were processed, written and read again are not to be processed twice.
        let processor = options.processor.transformsFrames ? DefaultImageProcessor.default : options.processor
        return try await processor.processed(.data(bytes), options)
    }
}

/// An image as it was loaded, before any processor.
struct Original: Sendable {
    let image: KFCrossPlatformImage
    /// Nil for one that was in memory.
    var bytes: Data?
    var metadata: CacheMetadata?
}

extension KingfisherParsedOptionsInfo {
    /// The serializer's encoding of a cached image, made when it is needed.
    func encoding(of image: KFCrossPlatformImage) -> @Sendable () -> Data? {
        { [cacheSerializer] in cacheSerializer.data(with: image, original: nil) }
    }
}

extension CacheCore.LookupResult {
    /// Where it was found.
    var cacheType: CacheType {
        switch self {
        case .memory: .memory
        case .disk: .disk
        case .nothing, .superseded: .none
        }
    }
}

extension KFCrossPlatformImage {
    /// Whether the image will do as it is.
    func satisfies(_ options: KingfisherParsedOptionsInfo) -> Bool { bytes(toDecodeAgainFor: options) == nil }

    /// The bytes of an animation that was not made as the options want it; nil when the image will do.
    ///
    /// An image that does not say how it was made is as it was meant to be: a still that was stored, or that a
    /// processor gave. Making it anew would give the same, again and again.
    func bytes(toDecodeAgainFor options: KingfisherParsedOptionsInfo) -> Data? {
        guard let frameCount, frameCount != 1, let creatingOptions,
            creatingOptions.sanitized != options.imageCreatingOptions
        else { return nil }
        return animatedData
    }
}
