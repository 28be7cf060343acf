// Images by key, in memory and on disk: all functions that users may override, which Swift requires to be in the class
// itself. The implementation is in the files beside this one.

public import Foundation
import KFStorage
import KFSupport

/// Keeps images in memory and on disk.
///
/// An entry is addressed by its key and by the identifier of the processor that made the image. Memory is read and
/// written on the caller's thread, without waiting; the disk on the library's own threads. Operations on one entry take
/// effect in the order they were called. All functions may be called from any thread.
///
/// Linux does not notify a process that memory gets short, that it is hidden or that it is about to end. As long as
/// there is a cache, the process therefore watches its memory (``watchesMemoryPressure``), each cache removes expired
/// files about once an hour (``diskCleanInterval``), and a process that exits waits until all files are written
/// (``flushesOnExit``). A desktop program calls ``allCachesEnteredBackground()`` when its last window is hidden, a
/// server awaits `allCachesWillTerminate(within:)` at the end of its graceful shutdown.
///
/// Completion handlers and async functions are two forms of the same thing. Handlers always run, exactly once:
/// inside the call, if the callback queue allows it, when everything was done on the caller's thread (what needs memory
/// alone, and what ``KingfisherParsedOptionsInfo/loadDiskFileSynchronously`` reads), and otherwise after the call has
/// returned. Functions that use the disk and have neither form wait for it on the caller's thread. In a subclass,
/// override the form with the handler: except for removing, the async form calls it.
///
/// At the top level of a `main.swift` the compiler (of Swift 6.3) chooses the form with the handler even after `await`,
/// and warns that nothing is awaited; in a function it chooses the async form.
// SAFETY: every property of this class is an immutable Sendable; it is unchecked only because subclasses, which are
// responsible for their own properties, may be written elsewhere.
open class ImageCache: @unchecked Sendable {
    /// The cache that is used when no other is named.
    public static let `default` = ImageCache(name: "default")

    /// Returns the disk cache's directory, given the directory it lies in and the cache's full name.
    public typealias DiskCachePathClosure = @Sendable (_ directory: URL, _ cacheName: String) -> URL

    /// The memory part; its `config` can be changed at any time.
    public let memoryStorage: MemoryStorage.Backend<KFCrossPlatformImage>
    /// The disk part; its `config` can be changed at any time.
    public let diskStorage: DiskStorage.Backend<Data>
    /// The implementation.
    let core: CacheCore
    let lifeCycle = CacheLifeCycle()

    /// Creates a cache of two storages.
    public init(memoryStorage: MemoryStorage.Backend<KFCrossPlatformImage>, diskStorage: DiskStorage.Backend<Data>) {
        self.memoryStorage = memoryStorage
        self.diskStorage = diskStorage
        core = CacheCore(memory: memoryStorage, disk: diskStorage)
        lifeCycle.begin(self)
    }

    /// Whether it is an instance of a subclass, which may have overridden functions.
    final var isSubclassed: Bool { type(of: self) != ImageCache.self }

    /// Removes all images from memory; a group has its caches do so.
    func removeAllFromMemory() { memoryStorage.removeAll() }

    // MARK: Storing

    /// Stores an image: in memory before this returns, on disk in the background.
    ///
    /// The handler is called through the options' callback queue; a load, which may have several subscribers, passes
    /// ``CallbackQueue/untouch``. A failure of the disk leaves the image in memory. `original` is the data the image
    /// was made from; serializers may prefer to write that.
    open func store(
        _ image: KFCrossPlatformImage,
        original: Data? = nil,
        forKey key: String,
        options: KingfisherParsedOptionsInfo,
        toDisk: Bool = true,
        completionHandler: (@Sendable (CacheStoreResult) -> Void)? = nil
    ) {
        let computedKey = key.computedKey(with: options.processor.identifier)
        let write = core.put(image, original: original, forKey: computedKey, options, toDisk: toDisk)
        report(to: completionHandler, on: options.callbackQueue) { CacheStoreResult(disk: await write()) }
    }

    /// Stores an image: in memory before this returns, on disk in the background.
    open func store(
        _ image: KFCrossPlatformImage,
        original: Data? = nil,
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil,
        cacheSerializer serializer: any CacheSerializer = DefaultCacheSerializer.default,
        toDisk: Bool = true,
        callbackQueue: CallbackQueue = .untouch,
        completionHandler: (@Sendable (CacheStoreResult) -> Void)? = nil
    ) {
        let options = Self.options(identifier, forcedExtension, serializer, callbackQueue)
        let handler = completionHandler
        store(image, original: original, forKey: key, options: options, toDisk: toDisk, completionHandler: handler)
    }

    /// Stores an image, and returns when it is on disk; throws the disk's error, but keeps the image in memory even
    /// then.
    open func store(
        _ image: KFCrossPlatformImage,
        original: Data? = nil,
        forKey key: String,
        options: KingfisherParsedOptionsInfo,
        toDisk: Bool = true
    ) async throws(KingfisherError) {
        var options = options
        options.callbackQueue = .untouch
        try await awaited { [options] handler in
            store(image, original: original, forKey: key, options: options, toDisk: toDisk, completionHandler: handler)
        }.diskCacheResult.get()
    }

    /// Stores an image, and returns when it is on disk; throws the disk's error, but keeps the image in memory even
    /// then.
    open func store(
        _ image: KFCrossPlatformImage,
        original: Data? = nil,
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil,
        cacheSerializer serializer: any CacheSerializer = DefaultCacheSerializer.default,
        toDisk: Bool = true
    ) async throws(KingfisherError) {
        let options = Self.options(identifier, forcedExtension, serializer)
        try await store(image, original: original, forKey: key, options: options, toDisk: toDisk)
    }

    /// Stores bytes on disk, unchanged.
    // Where a call could mean either form, the async one is chosen.
    @_disfavoredOverload
    open func storeToDisk(
        _ data: Data,
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil,
        expiration: StorageExpiration? = nil,
        callbackQueue: CallbackQueue = .untouch,
        completionHandler: (@Sendable (CacheStoreResult) -> Void)? = nil
    ) {
        let write = core.putOnDisk(data, forKey: key.computedKey(with: identifier), forcedExtension, expiration)
        report(to: completionHandler, on: callbackQueue) { CacheStoreResult(disk: await write()) }
    }

    /// Stores bytes on disk, unchanged, and returns when they are written.
    open func storeToDisk(
        _ data: Data,
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil,
        expiration: StorageExpiration? = nil
    ) async throws(KingfisherError) {
        try await awaited { handler in
            storeToDisk(
                data,
                forKey: key,
                processorIdentifier: identifier,
                forcedExtension: forcedExtension,
                expiration: expiration,
                completionHandler: handler
            )
        }.diskCacheResult.get()
    }

    // MARK: Removing

    /// Removes an image: from memory before this returns, from disk in the background.
    // Where a call could mean either form, the async one is chosen.
    @_disfavoredOverload
    open func removeImage(
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil,
        fromMemory: Bool = true,
        fromDisk: Bool = true,
        callbackQueue: CallbackQueue = .untouch,
        completionHandler: (@Sendable () -> Void)? = nil
    ) {
        let computedKey = key.computedKey(with: identifier)
        let removal = core.remove(computedKey, forcedExtension, memory: fromMemory, disk: fromDisk)
        finish(with: completionHandler, on: callbackQueue) { _ = await removal() }
    }

    /// Removes an image, and returns when it is removed from disk; it is not an error if there was none.
    open func removeImage(
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil,
        fromMemory: Bool = true,
        fromDisk: Bool = true
    ) async throws(KingfisherError) {
        let computedKey = key.computedKey(with: identifier)
        try await core.remove(computedKey, forcedExtension, memory: fromMemory, disk: fromDisk)().get()
    }

    // MARK: Retrieving

    /// Looks an image up in memory, then on disk; a miss is a success with ``ImageCacheResult/none``.
    ///
    /// An image in memory is reported before this returns if the queue allows. An image found on disk is put in memory.
    /// Without a handler nothing happens.
    open func retrieveImage(
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
        let lookup = CacheCore.Lookup(layers: options.layersToQuery.subtracting(.memory))
        report(to: completionHandler, on: callbackQueue) { [core] in
            await Result { () async throws(KingfisherError) in
                ImageCacheResult(try await core.find(EntryKey(key, options), options, lookup))
            }
        }
    }

    /// Looks an image up in memory, then on disk; a miss is a success with ``ImageCacheResult/none``.
    open func retrieveImage(
        forKey key: String,
        options: KingfisherOptionsInfo? = nil,
        callbackQueue: CallbackQueue = .default,
        completionHandler: (@Sendable (Result<ImageCacheResult, KingfisherError>) -> Void)?
    ) {
        let options = KingfisherParsedOptionsInfo(options)
        retrieveImage(forKey: key, options: options, callbackQueue: callbackQueue, completionHandler: completionHandler)
    }

    /// Looks an image up in memory, then on disk; a miss is ``ImageCacheResult/none``.
    ///
    /// An image found on disk is put in memory. An entry that cannot be decoded is a miss, and is removed.
    open func retrieveImage(
        forKey key: String,
        options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> ImageCacheResult {
        guard !isSubclassed else {
            return try await awaited {
                retrieveImage(forKey: key, options: options, callbackQueue: .untouch, completionHandler: $0)
            }.get()
        }
        let lookup = CacheCore.Lookup(layers: options.layersToQuery)
        return ImageCacheResult(try await core.find(EntryKey(key, options), options, lookup))
    }

    /// Looks an image up in memory, then on disk; a miss is ``ImageCacheResult/none``.
    open func retrieveImage(
        forKey key: String,
        options: KingfisherOptionsInfo? = nil
    ) async throws(KingfisherError) -> ImageCacheResult {
        try await retrieveImage(forKey: key, options: KingfisherParsedOptionsInfo(options))
    }

    /// The image that is in memory, if there is one; does not wait for anything.
    open func retrieveImageInMemoryCache(
        forKey key: String,
        options: KingfisherParsedOptionsInfo
    ) -> KFCrossPlatformImage? {
        core.findInMemory(key.computedKey(options), options)
    }

    /// The image that is in memory, if there is one; does not wait for anything.
    open func retrieveImageInMemoryCache(
        forKey key: String,
        options: KingfisherOptionsInfo? = nil
    ) -> KFCrossPlatformImage? {
        retrieveImageInMemoryCache(forKey: key, options: KingfisherParsedOptionsInfo(options))
    }

    /// Looks an image up on disk only, and does not change memory; a miss is a success with nil.
    open func retrieveImageInDiskCache(
        forKey key: String,
        options: KingfisherOptionsInfo? = nil,
        callbackQueue: CallbackQueue = .untouch,
        completionHandler: @escaping @Sendable (Result<KFCrossPlatformImage?, KingfisherError>) -> Void
    ) {
        let options = KingfisherParsedOptionsInfo(options)
        report(to: completionHandler, on: callbackQueue) { [core] in
            await Result { () async throws(KingfisherError) in
                try await core.find(EntryKey(key, options), options, .init(layers: .disk, promotes: false)).image
            }
        }
    }

    /// Looks an image up on disk only, and does not change memory; a miss is nil.
    open func retrieveImageInDiskCache(
        forKey key: String,
        options: KingfisherOptionsInfo? = nil
    ) async throws(KingfisherError) -> KFCrossPlatformImage? {
        try await awaited {
            retrieveImageInDiskCache(forKey: key, options: options, callbackQueue: .untouch, completionHandler: $0)
        }.get()
    }

    // MARK: Inspecting

    /// Where an image is; looks at the disk on the caller's thread.
    open func imageCachedType(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) -> CacheType {
        let computedKey = key.computedKey(with: identifier)
        if memoryStorage.isCached(forKey: computedKey) { return .memory }
        return diskStorage.isCached(forKey: computedKey, forcedExtension: forcedExtension) ? .disk : .none
    }

    /// The name of the file an image is in, or would be.
    open func hash(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) -> String {
        diskStorage.cacheFileName(forKey: key.computedKey(with: identifier), forcedExtension: forcedExtension)
    }

    /// The path of the file an image is in, or would be.
    open func cachePath(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) -> String {
        diskStorage.cacheFileURL(forKey: key.computedKey(with: identifier), forcedExtension: forcedExtension).path
    }

    /// The file an image is in; nil if there is no valid one; looks at the disk on the caller's thread.
    open func cacheFileURLIfOnDisk(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) -> URL? {
        let computedKey = key.computedKey(with: identifier)
        guard diskStorage.isCached(forKey: computedKey, forcedExtension: forcedExtension) else { return nil }
        return diskStorage.cacheFileURL(forKey: computedKey, forcedExtension: forcedExtension)
    }

    /// The bytes of all files of the cache; the handler is called on the main queue.
    open func calculateDiskStorageSize(
        completion handler: @escaping @Sendable (Result<UInt, KingfisherError>) -> Void
    ) {
        report(to: handler, on: .mainAsync) { [core] in await core.size() }
    }

    /// The bytes of all files of the cache.
    open var diskStorageSize: UInt {
        get async throws(KingfisherError) {
            try await (isSubclassed ? awaited { calculateDiskStorageSize(completion: $0) } : core.size()).get()
        }
    }

    /// The bytes of all images in memory, including those that have expired and are not removed yet.
    open var memoryStorageCacheCost: Int { memoryStorage.totalCacheCost() }

    // MARK: Cleaning

    /// Removes all images from memory and disk.
    open func clearCache() async {
        let clearing = Task.immediate { await clearDiskCache() }
        clearMemoryCache()
        await clearing.value
    }

    /// Removes all files; the handler is called on the main queue, also after a failure.
    open func clearDiskCache(completion handler: (@Sendable () -> Void)? = nil) {
        let clearing = core.clearDisk()
        finish(with: handler, on: .mainAsync) { await clearing() }
    }

    /// Removes all files.
    open func clearDiskCache() async {
        await isSubclassed ? completed { clearDiskCache(completion: $0) } : core.clearDisk()()
    }

    /// Removes expired entries from memory and disk; the handler is called on the main queue, also after a failure.
    open func cleanExpiredCache(completion handler: (@Sendable () -> Void)? = nil) {
        cleanExpiredMemoryCache()
        cleanExpiredDiskCache(completion: handler)
    }

    /// Removes expired entries from memory and disk.
    open func cleanExpiredCache() async {
        guard !isSubclassed else { return await completed { cleanExpiredCache(completion: $0) } }
        cleanExpiredMemoryCache()
        await cleanExpiredDiskCache()
    }

    /// Removes the images in memory that have expired.
    open func cleanExpiredMemoryCache() { memoryStorage.removeExpired() }

    /// Removes the files that have expired, then those above the size limit; the handler is called on the main queue.
    ///
    /// If any were removed, `KingfisherDidCleanDiskCache` is posted on the main queue before.
    open func cleanExpiredDiskCache(completion handler: (@Sendable () -> Void)? = nil) {
        finish(with: handler, on: .mainAsync) { [self] in await cleanDisk() }
    }

    /// Removes the files that have expired, then those above the size limit, and posts `KingfisherDidCleanDiskCache`.
    open func cleanExpiredDiskCache() async {
        await isSubclassed ? completed { cleanExpiredDiskCache(completion: $0) } : cleanDisk()
    }
}
