// How an image that was made is stored: once for all loads that want the same entry. The last step of a load.

import Foundation
import KFSupport
import KFTransport

extension KingfisherManager {
    /// Stores an image that was made of loaded bytes.
    func stored(
        _ image: KFCrossPlatformImage,
        of bytes: LoadedBytes,
        for wanted: KeyedSource,
        metadata: CacheMetadata? = nil
    ) -> LoadResult {
        var loaded = LoadResult(image: image, cacheType: .none, data: bytes.data, metrics: bytes.metrics)
        let metadata = metadata ?? bytes.response.flatMap { CacheMetadata($0) }
        loaded.metadata = metadata
        guard let cache = wanted.options.targetCache else { return loaded }
        if wanted.options.respectCacheControl, metadata?.forbidsStoring == true {
            remove(wanted)
            return loaded
        }
        let key = StoreKey(wanted.query)
        let (entry, isFirst) = bytes.entries.claim(key)
        loaded.storing = entry
        if isFirst {
            store(image, of: bytes.data, metadata: metadata, for: wanted, keepsOriginal: true, in: cache, result: entry)
        } else {
            // An image is in memory when it is delivered; the load that stores it may not have come to that yet.
            var query = wanted.query
            query.options.limitMemory(to: metadata, in: cache)
            cache.put(image, original: nil, query, toDisk: false, Promise())
        }
        return loaded
    }

    /// Stores an image: in memory now, on disk in the background, and then fulfils the promise.
    func store(
        _ image: KFCrossPlatformImage,
        of bytes: Data?,
        metadata: CacheMetadata?,
        for wanted: KeyedSource,
        keepsOriginal: Bool,
        in cache: ImageCache,
        result stored: Promise<CacheStoreResult>
    ) {
        var query = wanted.query
        let options = query.options
        // Others may have joined, and do not wait for the queue of the first one.
        query.options.callbackQueue = .untouch
        query.options.hooks.cacheMetadata = metadata
        query.options.limitMemory(to: metadata, in: cache)
        // A serializer that keeps originals has nothing to keep without them: its entry would be processed twice.
        let toDisk = !options.cacheMemoryOnly && (bytes != nil || !options.cacheSerializer.originalDataUsed)
        let isOriginalWanted = keepsOriginal && options.cacheOriginalImage && !options.processor.identifier.isEmpty
        guard isOriginalWanted, let bytes, let originalCache = options.originalCache else {
            return cache.put(image, original: bytes, query, toDisk: toDisk, stored)
        }
        let (processed, original) = (Promise<CacheStoreResult>(), Promise<CacheStoreResult>())
        cache.put(image, original: bytes, query, toDisk: toDisk, processed)
        originalCache.putOriginal(bytes, query, original)
        Task {
            let results = (await processed.value, await original.value)
            if case .failure = results.0.diskCacheResult { stored.fulfil(results.0) } else { stored.fulfil(results.1) }
        }
    }
}

extension CacheMetadata {
    /// The cache metadata of a response; nil if it says nothing about how long its bytes are valid.
    init?(_ response: TransportResponse) {
        guard (200..<300).contains(response.statusCode ?? 0) else { return nil }
        self.init(url: response.url) { response.value(forHTTPHeaderField: $0) }
        guard eTag != nil || lastModified != nil || cacheControl != nil || expires != nil else { return nil }
    }
}
