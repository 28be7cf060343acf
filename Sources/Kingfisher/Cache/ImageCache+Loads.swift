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
    func findInMemory(_ key: EntryKey, _ options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        isSubclassed
            ? retrieveImageInMemoryCache(forKey: key.source, options: options)
            : core.findInMemory(key.computed, options)
    }

    /// The image on disk, and in memory if the look-up says so; else the original that it can be made of.
    func find(
        _ key: EntryKey,
        _ options: KingfisherParsedOptionsInfo,
        _ lookup: CacheCore.Lookup
    ) async throws(KingfisherError) -> CacheCore.LookupResult {
        let found = await Result { () async throws(KingfisherError) in try await findImage(key, options, lookup) }
        guard let wanted = lookup.original, found.allowsOriginal,
            let original = await options.cacheForOriginals?.findOriginal(of: key, options, wanted)
        else { return try found.get() }
        return .found(original)
    }

    /// A look at the disk alone cannot be overridden in the form that has parsed options.
    private func findImage(
        _ key: EntryKey,
        _ options: KingfisherParsedOptionsInfo,
        _ lookup: CacheCore.Lookup
    ) async throws(KingfisherError) -> CacheCore.LookupResult {
        guard isSubclassed else { return try await core.find(key, options, lookup) }
        if let group = self as? ImageCacheGroup {
            return try await group.firstHit { cache throws(KingfisherError) in
                let found = try await cache.findImage(key, options, lookup)
                if case .nothing = found { return nil }
                return found
            } ?? .nothing
        }
        guard lookup.promotes else {
            var lookup = lookup
            lookup.layers = .disk
            return try await core.find(key, options, lookup)
        }
        let result = try await retrieveImage(forKey: key.source, options: options)
        if let image = result.image { return .found(CachedImage(image, from: result.cacheType)) }
        return options.load.observer?.isWanted == false ? .superseded : .nothing
    }

    /// The original image, from disk with its bytes and their cache metadata.
    ///
    /// An image in memory comes without them, since the file may be another one by now.
    private func findOriginal(
        of key: EntryKey,
        _ options: KingfisherParsedOptionsInfo,
        _ wanted: CacheCore.OriginalLookup
    ) async -> CachedImage? {
        var options = options
        options.processor = DefaultImageProcessor.default
        let key = EntryKey(key.source, options)
        if wanted.layers.contains(.memory), let image = findInMemory(key, options) {
            return CachedImage(image, from: .memory, isOriginal: true)
        }
        guard wanted.layers.contains(.disk) else { return nil }
        var lookup = CacheCore.Lookup(layers: .disk, promotes: false, wantsMetadata: true)
        lookup.asksTier = wanted.asksTier
        guard case .found(var cached)? = try? await findImage(key, options, lookup), !cached.isInvalidated else {
            return nil
        }
        cached.isOriginal = true
        return cached
    }

    /// Stores an image: in memory before this returns, on disk in the background; then `result` is fulfilled.
    func put(
        _ image: KFCrossPlatformImage,
        original: Data?,
        forKey key: EntryKey,
        _ options: KingfisherParsedOptionsInfo,
        toDisk: Bool,
        _ result: Promise<CacheStoreResult>
    ) {
        guard !isSubclassed else {
            return store(image, original: original, forKey: key.source, options: options, toDisk: toDisk) {
                result.fulfil($0)
            }
        }
        let write = core.put(image, original: original, forKey: key.computed, options, toDisk: toDisk)
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
            metadata: options.load.cacheMetadata,
            generation: options.load.generation
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

extension Result<CacheCore.LookupResult, KingfisherError> {
    /// Whether an original is looked for: there is no image, or none that can be read.
    fileprivate var allowsOriginal: Bool {
        switch self {
        case .success(.nothing), .failure(.cacheError): true
        default: false
        }
    }
}
