// How an image is made when memory does not have it: disk, original, download; then stored. Runs once for all who wait.

import Foundation
import KFStorage
import KFSupport
import KFTransport

extension KingfisherManager {
    /// Cache, else fetch, process and cache; `notOnDisk` when whoever began this has just looked there for what he wants.
    func produce(
        _ source: Source,
        _ options: KingfisherParsedOptionsInfo,
        _ channel: LoadChannel,
        notOnDisk: MemoryGeneration? = nil
    ) async throws(KingfisherError) -> Product {
        let found = await ImageCache.$isLookingAgain.withValue(true) {
            await Result { () async throws(KingfisherError) in
                try await processedImage(source, options, notOnDisk: notOnDisk)
            }
        }
        // Where caches are all there is, one that cannot be read is an error, unless the original is there all the same.
        var trouble: KingfisherError?
        do throws(KingfisherError) {
            if let product = try found.get() { return product }
        } catch .cacheError(let reason) {
            trouble = .cacheError(reason: reason)
        }
        if let product = try await processedOriginal(source, options) { return product }
        guard !options.onlyFromCache else {
            throw trouble ?? .cacheError(reason: .imageNotExisting(key: source.cacheKey))
        }

        // Nobody wants it any more: nothing is begun.
        guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
        let loaded: ImageLoadingResult
        do throws(KingfisherError) {
            loaded = try await fetch(source, options, channel)
        } catch {
            guard error.isNotModified, let kept = try await confirmed(source, options) else { throw error }
            return kept
        }
        let data = loaded.originalData
        let product = Product(image: loaded.image, cacheType: .none, data: data, metrics: loaded.metrics)
        let keepsOriginal = options.cacheOriginalImage && !options.processor.identifier.isEmpty
        let facts = loaded.response.flatMap { HTTPFacts($0) }
        return store(product, bytes: data, facts: facts, keepsOriginal: keepsOriginal, source, options)
    }

    /// The image made of the original in the original cache, if there is one, and stored.
    private func processedOriginal(_ source: Source, _ options: KingfisherParsedOptionsInfo)
        async throws(KingfisherError) -> Product?
    {
        guard let original = await originalImage(source, options) else { return nil }
        let image = try await options.processor.processed(.image(original.image), options)
        let product = Product(image: image, cacheType: .none, data: original.bytes)
        let (bytes, facts) = (original.bytes, original.facts)
        return store(product, bytes: bytes, facts: facts, keepsOriginal: false, source, options)
    }

    /// What the caches have of something that the server says is as it was; also for loads that did not look there first.
    private func confirmed(_ source: Source, _ options: KingfisherParsedOptionsInfo)
        async throws(KingfisherError) -> Product?
    {
        var options = options
        options.forceRefresh = false
        options.fromMemoryCacheOrRefresh = false
        let found = await ImageCache.$isLookingAgain.withValue(true) { [options] in
            await Result { () async throws(KingfisherError) in try await processedImage(source, options) }
        }
        guard var product = try found.get() else { return try await processedOriginal(source, options) }
        product.isConfirmed = true
        return product
    }

    private func fetch(_ source: Source, _ options: KingfisherParsedOptionsInfo, _ channel: LoadChannel)
        async throws(KingfisherError) -> ImageLoadingResult
    {
        switch source {
        case .network(let resource): return try await download(resource.downloadURL, options, channel)
        case .provider(let provider):
            channel.begin(.provider)
            let data = try await bytes(of: provider)
            let image = try await options.processor.processed(.data(data), options)
            return ImageLoadingResult(image: image, originalData: data)
        }
    }

    private func download(_ url: URL, _ options: KingfisherParsedOptionsInfo, _ channel: LoadChannel)
        async throws(KingfisherError) -> ImageLoadingResult
    {
        var options = options
        options.onDataReceived = { channel.report($0, of: $1) }
        options.onTransferStarted = { channel.begin(.transfer($0, $1)) }
        return try await (options.downloader ?? downloader).downloadImage(with: url, options: options)
    }

    func bytes(of provider: any ImageDataProvider) async throws(KingfisherError) -> Data {
        let result = await WorkExecutor.io.run { () async -> Result<Data, any Error> in
            do { return .success(try await provider.data()) } catch { return .failure(error) }
        }
        switch result {
        case .success(let data): return data
        case .failure(is CancellationError): throw .requestError(reason: .dataProviderCancelled(provider: provider))
        case .failure(let error):
            throw .imageSettingError(reason: .dataProviderError(provider: provider, error: error))
        }
    }

    /// Stores what was made: in memory now, on disk in its own time.
    private func store(
        _ product: Product,
        bytes: Data?,
        facts: HTTPFacts? = nil,
        keepsOriginal: Bool,
        _ source: Source,
        _ options: KingfisherParsedOptionsInfo
    ) -> Product {
        guard let cache = options.targetCache else { return product }
        let key = source.cacheKey
        let stored = Promise<CacheStoreResult>()
        // A serializer that keeps originals has nothing to keep without them: its entry would be processed twice.
        let toDisk = !options.cacheMemoryOnly && (bytes != nil || !options.cacheSerializer.originalDataUsed)
        // Others may have joined, and do not wait for the queue of the one who came first.
        var options = options
        options.callbackQueue = .untouch
        cache.store(
            product.image,
            original: bytes,
            forKey: key,
            options: options,
            toDisk: toDisk,
            httpFacts: facts
        ) { stored.keep($0) }

        let originalStored = Promise<CacheStoreResult>()
        if keepsOriginal, let bytes, let originalCache = options.originalCache {
            originalCache.storeToDisk(
                bytes,
                forKey: key,
                forcedExtension: options.forcedExtension,
                expiration: options.diskCacheExpiration,
                httpFacts: facts
            ) { originalStored.keep($0) }
        } else {
            originalStored.keep(CacheStoreResult(disk: .success(())))
        }
        var product = product
        product.storing = Task {
            let (image, original) = (await stored.value, await originalStored.value)
            if case .failure = image.diskCacheResult { return image }
            return original
        }
        return product
    }
}

extension HTTPFacts {
    /// What a response says about the bytes that came with it; nil if it says nothing about how long they are good.
    fileprivate init?(_ response: TransportResponse) {
        guard (200..<300).contains(response.statusCode ?? 0) else { return nil }
        self.init(url: response.url) { response.value(forHTTPHeaderField: $0) }
        guard eTag != nil || lastModified != nil || cacheControl != nil || expires != nil else { return nil }
    }
}
