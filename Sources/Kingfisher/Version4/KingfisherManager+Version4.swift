// The methods of the manager before version 5, for programs that still call them; all are deprecated. Each calls the
// current one.

public import Foundation
import KFSupport

/// Called at the end of a load, as before version 5, with the image or the error, where the image was found, and its
/// URL.
public typealias CompletionHandler =
    @Sendable (_ image: KFCrossPlatformImage?, _ error: NSError?, _ cacheType: CacheType, _ imageURL: URL?) -> Void

extension KingfisherManager {
    /// Finds the image of a resource, such as a URL.
    ///
    /// - Parameters:
    ///   - resource: Where the image is; a file URL is read from disk.
    ///   - options: How it is loaded, processed and cached.
    ///   - progressBlock: Called with the download's progress, on the main queue, when its length is known.
    ///   - completionHandler: Called once, on the options' callback queue. For an image it gets the URL the image came
    ///     from, for an error (a ``KingfisherError``) that of the resource.
    /// - Returns: A handle to cancel the load with, also when it has ended.
    @available(*, deprecated, message: "Use the form whose completion handler gets a `Result`.")
    @discardableResult
    @_disfavoredOverload
    public func retrieveImage(
        with resource: any Resource,
        options: KingfisherOptionsInfo?,
        progressBlock: DownloadProgressBlock?,
        completionHandler: CompletionHandler?
    ) -> RetrieveImageTask {
        let task = RetrieveImageTask()
        let (source, url) = (resource.convertToSource(), resource.downloadURL)
        start(source, at: url, parsed(options), task, progressBlock, completionHandler)
        return task
    }

    /// Downloads an image whether or not it is cached, and stores it.
    ///
    /// - Parameters:
    ///   - url: Where the image is; a file URL is read from disk.
    ///   - key: The key it is stored under.
    ///   - retrieveImageTask: The task that cancels the load; if it is cancelled already, nothing is downloaded.
    ///   - progressBlock: Called with the download's progress, on the main queue, when its length is known.
    ///   - completionHandler: Called once, on the options' callback queue.
    ///   - options: How it is downloaded, processed and cached.
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    @available(*, deprecated, message: "Use `retrieveImage` with `.forceRefresh`.")
    @discardableResult
    public func downloadAndCacheImage(
        with url: URL,
        forKey key: String,
        retrieveImageTask: RetrieveImageTask,
        progressBlock: DownloadProgressBlock?,
        completionHandler: CompletionHandler?,
        options: KingfisherOptionsInfo
    ) -> RetrieveImageDownloadTask? {
        var options = parsed(options)
        options.forceRefresh = true
        options.onlyFromCache = false
        let source = url.convertToSource(overrideCacheKey: key)
        return start(source, at: url, options, retrieveImageTask, progressBlock, completionHandler)
    }

    /// Starts a load with a task of the older kind, unless that is cancelled.
    @discardableResult
    private func start(
        _ source: Source,
        at url: URL,
        _ options: KingfisherParsedOptionsInfo,
        _ task: RetrieveImageTask,
        _ progressBlock: DownloadProgressBlock?,
        _ completionHandler: CompletionHandler?
    ) -> RetrieveImageDownloadTask? {
        let completion = { @Sendable (result: Result<RetrieveImageResult, KingfisherError>) -> Void in
            switch result {
            case .success(let found): completionHandler?(found.image, nil, found.cacheType, found.source.url)
            case .failure(let error): completionHandler?(nil, error as NSError, .none, url)
            }
        }
        guard !task.isCancelled else {
            options.callbackQueue.execute { completion(.failure(.requestError(reason: .asyncTaskContextCancelled))) }
            return nil
        }
        let started = retrieveImage(
            with: source,
            parsed: options,
            progressBlock: progressBlock,
            completionHandler: completion
        )
        guard let started else { return nil }
        let download = RetrieveImageDownloadTask(task: started, ownerDownloader: options.downloader)
        task.attach(download)
        return download
    }
}
