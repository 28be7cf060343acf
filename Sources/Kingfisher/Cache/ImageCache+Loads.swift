// How loads reach a cache: its core, or the methods that a subclass or a group has instead. For the manager.

import Foundation
import KFImaging
import KFSupport

extension ImageCache {
    /// The generation of what is loaded for the cache from now on; of a group, the last one of its caches.
    final var purgeGeneration: UInt64 {
        guard isSubclassed, let group = self as? ImageCacheGroup else { return core.purges.generation }
        return group.caches.map(\.purgeGeneration).max() ?? 0
    }

    /// The image that is in memory, if there is one; does not wait for anything.
    func findInMemory(_ key: String, _ options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        isSubclassed
            ? retrieveImageInMemoryCache(forKey: key, options: options)
            : core.findInMemory(key.computedKey(options), options)
    }

    /// Looks in memory, then on disk.
    ///
    /// A look at the disk alone cannot be overridden in the form that has parsed options.
    func find(
        _ key: String,
        _ options: KingfisherParsedOptionsInfo,
        _ lookup: CacheCore.Lookup
    ) async throws(KingfisherError) -> CacheCore.LookupResult {
        guard isSubclassed else { return try await core.find(key, options, lookup) }
        if let group = self as? ImageCacheGroup {
            return try await group.firstHit { cache throws(KingfisherError) in
                let found = try await cache.find(key, options, lookup)
                if case .nothing = found { return nil }
                return found
            } ?? .nothing
        }
        guard lookup.promotes else {
            var lookup = lookup
            lookup.layers = .disk
            return try await core.find(key, options, lookup)
        }
        switch try await retrieveImage(forKey: key, options: options) {
        case .memory(let image): return .memory(image)
        case .disk(let image): return .disk(image, bytes: Data(), metadata: nil)
        case .none: return options.observer?.isWanted == false ? .superseded : .nothing
        }
    }

    /// Stores an image: in memory before this returns, on disk in the background; then `result` is fulfilled.
    func put(
        _ image: KFCrossPlatformImage,
        original: Data?,
        forKey key: String,
        _ options: KingfisherParsedOptionsInfo,
        toDisk: Bool,
        _ result: Promise<CacheStoreResult>
    ) {
        guard !isSubclassed else {
            return store(image, original: original, forKey: key, options: options, toDisk: toDisk) { result.fulfil($0) }
        }
        let write = core.put(image, original: original, forKey: key.computedKey(options), options, toDisk: toDisk)
        if toDisk {
            _ = Task.immediate { result.fulfil(CacheStoreResult(disk: await write())) }
        } else {
            result.fulfil(CacheStoreResult(disk: .success(())))
        }
    }

    /// Stores bytes on disk as they are, under the plain key.
    ///
    /// A subclass is not given the cache metadata of the response: its method has no parameter for that.
    func putOriginal(
        _ bytes: Data,
        forKey key: String,
        _ options: KingfisherParsedOptionsInfo,
        _ result: Promise<CacheStoreResult>
    ) {
        if let group = self as? ImageCacheGroup {
            _ = Task.immediate {
                result.fulfil(await group.storing { $0.putOriginal(bytes, forKey: key, options, $1) })
            }
            return
        }
        let (type, expiration) = (options.forcedExtension, options.diskCacheExpiration)
        guard !isSubclassed else {
            return storeToDisk(bytes, forKey: key, forcedExtension: type, expiration: expiration) { result.fulfil($0) }
        }
        let write = core.putOnDisk(
            bytes,
            forKey: key,
            type,
            expiration,
            metadata: options.cacheMetadata,
            generation: options.loadGeneration
        )
        _ = Task.immediate { result.fulfil(CacheStoreResult(disk: await write())) }
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
