// Where an image is looked for before it is loaded, and in which order. Knows nothing of loading.

import Foundation
import KFStorage
import KFSupport
import KFTransport

extension KingfisherManager {
    /// Looks in memory: the one time that a load does; never waits and makes no system call.
    func lookInMemory(_ key: String, _ options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        guard !options.forceRefresh, let cache = options.targetCache else { return nil }
        guard cache.isPlain else { return cache.retrieveImageInMemoryCache(forKey: key, options: options) }
        return cache.core.findInMemory(key.computedKey(with: options.processor.identifier), options)
    }

    /// The result of a look-up in memory that found nothing, or an image that was made with other options.
    func look(_ cached: KFCrossPlatformImage?, _ wanted: KeyedSource) -> MemoryLookup {
        guard !wanted.options.forceRefresh, let cache = wanted.options.targetCache else { return .miss(nil) }
        let generation = cache.core.generation(forKey: wanted.query.computedKey)
        return (cached?.bytes(toDecodeAgainFor: wanted.options)).map { .madeWithOtherOptions($0, generation) }
            ?? .miss(generation)
    }

    /// An image that was in memory, as it is delivered.
    func found(
        _ cached: KFCrossPlatformImage,
        _ source: Source,
        _ options: KingfisherParsedOptionsInfo,
        requested: Source
    ) -> RetrieveImageResult {
        let image = options.imageModifier?.modify(cached) ?? cached
        return RetrieveImageResult(
            image: image,
            cacheType: .memory,
            source: source,
            originalSource: requested,
            data: encoding(of: image, options)
        )
    }

    /// What another load has put in memory since `look` missed it there.
    func lookInMemoryAgain(_ wanted: KeyedSource, _ look: MemoryLookup) -> LoadResult? {
        guard case .miss(let generation?) = look, let cache = wanted.options.targetCache,
            cache.core.mayHaveChanged(wanted.query.computedKey, since: generation)
        else { return nil }
        var query = wanted.query
        query.options.countsMemoryMiss = false
        guard let image = cache.findInMemory(query), image.satisfies(query.options) else { return nil }
        return LoadResult(image: image, cacheType: .memory)
    }

    /// What the serializer makes of a cached image, made when it is needed.
    func encoding(of image: KFCrossPlatformImage, _ options: KingfisherParsedOptionsInfo)
        -> @Sendable () -> Data?
    {
        { [serializer = options.cacheSerializer] in serializer.data(with: image, original: nil) }
    }

    /// The result of a look-up on disk.
    enum DiskLookup {
        case found(LoadResult)
        /// There is nothing: no need to look again, unless the key has changed since.
        case nothing(since: MemoryGeneration)
        /// The disk has to be looked at again.
        case undetermined
    }

    /// Looks on disk without leaving the thread, for callers whose options ask for that.
    func lookOnDiskOnThisThread(_ wanted: KeyedSource) async -> DiskLookup {
        let (query, options) = (wanted.query, wanted.options)
        guard !options.forceRefresh, !options.fromMemoryCacheOrRefresh, !options.cacheSerializer.originalDataUsed,
            let cache = options.targetCache
        else { return .undetermined }
        let generation = cache.core.generation(forKey: query.computedKey)
        // An operation that waits may store just what is looked for, and for a load that is not wanted nothing is
        // looked up.
        let isClear = !cache.core.operations.isBusy(query.computedKey) && options.sourceTaskIdentifierChecker == nil
        guard let found = try? await cache.findBelowMemory(query) else { return .undetermined }
        guard let image = found.image else { return isClear ? .nothing(since: generation) : .undetermined }
        guard image.satisfies(options) else { return .undetermined }
        return .found(LoadResult(image: image, cacheType: found.cacheType))
    }

    /// The processed image from the target cache; memory was looked at, and the disk perhaps.
    ///
    /// An unreadable entry or a failing disk is a miss, unless the cache is all there is.
    /// - Throws: ``KingfisherError``; a load that no caller wants ends here.
    func processedImage(
        _ wanted: KeyedSource,
        _ look: MemoryLookup,
        _ channel: LoadChannel,
        notOnDisk: MemoryGeneration? = nil
    ) async throws(KingfisherError) -> LoadResult? {
        let (query, options) = (wanted.query, wanted.options)
        guard !options.forceRefresh, let cache = options.targetCache else { return nil }
        if case .madeWithOtherOptions(let bytes, let generation) = look {
            return try await decodedAgain(bytes, query, cache, generation)
        }
        guard !options.fromMemoryCacheOrRefresh else { return nil }
        // Noted before anything is found: what is removed or stored while that is processed must not come back.
        let generation = cache.core.generation(forKey: query.computedKey)
        if let notOnDisk, generation == notOnDisk { return nil }
        do throws(KingfisherError) {
            return try await onDisk(query, cache, generation, channel)
        } catch .cacheError(let reason) {
            if options.onlyFromCache || channel.isAbandoned { throw .cacheError(reason: reason) }
            return nil
        }
    }

    private func onDisk(
        _ query: CacheCore.Query,
        _ cache: ImageCache,
        _ generation: MemoryGeneration,
        _ channel: LoadChannel
    ) async throws(KingfisherError) -> LoadResult? {
        var (query, options) = (query, query.options)
        query.promotes = !options.cacheSerializer.originalDataUsed
        let found = try await cache.findBelowMemory(query)
        if case .unwanted = found { throw stopped(channel, query.key) }
        guard let image = found.image else { return nil }
        // Stored by another load while this one had to wait for the disk.
        if case .memory = found, let bytes = image.bytes(toDecodeAgainFor: options) {
            return try await decodedAgain(bytes, query, cache, cache.core.generation(forKey: query.computedKey))
        }
        guard !query.promotes else { return LoadResult(image: image, cacheType: found.cacheType) }
        // The entry holds the original bytes: process them once, and keep the result in memory.
        let processed = try await options.processor.processed(.image(image), options)
        cache.core.promote(processed, forKey: query.computedKey, options, ifGeneration: generation)
        return LoadResult(image: processed, cacheType: .disk)
    }

    /// Abandons a load that none of its callers wants, and returns the error it ends with.
    func stopped(_ channel: LoadChannel, _ key: String) -> KingfisherError {
        channel.abandon()
        return .cacheError(reason: .imageNotExisting(key: key))
    }

    /// The unprocessed image from the original cache, if that is another cache, with its bytes and the facts of the
    /// response if they are at hand.
    ///
    /// An image in memory comes without them: the file may be another one by now.
    func originalImage(
        _ wanted: KeyedSource
    ) async -> (image: KFCrossPlatformImage, bytes: Data?, facts: HTTPFacts?)? {
        let options = wanted.options
        guard !options.forceRefresh, let cache = options.originalCache else { return nil }
        guard cache !== options.targetCache || !options.processor.identifier.isEmpty else { return nil }
        var plain = options
        plain.processor = DefaultImageProcessor.default
        plain.countsMemoryMiss = false
        var query = CacheCore.Query(wanted.query.key, plain)
        // A serializer that stores originals needs their bytes, which are on disk only.
        if !options.cacheSerializer.originalDataUsed, let image = cache.findInMemory(query) {
            guard let bytes = image.bytes(toDecodeAgainFor: plain) else { return (image, nil, nil) }
            return (try? await decodedAgain(from: bytes, plain)).map { ($0, nil, nil) }
        }
        guard !options.fromMemoryCacheOrRefresh else { return nil }
        (query.promotes, query.wantsFacts) = (false, true)
        guard case .disk(let image, let bytes, let facts)? = try? await cache.findBelowMemory(query) else { return nil }
        return (image, bytes, facts)
    }

    /// Another image of the bytes of an animation in memory, which it replaces there.
    private func decodedAgain(
        _ bytes: Data,
        _ query: CacheCore.Query,
        _ cache: ImageCache,
        _ generation: MemoryGeneration
    ) async throws(KingfisherError) -> LoadResult {
        let image = try await decodedAgain(from: bytes, query.options)
        cache.core.promote(image, forKey: query.computedKey, query.options, ifGeneration: generation, replacing: true)
        return LoadResult(image: image, cacheType: .memory)
    }

    /// Another image of the bytes of an animation.
    private func decodedAgain(
        from bytes: Data,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> KFCrossPlatformImage {
        // Frames that were processed, written and read again are not to be processed twice.
        let isProcessed = options.processor is EachFrameProcessor
        let processor = isProcessed ? DefaultImageProcessor.default : options.processor
        return try await processor.processed(.data(bytes), options)
    }
}

extension CacheCore.LookupResult {
    /// Where it was found.
    var cacheType: CacheType {
        switch self {
        case .memory: .memory
        case .disk: .disk
        case .nothing, .unwanted: .none
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
