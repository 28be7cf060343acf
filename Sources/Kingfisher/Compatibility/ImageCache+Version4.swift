// How caches were asked before version 5, for programs that still do. Each form calls the one of today.

public import Foundation

extension ImageCache {
    /// Stores an image and tells when that is done, but not how it went.
    @_disfavoredOverload
    public func store(
        _ image: KFCrossPlatformImage,
        original: Data? = nil,
        forKey key: String,
        processorIdentifier identifier: String = "",
        cacheSerializer serializer: any CacheSerializer = DefaultCacheSerializer.default,
        toDisk: Bool = true,
        completionHandler: (@Sendable () -> Void)?
    ) {
        store(
            image,
            original: original,
            forKey: key,
            processorIdentifier: identifier,
            cacheSerializer: serializer,
            toDisk: toDisk
        ) { (_: CacheStoreResult) in completionHandler?() }
    }

    /// Looks an image up in memory, then on disk, and tells what was found where; an error counts as nothing.
    ///
    /// - Parameters:
    ///   - key: The image's key.
    ///   - options: How to look it up.
    ///   - completionHandler: Told, through the options' callback queue, of the image and of where it was; without one
    ///     nothing happens.
    /// - Returns: What calls the look on disk off; nil without a handler.
    @discardableResult
    @_disfavoredOverload
    public func retrieveImage(
        forKey key: String,
        options: KingfisherOptionsInfo?,
        completionHandler: (@Sendable (KFCrossPlatformImage?, CacheType) -> Void)?
    ) -> RetrieveImageDiskTask? {
        guard let completionHandler else { return nil }
        let task = RetrieveImageDiskTask()
        var options = KingfisherParsedOptionsInfo(options)
        let isWanted = options.sourceTaskIdentifierChecker ?? { true }
        options.sourceTaskIdentifierChecker = { !task.isCancelled && isWanted() }
        let handler = { @Sendable (result: Result<ImageCacheResult, KingfisherError>) in
            let found = (try? result.get()) ?? .none
            completionHandler(found.image, found.cacheType)
        }
        let queue = options.callbackQueue
        retrieveImage(forKey: key, options: options, callbackQueue: queue, completionHandler: handler)
        return task
    }

    /// The bytes of all files of the cache, told on the main queue; 0 when they cannot be counted.
    public func calculateDiskCacheSize(completion handler: @escaping @Sendable (_ size: UInt) -> Void) {
        calculateDiskStorageSize { handler((try? $0.get()) ?? 0) }
    }
}
