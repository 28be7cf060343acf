// How an image that was made is stored: once for all loads that want the same entry. The last step of a load.

import Foundation
import KFStorage
import KFSupport
import KFTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ImageLoad {
    /// Stores an image that was made of loaded bytes.
    func stored(_ image: KFCrossPlatformImage, of bytes: LoadedBytes) -> LoadedImage {
        let options = plan.options
        var loaded = LoadedImage(image, from: .none)
        loaded.data = bytes.data
        var metadata = options.unstatedFreshness == nil ? bytes.cacheMetadata : bytes.metadataOfResponse
        if options.targetCache?.core.tier != nil { metadata?.makingTime = (ContinuousClock.now - start).inSeconds }
        loaded.describe { ($0.metrics, $0.cacheMetadata) = (bytes.metrics, metadata) }
        guard let cache = options.targetCache else { return loaded }
        let redirects = bytes.response?.redirects ?? []
        guard options.mayStore(loaded.metadata, isPersonal: bytes.isPersonal, redirects: redirects) else {
            manager.remove(plan)
            return loaded
        }
        let (entry, isFirst) = bytes.entries.claim(plan.entryIdentity)
        loaded.storing = entry
        if isFirst {
            store(loaded, keepsOriginal: true, in: cache, result: entry)
        } else {
            // An image is in memory when it is delivered; the load that stores it may not have come to that yet.
            var options = options
            options.loadGeneration = plan.generation
            options.limitMemory(of: image, to: loaded.metadata, in: cache)
            cache.put(image, original: nil, forKey: plan.key, options, toDisk: false, Promise())
        }
        return loaded
    }

    /// Stores an image: in memory now, on disk in the background, and then fulfils the promise.
    func store(
        _ loaded: LoadedImage,
        keepsOriginal: Bool,
        in cache: ImageCache,
        result stored: Promise<CacheStoreResult>
    ) {
        var options = plan.options
        let (image, bytes) = (loaded.image, loaded.data)
        // Others may have joined, and do not wait for the queue of the first one.
        options.callbackQueue = .untouch
        options.cacheMetadata = loaded.metadata
        options.loadGeneration = plan.generation
        options.limitMemory(of: image, to: loaded.metadata, in: cache)
        // A serializer that keeps originals has nothing to keep without them: its entry would be processed twice.
        let isForDisk = !image.isDamaged || options.cacheDamagedImages
        let toDisk =
            isForDisk && options.layersToStore.contains(.disk)
            && (bytes != nil || !options.cacheSerializer.originalDataUsed)
        var originalLayers = keepsOriginal ? plan.layersToStoreForOriginal : []
        if !isForDisk { originalLayers.remove(.disk) }
        guard !originalLayers.isEmpty, let bytes, let originalCache = options.cacheForOriginals else {
            return cache.put(image, original: bytes, forKey: plan.key, options, toDisk: toDisk, stored)
        }
        let processed = Promise<CacheStoreResult>()
        cache.put(image, original: bytes, forKey: plan.key, options, toDisk: toDisk, processed)
        let original = Promise<CacheStoreResult>()
        options.processor = DefaultImageProcessor.default
        if originalLayers.contains(.disk) {
            originalCache.putOriginal(bytes, forKey: plan.key, options, original)
        } else {
            original.fulfil(CacheStoreResult(disk: .success(())))
        }
        // What is stored or removed while the original is decoded must not be undone by it.
        let caches = originalCache.storingCaches.map { ($0, $0.core.generation(forKey: plan.key)) }
        Task { [options] in
            if originalLayers.contains(.memory) { await keepOriginalInMemory(bytes, options, in: caches) }
            let results = (await processed.value, await original.value)
            if case .failure = results.0.diskCacheResult { stored.fulfil(results.0) } else { stored.fulfil(results.1) }
        }
    }

    /// Decodes an original for memory; bytes that only the processor can read have no image of their own.
    private func keepOriginalInMemory(
        _ bytes: Data,
        _ options: KingfisherParsedOptionsInfo,
        in caches: [(ImageCache, CacheCore.Generation)]
    ) async {
        guard let image = try? await options.processor.processed(.data(bytes), options) else { return }
        var options = options
        options.storeCacheLayers = .memory
        for (cache, generation) in caches {
            options.limitMemory(of: image, to: options.cacheMetadata, in: cache)
            cache.core.promote(image, forKey: plan.key, options, ifGeneration: generation, replacing: true)
        }
    }
}

extension KingfisherManager {
    /// Removes what is cached of an image that must not be stored.
    func remove(_ plan: LoadPlan) {
        let options = plan.options
        for cache in [options.targetCache, options.cacheForOriginals].compactMap(\.self).flatMap(\.storingCaches) {
            for key in Set([plan.computedKey, plan.key]) {
                let work = cache.core.remove(key, options.forcedExtension, memory: true, disk: true)
                Task { await work() }
            }
        }
    }
}

extension LoadedBytes {
    /// What the response says about caching, if it says anything.
    var cacheMetadata: CacheMetadata? { response.flatMap { CacheMetadata($0, to: request) } }

    /// The same, which is at least when the response came.
    fileprivate var metadataOfResponse: CacheMetadata? {
        guard let response, (200..<300).contains(response.statusCode ?? 0) else { return nil }
        return CacheMetadata(of: response, to: request)
    }
}

extension CacheMetadata {
    /// The cache metadata of a response; nil if it says nothing about how long its bytes are valid.
    init?(_ response: TransportResponse, to request: URLRequest?) {
        guard (200..<300).contains(response.statusCode ?? 0) else { return nil }
        self.init(of: response, to: request)
        guard
            eTag != nil || lastModified != nil || cacheControl != nil || expires != nil || vary != nil
                || !redirects.isEmpty
        else { return nil }
    }

    /// The cache metadata of a response and of the redirects that led to it.
    init(of response: TransportResponse, to request: URLRequest?) {
        // Not where a redirect led to: the next load requests the same URL as this one.
        self.init(url: request?.url ?? response.url, request: request) { response.value(forHTTPHeaderField: $0) }
        redirects = response.redirects.compactMap { CacheMetadata(redirect: $0, to: request, storedAt: storedAt) }
    }
}
