// Several caches that are used as one. For users, and for the manager, which looks through it to its caches.

public import Foundation
import KFSupport

/// Several caches in one, such as one for all users and one for the current one. (Not in Kingfisher.)
///
/// It is used wherever a cache is, such as ``KingfisherManager/cache``. A policy for each kind of operation says which
/// of the caches it reaches. A group without caches has nothing, and its operations succeed at once. The caches keep
/// their own limits, lifetimes and cleaning.
///
/// The group stores nothing itself: its ``ImageCache/memoryStorage`` keeps nothing and its ``ImageCache/diskStorage``
/// makes no directory. So do not use these, nor the functions that look into them and are no part of the group's:
/// ``ImageCache/statistics``, ``ImageCache/diskEntries()``, `cacheMetadata`, `updateCacheMetadata`, `hash`,
/// `cachePath`, ``ImageCache/enteredBackground()`` and `willTerminate`. Call them on its caches. Images that are
/// processed each time they are read from disk (``CacheSerializer/originalDataUsed``) do not get to memory, and loads
/// with ``KingfisherParsedOptionsInfo/respectCacheControl`` look on disk each time.
///
/// A group must not contain itself, not in another group either. May be used from any thread.
public final class ImageCacheGroup: ImageCache,
    // SAFETY: all its own state is in a Locked; the rest is as in its superclass.
    @unchecked Sendable
{
    struct State: Sendable {
        /// The highest priority first.
        var caches: [ImageCache]
        var query = Policy.serial
        var store = Policy.highestOnly
        var remove = Policy.concurrent
        var contains = Policy.serial
        var clear = Policy.concurrent
    }

    let state: Locked<State>

    /// Creates a group.
    /// - Parameters:
    ///   - caches: The caches, the one with the lowest priority first.
    ///   - name: The group's name; must not be empty.
    public init(_ caches: [ImageCache], name: String) {
        precondition(!name.isEmpty, "A group of caches needs a name.")
        state = Locked(State(caches: caches.reversed()))
        super.init(
            memoryStorage: MemoryStorage.Backend(config: MemoryStorage.Config(totalCostLimit: 1, cleanInterval: 0)),
            diskStorage: DiskStorage.Backend(
                noThrowConfig: DiskStorage.Config(name: "group.\(name)", sizeLimit: 0),
                creatingDirectory: false
            )
        )
        diskCleanInterval = 0  // the caches clean themselves
    }

    // MARK: What caches do

    /// Stores an image in the caches of ``storePolicy``; the result is the first failure if there is one.
    public override func store(
        _ image: KFCrossPlatformImage,
        original: Data? = nil,
        forKey key: String,
        options: KingfisherParsedOptionsInfo,
        toDisk: Bool = true,
        completionHandler: (@Sendable (CacheStoreResult) -> Void)? = nil
    ) {
        var direct = options
        direct.callbackQueue = .untouch
        report(to: completionHandler, on: options.callbackQueue) { [self, direct] in
            await storing { cache, done in
                cache.store(image, original: original, forKey: key, options: direct, toDisk: toDisk) { done.fulfil($0) }
            }
        }
    }

    /// Stores bytes on the disks of ``storePolicy``; the result is the first failure if there is one.
    @_disfavoredOverload
    public override func storeToDisk(
        _ data: Data,
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil,
        expiration: StorageExpiration? = nil,
        callbackQueue: CallbackQueue = .untouch,
        completionHandler: (@Sendable (CacheStoreResult) -> Void)? = nil
    ) {
        report(to: completionHandler, on: callbackQueue) { [self] in
            await storing { cache, result in
                cache.storeToDisk(
                    data,
                    forKey: key,
                    processorIdentifier: identifier,
                    forcedExtension: forcedExtension,
                    expiration: expiration
                ) { result.fulfil($0) }
            }
        }
    }

    /// Removes an image from the caches of ``removePolicy``.
    @_disfavoredOverload
    public override func removeImage(
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil,
        fromMemory: Bool = true,
        fromDisk: Bool = true,
        callbackQueue: CallbackQueue = .untouch,
        completionHandler: (@Sendable () -> Void)? = nil
    ) {
        finish(with: completionHandler, on: callbackQueue) { [self] in
            _ = await outcomes(removePolicy) { cache, removed in
                cache.removeImage(
                    forKey: key,
                    processorIdentifier: identifier,
                    forcedExtension: forcedExtension,
                    fromMemory: fromMemory,
                    fromDisk: fromDisk
                ) { removed.fulfil(()) }
            }
        }
    }

    /// Removes an image from the caches of ``removePolicy``; throws the first error once all are done.
    public override func removeImage(
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil,
        fromMemory: Bool = true,
        fromDisk: Bool = true
    ) async throws(KingfisherError) {
        let results = await outcomes(removePolicy) { cache, removed in
            _ = Task.immediate {
                let result = await Result { () async throws(KingfisherError) in
                    try await cache.removeImage(
                        forKey: key,
                        processorIdentifier: identifier,
                        forcedExtension: forcedExtension,
                        fromMemory: fromMemory,
                        fromDisk: fromDisk
                    )
                }
                removed.fulfil(result)
            }
        }
        for result in results { try result.get() }
    }

    /// Looks an image up in the caches of ``queryPolicy``: in the memory of all, then in one after the other.
    public override func retrieveImage(
        forKey key: String,
        options: KingfisherParsedOptionsInfo,
        callbackQueue: CallbackQueue = .default,
        completionHandler: (@Sendable (Result<ImageCacheResult, KingfisherError>) -> Void)?
    ) {
        guard let completionHandler else { return }
        if options.queryCacheLayers.contains(.memory),
            let image = retrieveImageInMemoryCache(forKey: key, options: options)
        {
            return callbackQueue.execute { completionHandler(.success(.memory(image))) }
        }
        report(to: completionHandler, on: callbackQueue) { [self] in
            await Result { () async throws(KingfisherError) in
                try await firstHit { cache throws(KingfisherError) in
                    let result = try await cache.retrieveImage(forKey: key, options: options)
                    return result.cacheType.cached ? result : nil
                } ?? .none
            }
        }
    }

    /// The image that is in the memory of the caches of ``queryPolicy``.
    public override func retrieveImageInMemoryCache(
        forKey key: String,
        options: KingfisherParsedOptionsInfo
    ) -> KFCrossPlatformImage? {
        reached(by: queryPolicy).lazy.compactMap { $0.retrieveImageInMemoryCache(forKey: key, options: options) }.first
    }

    /// Looks an image up on the disks of the caches of ``queryPolicy``.
    public override func retrieveImageInDiskCache(
        forKey key: String,
        options: KingfisherOptionsInfo? = nil,
        callbackQueue: CallbackQueue = .untouch,
        completionHandler: @escaping @Sendable (Result<KFCrossPlatformImage?, KingfisherError>) -> Void
    ) {
        report(to: completionHandler, on: callbackQueue) { [self] in
            await Result { () async throws(KingfisherError) in
                try await firstHit { cache throws(KingfisherError) in
                    try await cache.retrieveImageInDiskCache(forKey: key, options: options)
                }
            }
        }
    }

    /// Where an image is: in the first of the caches of ``containsPolicy`` that has it.
    public override func imageCachedType(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) -> CacheType {
        reached(by: containsPolicy).lazy.map {
            $0.imageCachedType(forKey: key, processorIdentifier: identifier, forcedExtension: forcedExtension)
        }.first(where: \.cached) ?? .none
    }

    /// The file an image is in: the file of the first cache of ``containsPolicy`` that has the image.
    public override func cacheFileURLIfOnDisk(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) -> URL? {
        reached(by: containsPolicy).lazy.compactMap {
            $0.cacheFileURLIfOnDisk(forKey: key, processorIdentifier: identifier, forcedExtension: forcedExtension)
        }.first
    }

    /// The bytes of all files of all caches; the handler is called on the main queue.
    public override func calculateDiskStorageSize(
        completion handler: @escaping @Sendable (Result<UInt, KingfisherError>) -> Void
    ) {
        report(to: handler, on: .mainAsync) { [self] in
            await Result { () async throws(KingfisherError) in
                var sum: UInt = 0
                for cache in caches { sum += try await cache.diskStorageSize }
                return sum
            }
        }
    }

    /// The bytes of all images in the memory of all caches.
    public override var memoryStorageCacheCost: Int { caches.reduce(0) { $0 + $1.memoryStorageCacheCost } }

    override func removeAllFromMemory() { for cache in reached(by: clearPolicy) { cache.removeAllFromMemory() } }

    /// Removes all files of the caches of ``clearPolicy``; the handler is called on the main queue.
    public override func clearDiskCache(completion handler: (@Sendable () -> Void)? = nil) {
        finish(with: handler, on: .mainAsync) { [self] in
            _ = await outcomes(clearPolicy) { cache, cleared in cache.clearDiskCache { cleared.fulfil(()) } }
        }
    }

    /// Removes the images in memory that have expired, of the caches of ``clearPolicy``.
    public override func cleanExpiredMemoryCache() {
        for cache in reached(by: clearPolicy) { cache.cleanExpiredMemoryCache() }
    }

    /// Cleans the disks of the caches of ``clearPolicy``; the handler is called on the main queue.
    public override func cleanExpiredDiskCache(completion handler: (@Sendable () -> Void)? = nil) {
        finish(with: handler, on: .mainAsync) { [self] in
            _ = await outcomes(clearPolicy) { cache, cleaned in cache.cleanExpiredDiskCache { cleaned.fulfil(()) } }
        }
    }
}
