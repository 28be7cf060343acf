// The manager's methods with completion handlers: thin around the async ones.

extension KingfisherManager {
    /// Finds the image of a source.
    ///
    /// An image in memory is delivered before the call returns, if the callback queue allows it (it does on the main
    /// queue and with ``CallbackQueue/untouch``).
    /// - Parameters:
    ///   - source: Where the image comes from.
    ///   - options: How it is loaded, processed and cached.
    ///   - progressBlock: Called with the download's progress, on the main queue, when its length is known.
    ///   - downloadTaskUpdated: Called when a retry or an alternative source starts another download.
    ///   - completionHandler: Called once with the image or the error, on the options' callback queue.
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    @discardableResult
    public func retrieveImage(
        with source: Source,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        downloadTaskUpdated: DownloadTaskUpdatedBlock? = nil,
        completionHandler: (@Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void)?
    ) -> DownloadTask? {
        retrieveImage(
            with: source,
            parsed: parsed(options),
            progressBlock: progressBlock,
            downloadTaskUpdated: downloadTaskUpdated,
            completionHandler: completionHandler
        )
    }

    @discardableResult
    func retrieveImage(
        with source: Source,
        parsed options: consuming KingfisherParsedOptionsInfo,
        progressBlock: DownloadProgressBlock? = nil,
        downloadTaskUpdated: DownloadTaskUpdatedBlock? = nil,
        previewSetter: Previews.Setter? = nil,
        completionHandler: (@Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void)?
    ) -> DownloadTask? {
        options.settle()
        let options = options
        let cached = forbiddenFile(source) == nil ? lookInMemory(source.cacheKey, options) : nil
        if let cached, cached.satisfies(options) {
            guard let completionHandler else { return nil }
            let result = found(cached, source, options, requested: source)
            // Called directly where the queue allows it: creating a block takes a good part of a hit's time.
            guard !options.callbackQueue.isHere else {
                completionHandler(.success(result))
                return nil
            }
            options.callbackQueue.execute { completionHandler(.success(result)) }
            return nil
        }
        return start(
            load(
                source,
                options,
                progressBlock,
                look(cached, KeyedSource(source, options)),
                previewSetter: previewSetter
            ),
            downloadTaskUpdated,
            completionHandler
        )
    }

    /// Starts a load that was not a hit in memory.
    private func start(
        _ load: Load,
        _ updated: DownloadTaskUpdatedBlock?,
        _ completionHandler: (@Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void)?
    ) -> DownloadTask? {
        let task = DownloadTask.start { [self] handle in
            var load = load
            load.handle = handle
            load.updated = updated
            let result = await Result { () async throws(KingfisherError) in try await self.image(load) }
            if let completionHandler { load.options.callbackQueue.execute { completionHandler(result) } }
        }
        return task.isFinished ? nil : task
    }

    /// Finds the image of a resource, such as a URL.
    ///
    /// An image in memory is delivered before the call returns, if the callback queue allows it (it does on the main
    /// queue and with ``CallbackQueue/untouch``).
    /// - Parameters:
    ///   - resource: Where the image is; a file URL is read from disk.
    ///   - options: How it is loaded, processed and cached.
    ///   - progressBlock: Called with the download's progress, on the main queue, when its length is known.
    ///   - downloadTaskUpdated: Called when a retry or an alternative source starts another download.
    ///   - completionHandler: Called once with the image or the error, on the options' callback queue.
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    @discardableResult
    public func retrieveImage(
        with resource: any Resource,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        downloadTaskUpdated: DownloadTaskUpdatedBlock? = nil,
        completionHandler: (@Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void)?
    ) -> DownloadTask? {
        retrieveImage(
            with: resource.convertToSource(),
            options: options,
            progressBlock: progressBlock,
            downloadTaskUpdated: downloadTaskUpdated,
            completionHandler: completionHandler
        )
    }
}

extension Result {
    /// The outcome of an async function.
    init(catching body: () async throws(Failure) -> Success) async {
        do throws(Failure) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
