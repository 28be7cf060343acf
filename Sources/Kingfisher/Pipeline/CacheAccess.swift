// How loads reach a cache: its core, or the methods a subclass may have overridden. For the manager.

import Foundation
import KFSupport

extension ImageCache {
    /// The image that is in memory, if there is one; does not wait for anything.
    func findInMemory(_ key: String, _ options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        isSubclassed
            ? retrieveImageInMemoryCache(forKey: key, options: options)
            : core.findInMemory(key.computedKey(with: options.processor.identifier), options)
    }

    /// Looks in memory, then on disk.
    ///
    /// A look at the disk alone cannot be overridden in the form that has parsed options.
    func find(_ query: CacheCore.Query) async throws(KingfisherError) -> CacheCore.LookupResult {
        if let group = self as? ImageCacheGroup {
            return try await group.firstHit { cache throws(KingfisherError) in
                let found = try await cache.find(query)
                if case .nothing = found { return nil }
                return found
            } ?? .nothing
        }
        var query = query
        let options = query.options
        if isSubclassed, !query.promotes { query.layers = .disk }
        guard isSubclassed, query.promotes else { return try await core.find(query) }
        switch try await retrieveImage(forKey: query.key, options: options) {
        case .memory(let image): return .memory(image)
        case .disk(let image): return .disk(image, bytes: Data(), metadata: nil)
        case .none: return options.observer?.isWanted == false ? .superseded : .nothing
        }
    }

    /// Stores an image: in memory before this returns, on disk in the background; then `result` is fulfilled.
    func put(
        _ image: KFCrossPlatformImage,
        original: Data?,
        _ query: CacheCore.Query,
        toDisk: Bool,
        _ result: Promise<CacheStoreResult>
    ) {
        let (key, options) = (query.key, query.options)
        guard !isSubclassed else {
            return store(image, original: original, forKey: key, options: options, toDisk: toDisk) { result.fulfil($0) }
        }
        let write = core.put(image, original: original, forKey: query.computedKey, options, toDisk: toDisk)
        if toDisk {
            _ = Task.immediate { result.fulfil(CacheStoreResult(disk: await write())) }
        } else {
            result.fulfil(CacheStoreResult(disk: .success(())))
        }
    }

    /// Stores bytes on disk as they are, under the plain key.
    ///
    /// A subclass is not given the cache metadata of the response: its method has no parameter for that.
    func putOriginal(_ bytes: Data, _ query: CacheCore.Query, _ result: Promise<CacheStoreResult>) {
        if let group = self as? ImageCacheGroup {
            _ = Task.immediate { result.fulfil(await group.storing { $0.putOriginal(bytes, query, $1) }) }
            return
        }
        let (options, key) = (query.options, query.key)
        let (type, expiration) = (options.forcedExtension, options.diskCacheExpiration)
        guard !isSubclassed else {
            return storeToDisk(bytes, forKey: key, forcedExtension: type, expiration: expiration) { result.fulfil($0) }
        }
        let write = core.putOnDisk(bytes, forKey: key, type, expiration, metadata: options.cacheMetadata)
        _ = Task.immediate { result.fulfil(CacheStoreResult(disk: await write())) }
    }
}
