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
        prepared: (@Sendable () async -> KingfisherParsedOptionsInfo)? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        directProgress: (@Sendable (Int64, Int64) -> Void)? = nil,
        downloadTaskUpdated: DownloadTaskUpdatedBlock? = nil,
        previewSetter: Previews.Setter? = nil,
        completionHandler: (@Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void)?
    ) -> DownloadTask? {
        let (plan, answer): (LoadPlan, MemoryAnswer?)
        switch prepared == nil ? beginning(of: source, &options) : nil {
        case .hit(let hit)?:
            guard let completionHandler else { return nil }
            // Called directly where the queue allows it: creating a block takes a good part of a hit's time.
            guard !options.callbackQueue.isHere else {
                completionHandler(.success(hit))
                return nil
            }
            options.callbackQueue.execute { completionHandler(.success(hit)) }
            return nil
        case .plan(let made, let found)?: (plan, answer) = (made, found)
        case nil: (plan, answer) = (LoadPlan(source, options), nil)
        }
        let load = LoadRequest(
            plan,
            by: self,
            inMemory: answer,
            progress: directProgress.map { .directly($0) } ?? progressBlock.map { .onMain($0) },
            before: plan.options.callbackQueue,
            previewSetter: previewSetter,
            updated: downloadTaskUpdated
        )
        // Only an image on disk that the caller's thread was to read is delivered before this returns.
        let goesOn = load.handle.start(on: plan.options.callbackQueue, completionHandler) {
            () async throws(KingfisherError) in
            guard let prepared else { return try await load.image() }
            var options = await prepared()
            options.resolveProcessor()
            return try await load.with(options).image()
        } endsAtOnce: {
            plan.options.loadDiskFileSynchronously && $0.cacheType == .disk
        }
        return goesOn ? load.handle : nil
    }

    /// Finds the image of a resource, such as a URL, as the form for a source does; a file URL is read from disk.
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
