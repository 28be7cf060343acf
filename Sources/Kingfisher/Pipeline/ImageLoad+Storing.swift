// How an image that was made is stored: once for all loads that want the same entry, if its response allows it. The
// last step of a load.

import Foundation
import FoundationNetworking
import KFStorage
import KFSupport
import KFTransport

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
        let (entry, isFirst) = bytes.entries.claim(task.key.stored)
        loaded.storing = entry
        if isFirst {
            store(loaded, keepsOriginal: true, in: cache, result: entry)
        } else {
            // An image is in memory when it is delivered; the load that stores it may not have come to that yet.
            var options = options
            options.limitMemoryExpiry(of: image, to: loaded.metadata, in: cache)
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
        options.load.cacheMetadata = loaded.metadata
        options.limitMemoryExpiry(of: image, to: loaded.metadata, in: cache)
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
            originalCache.putOriginal(bytes, forKey: plan.key.source, options, original)
        } else {
            original.fulfil(CacheStoreResult(disk: .success(())))
        }
        // What is stored or removed while the original is decoded must not be undone by it.
        let caches = originalCache.storingCaches.map { ($0, $0.core.version(forKey: plan.key.source)) }
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
        in caches: [(ImageCache, CacheCore.Version)]
    ) async {
        guard let image = try? await options.processor.processed(.data(bytes), options) else { return }
        var options = options
        options.storeCacheLayers = .memory
        for (cache, version) in caches {
            options.limitMemoryExpiry(of: image, to: options.load.cacheMetadata, in: cache)
            cache.core.promote(image, forKey: plan.key.source, options, ifVersion: version, replacing: true)
        }
    }
}

extension KingfisherParsedOptionsInfo {
    /// Whether a response may be stored.
    ///
    /// - Parameters:
    ///   - metadata: What it says about caching.
    ///   - isPersonal: Whether credentials were sent for it.
    ///   - redirects: The responses that redirected to it; the metadata has only those that say something.
    /// - Returns: Whether it may; one that is stored already may stay.
    func mayStore(
        _ metadata: CacheMetadata?,
        isPersonal: Bool = false,
        redirects: [HTTPURLResponse] = []
    ) -> Bool {
        guard respectCacheControl else { return true }
        if isPersonal, isCacheShared, redirects.contains(where: { !$0.isForEveryone }) { return false }
        guard let metadata else { return !isPersonal || !isCacheShared }
        return metadata.chain.allSatisfy { response in
            let control = CacheControl(response.cacheControl, isShared: isCacheShared)
            return !control.noStore && (!isPersonal || !isCacheShared || control.isForEveryone)
        }
    }

    /// Limits the time in memory to the time for which the server need not be asked.
    ///
    /// The end is a fixed date, which using the image does not move: a later load reads from it whether the image is
    /// fresh. An image that depends on the request (`Vary`) is marked, and stays out of memory if a modifier has
    /// changed the request: images in memory are for requests without modifiers.
    mutating func limitMemoryExpiry(of image: KFCrossPlatformImage, to metadata: CacheMetadata?, in cache: ImageCache) {
        // Who sends files on may look at what is missing, and has nothing of keeping it.
        if load.encoding != nil, image.isDamaged, !cacheDamagedImages { return memoryCacheExpiration = .expired }
        guard respectCacheControl else { return }
        if metadata?.variesWithRequest == true {
            guard requestModifier == nil else { return memoryCacheExpiration = .expired }
            image.updateMetadata { $0.variesWithRequest = true }
        }
        if load.encoding != nil { image.updateMetadata { $0.encoded?.response = metadata } }
        let usual = memoryCacheExpiration ?? cache.memoryStorage.config.expiration
        let now = Date()
        // An entry without metadata has no server.
        var freshUntil = metadata == nil ? .distantFuture : freshUntil(metadata)
        // With a tier, an image that is used often is asked for on disk before that: there it may be made anew early.
        if cache.core.tier != nil, let metadata, freshUntil > now {
            freshUntil -= metadata.earlyBy(chance: .random(in: 0...1))
        }
        let end = min(usual.estimatedExpiration(since: now), freshUntil)
        // The clock of the memory storage is a little behind: an image that is never fresh would be fresh for a moment.
        memoryCacheExpiration = freshUntil > now ? .date(end) : .expired
    }
}

extension KingfisherManager {
    /// Removes the cached copies of an image that must not be stored.
    func remove(_ plan: LoadPlan) {
        let options = plan.options
        for cache in [options.targetCache, options.cacheForOriginals].compactMap(\.self).flatMap(\.storingCaches) {
            for key in Set([plan.key.computed, plan.key.source]) {
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
