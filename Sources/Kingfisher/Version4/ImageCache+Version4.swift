// The methods of caches before version 5, for programs that still call them; all are deprecated. Each calls the current
// one.

public import Foundation

extension ImageCache {
    /// Stores an image and reports when that is done, but not whether it succeeded.
    @available(*, deprecated, message: "Use the form whose completion handler gets a `CacheStoreResult`.")
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

    /// Looks an image up in memory, then on disk, and reports where it was found; an error counts as a miss.
    ///
    /// - Parameters:
    ///   - key: The image's key.
    ///   - options: How to look it up.
    ///   - completionHandler: Called, through the options' callback queue, with the image and where it was found;
    ///     without one nothing happens.
    /// - Returns: A handle to cancel the look-up on disk with; nil without a handler.
    @available(*, deprecated, message: "Use the form whose completion handler gets a `Result`.")
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
        options.load.observer = task
        let handler = { @Sendable (result: Result<ImageCacheResult, KingfisherError>) in
            let found = (try? result.get()) ?? .none
            completionHandler(found.image, found.cacheType)
        }
        let queue = options.callbackQueue
        retrieveImage(forKey: key, options: options, callbackQueue: queue, completionHandler: handler)
        return task
    }

    /// The bytes of all files of the cache, reported on the main queue; 0 when they cannot be counted.
    @available(*, deprecated, message: "Use `calculateDiskStorageSize`, or `diskStorageSize`.")
    public func calculateDiskCacheSize(completion handler: @escaping @Sendable (_ size: UInt) -> Void) {
        calculateDiskStorageSize { handler((try? $0.get()) ?? 0) }
    }
}
