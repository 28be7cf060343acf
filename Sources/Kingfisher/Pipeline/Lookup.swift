// Where an image is looked for before it is loaded, and in which order. Knows nothing of loading.

import Foundation
import KFStorage
import KFSupport

extension KingfisherManager {
    /// The image if it is in memory, ready to be delivered; never waits and makes no system call.
    func memoryHit(_ source: Source, _ options: KingfisherParsedOptionsInfo, requested: Source? = nil)
        -> RetrieveImageResult?
    {
        guard !options.forceRefresh,
            let cached = options.targetCache?.retrieveImageInMemoryCache(forKey: source.cacheKey, options: options),
            cached.bytes(toBeMadeAnewFor: options) == nil
        else { return nil }
        let image = options.imageModifier?.modify(cached) ?? cached
        return RetrieveImageResult(
            image: image,
            cacheType: .memory,
            source: source,
            originalSource: requested ?? source,
            data: encoding(of: image, options)
        )
    }

    /// What the serializer makes of a cached image, made when somebody asks.
    func encoding(of image: KFCrossPlatformImage, _ options: KingfisherParsedOptionsInfo)
        -> @Sendable () -> Data?
    {
        { [serializer = options.cacheSerializer] in serializer.data(with: image, original: nil) }
    }

    /// What a look at the disk came to.
    enum DiskLook {
        case found(Product)
        /// There is nothing: no need to look again, unless the key has changed since.
        case nothing(since: MemoryGeneration)
        /// One has to look again.
        case unclear
    }

    /// Looks on disk without leaving the thread, for callers that asked for just that.
    func lookOnDiskOnThisThread(_ source: Source, _ options: KingfisherParsedOptionsInfo) -> DiskLook {
        guard !options.forceRefresh, !options.fromMemoryCacheOrRefresh, !options.cacheSerializer.originalDataUsed,
            let cache = options.targetCache
        else { return .unclear }
        let computedKey = source.cacheKey.computedKey(with: options.processor.identifier)
        let generation = cache.generation(forKey: computedKey)
        // What waits for its turn on disk may be just what is looked for, and a load nobody wants looks at nothing.
        let isClear = !cache.order.isBusy(computedKey) && options.sourceTaskIdentifierChecker == nil
        let answer = Locked<ImageCacheResult?>(nil)
        cache.retrieveImage(forKey: source.cacheKey, options: options, callbackQueue: .untouch) { result in
            answer.withLock { $0 = try? result.get() }
        }
        guard let result = answer.withLock({ $0 }) else { return .unclear }
        guard let image = result.image else { return isClear ? .nothing(since: generation) : .unclear }
        guard image.bytes(toBeMadeAnewFor: options) == nil else { return .unclear }
        return .found(Product(image: image, cacheType: result.cacheType))
    }

    /// The processed image from the target cache; not looked for on disk if it was not there, and nothing has changed since.
    ///
    /// An unreadable entry or an ailing disk is a miss, unless the cache is all there is.
    func processedImage(_ source: Source, _ options: KingfisherParsedOptionsInfo, notOnDisk: MemoryGeneration? = nil)
        async throws(KingfisherError) -> Product?
    {
        guard !options.forceRefresh, let cache = options.targetCache else { return nil }
        let key = source.cacheKey
        let computedKey = key.computedKey(with: options.processor.identifier)
        // Marked before anything is found: what is removed or stored while that is processed must not come back.
        let generation = cache.generation(forKey: computedKey)
        if let image = cache.retrieveImageInMemoryCache(forKey: key, options: options) {
            guard let bytes = image.bytes(toBeMadeAnewFor: options) else {
                return Product(image: image, cacheType: .memory)
            }
            let remade = try await remade(from: bytes, options)
            cache.promote(remade, forKey: computedKey, options, ifGeneration: generation, replacing: true)
            return Product(image: remade, cacheType: .memory)
        }
        guard !options.fromMemoryCacheOrRefresh else { return nil }
        if let notOnDisk, !cache.mayHaveChanged(computedKey, since: notOnDisk) { return nil }
        do throws(KingfisherError) {
            guard options.cacheSerializer.originalDataUsed else {
                let result = try await cache.retrieveImage(forKey: key, options: options)
                return result.image.map { Product(image: $0, cacheType: result.cacheType) }
            }
            // The entry holds the original bytes: process them once, and keep the result in memory.
            guard let original = try await cache.retrieveImageInDiskCache(forKey: key, options: options) else {
                return nil
            }
            let image = try await options.processor.processed(.image(original), options)
            cache.promote(image, forKey: computedKey, options, ifGeneration: generation)
            return Product(image: image, cacheType: .disk)
        } catch .cacheError(let reason) {
            if options.onlyFromCache { throw .cacheError(reason: reason) }
            return nil
        }
    }

    /// The unprocessed image from the original cache, if that is another place to look, with its bytes and what the
    /// server said of them if they are at hand.
    ///
    /// What is in memory comes with neither: the file may be another one by now.
    func originalImage(
        _ source: Source,
        _ options: KingfisherParsedOptionsInfo
    ) async -> (image: KFCrossPlatformImage, bytes: Data?, facts: HTTPFacts?)? {
        guard !options.forceRefresh, let cache = options.originalCache else { return nil }
        guard cache !== options.targetCache || !options.processor.identifier.isEmpty else { return nil }
        var plain = options
        plain.processor = DefaultImageProcessor.default
        let key = source.cacheKey
        // A serializer that stores originals needs their bytes, which are on disk only.
        if !options.cacheSerializer.originalDataUsed,
            let image = cache.retrieveImageInMemoryCache(forKey: key, options: plain)
        {
            guard let bytes = image.bytes(toBeMadeAnewFor: plain) else { return (image, nil, nil) }
            return (try? await remade(from: bytes, plain)).map { ($0, nil, nil) }
        }
        guard !options.fromMemoryCacheOrRefresh else { return nil }
        return (try? await cache.findOnDiskWithFacts(key, plain)).flatMap { $0 }.map { ($0.image, $0.bytes, $0.facts) }
    }

    /// Another image of the bytes of an animation.
    private func remade(
        from bytes: Data,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> KFCrossPlatformImage {
        // Frames that were processed, written and read again are not to be processed twice.
        let isProcessed = options.processor is EachFrameProcessor
        let processor = isProcessed ? DefaultImageProcessor.default : options.processor
        return try await processor.processed(.data(bytes), options)
    }
}

extension KFCrossPlatformImage {
    /// The bytes of an animation that was not made as the options want it; nil when the image will do.
    ///
    /// An image that does not say how it was made is what somebody wanted it to be: a still that was stored, or that a
    /// processor gave. Making it anew would give the same, again and again.
    fileprivate func bytes(toBeMadeAnewFor options: KingfisherParsedOptionsInfo) -> Data? {
        guard let frameCount, frameCount != 1, let creatingOptions,
            creatingOptions.settled != options.imageCreatingOptions
        else { return nil }
        return animatedData
    }
}
