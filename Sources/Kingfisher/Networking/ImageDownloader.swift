// The downloader as users see it: what subclasses may override, its two forms, and its images. The bytes are the byte
// loader's.

public import Foundation
import KFSupport
public import KFTransport

/// Downloads images.
///
/// Loads of one request at one time share one transfer, and one processing for each distinct processor.
// SAFETY: an open class cannot be checked; all its state is in a loader, which is Sendable.
open class ImageDownloader: @unchecked Sendable {
    /// The downloader of ``KingfisherManager/shared``.
    public static let `default` = ImageDownloader(name: "default")

    /// The downloader's name, for logs.
    public let name: String
    let loader: ByteLoader

    /// Creates a downloader with connections of its own.
    ///
    /// - Parameter name: Its name; must not be empty.
    public init(name: String) {
        precondition(!name.isEmpty, "A downloader needs a name that is not empty")
        self.name = name
        loader = ByteLoader(transport: CurlTransport())
    }

    /// Creates a downloader. (Not in Kingfisher, which is bound to `URLSession`.)
    ///
    /// - Parameters:
    ///   - name: Its name; must not be empty.
    ///   - transport: What moves the bytes.
    public init(name: String, transport: any Transport) {
        precondition(!name.isEmpty, "A downloader needs a name that is not empty")
        self.name = name
        loader = ByteLoader(transport: transport)
    }

    deinit { loader.transfers.close(.requestError(reason: .asyncTaskContextCancelled)) }

    /// Whether its methods may have been overridden.
    final var isSubclassed: Bool { type(of: self) != ImageDownloader.self }

    /// How long the server may keep silent, in seconds.
    ///
    /// 15 at first. Waiting in the queue does not count. Read when each request is built; a request modifier may change
    /// a request's `timeoutInterval`.
    open var downloadTimeout: TimeInterval {
        get { loader.settings.withLock { $0.downloadTimeout } }
        set { loader.settings.withLock { $0.downloadTimeout = newValue } }
    }

    /// Hosts whose certificate is accepted unchecked; nil means none.
    ///
    /// Checked for the host of each redirect.
    open var trustedHosts: Set<String>? {
        get { loader.settings.withLock { $0.trustedHosts } }
        set { loader.settings.withLock { $0.trustedHosts = newValue } }
    }

    /// The largest response accepted, in bytes; a larger one fails the download before it is in memory.
    ///
    /// 200 MiB at first, or a tenth of the memory if that is less. (Not in Kingfisher.)
    open var maxResponseBytes: Int {
        get { loader.settings.withLock { $0.maxResponseBytes } }
        set { loader.settings.withLock { $0.maxResponseBytes = newValue } }
    }

    /// Whether the network is one to save data on, such as a metered one; false at first.
    ///
    /// While it is set, downloads with a ``KingfisherParsedOptionsInfo/lowDataModeSource`` fail before they start, with
    /// a `URLError` whose code is `.notConnectedToInternet`, and the manager loads that source instead. All others are
    /// unaffected. Linux does not notify a process of this: a program that watches NetworkManager or GLib's network
    /// monitor sets it. Read when each request is built. (Not in Kingfisher, which leaves it to the system.)
    open var isConstrained: Bool {
        get { loader.settings.withLock { $0.isConstrained } }
        set { loader.settings.withLock { $0.isConstrained = newValue } }
    }

    /// Settings in the shape of `URLSession`'s; ephemeral at first, so that cookies are kept in memory.
    ///
    /// It is copied, both ways: set a whole one, and changes of it afterwards have no effect. Setting it ends the
    /// downloads under way with a `URLError` whose code is `.cancelled`. These have a meaning:
    /// - `httpAdditionalHeaders`, over ``defaultHeaders``;
    /// - `timeoutIntervalForRequest`, `timeoutIntervalForResource` and `httpMaximumConnectionsPerHost`, where they are
    ///   not `URLSession`'s own defaults (60 seconds, 7 days, 6): they set ``downloadTimeout``, ``totalTimeout`` and
    ///   ``maxConnectionsPerHost``;
    /// - `httpShouldSetCookies` and `httpCookieAcceptPolicy`, of which `false` and `.never` turn cookies off: none is
    ///   sent, and none of a response is kept; turn them off where servers are not trusted, since their number has no
    ///   limit;
    /// - `requestCachePolicy`, of which `.reloadIgnoringLocalAndRemoteCacheData` sends `Cache-Control: no-cache`; there
    ///   is no cache below the library's own.
    ///
    /// All others are ignored: cookie, credential and cache objects, protocol classes, TLS versions, the network
    /// service type, and `connectionProxyDictionary` (see `CurlTransport.Configuration`).
    open var sessionConfiguration: URLSessionConfiguration {
        get { loader.settings.withLock { $0.session }.copied }
        set { use(newValue.copied) }
    }

    /// Kept, and without effect: HTTP/1.1 is not pipelined here.
    ///
    /// False at first.
    open var requestsUsePipelining: Bool {
        get { loader.settings.withLock { $0.requestsUsePipelining } }
        set { loader.settings.withLock { $0.requestsUsePipelining = newValue } }
    }

    /// Meets the challenges of servers; the downloader itself at first, and where it is nil.
    ///
    /// Another one also decides about ``trustedHosts``.
    open weak var authenticationChallengeResponder: (any AuthenticationChallengeResponsible)? {
        get { loader.responder ?? self }
        set { loader.setResponder(newValue, of: self) }
    }

    /// Follows and steers the downloads.
    open weak var delegate: (any ImageDownloaderDelegate)? {
        get { loader.delegate }
        set { loader.setDelegate(newValue, of: self) }
    }

    /// Downloads and processes an image.
    ///
    /// The method to override: all others call it.
    ///
    /// The request is under way when the call returns, unless its modifier is asynchronous.
    /// - Parameters:
    ///   - url: Where the image is.
    ///   - options: How it is downloaded and processed.
    ///   - completionHandler: Called once, on the options' callback queue.
    /// - Returns: A handle to cancel the download with.
    @discardableResult
    open func downloadImage(
        with url: URL,
        options: KingfisherParsedOptionsInfo,
        completionHandler: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask {
        let (loader, timeout) = (loader, downloadTimeout)
        let handle = DownloadTask()
        handle.start(priority: options.downloadPriority, on: options.callbackQueue, completionHandler) {
            () async throws(KingfisherError) in
            try await loader.image(at: url, options.handled(by: handle), timeout: timeout)
        }
        return handle
    }

    /// Downloads and processes an image, by options that are not parsed yet.
    @discardableResult
    open func downloadImage(
        with url: URL,
        options: KingfisherOptionsInfo? = nil,
        completionHandler: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask {
        downloadImage(with: url, options: KingfisherParsedOptionsInfo(options), completionHandler: completionHandler)
    }

    /// Downloads and processes an image; the progress is reported on the main queue, when the length is known.
    @discardableResult
    open func downloadImage(
        with url: URL,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        completionHandler: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask {
        var parsed = KingfisherParsedOptionsInfo(options)
        let queue = parsed.callbackQueue
        guard let relay = ProgressRelay(progressBlock, before: queue) else {
            return downloadImage(with: url, options: parsed, completionHandler: completionHandler)
        }
        parsed.load.observer = relay
        parsed.callbackQueue = .untouch
        let task = downloadImage(with: url, options: parsed) { result in
            _ = Task.immediate {
                await relay.finish(result)
                queue.execute { completionHandler?(result) }
            }
        }
        relay.watch(task)
        return task
    }

    /// Cancels all downloads.
    open func cancelAll() { loader.cancel(url: nil) }

    /// Cancels all downloads of a URL, as it was given or as a request modifier changed it.
    ///
    /// - Parameter url: The URL.
    open func cancel(url: URL) { loader.cancel(url: url) }

    /// Cancels all downloads, and ends the connections; the downloader cannot be used any more. (Not in Kingfisher.)
    ///
    /// Later downloads fail with ``KingfisherError/RequestErrorReason/invalidated``. A transport that several
    /// downloaders were given ends for all of them. A downloader that is not needed any more only has to be released.
    open func invalidate() {
        loader.transfers.close(.requestError(reason: .invalidated))
        loader.transport.invalidate()
        loader.dropPartialBodies()
    }
}

// Their default implementations, so that a downloader can stand for them.
extension ImageDownloader: ImageDownloaderDelegate, AuthenticationChallengeResponsible {}

extension ImageDownloader {
    /// Downloads and processes an image.
    ///
    /// Cancelling the calling task cancels the download.
    ///
    /// - Parameters:
    ///   - url: Where the image is.
    ///   - options: How it is downloaded and processed; the callback queue does not matter.
    /// - Returns: The image, its bytes and how long that took.
    /// - Throws: ``KingfisherError``, also for a cancelled download.
    public func downloadImage(with url: URL, options: KingfisherParsedOptionsInfo)
        async throws(KingfisherError) -> ImageLoadingResult
    {
        guard !isSubclassed, !options.needsHandle else {
            return try await downloadWithHandle(with: url, options: options) { _ in }
        }
        return try await loader.image(at: url, options, timeout: downloadTimeout)
    }

    /// Awaits the form with the handler, which a subclass may have overridden; `started` is called with its task first.
    func downloadWithHandle(
        with url: URL,
        options: KingfisherParsedOptionsInfo,
        started: (DownloadTask) -> Void
    ) async throws(KingfisherError) -> ImageLoadingResult {
        var options = options
        options.callbackQueue = .untouch
        let outcome = Promise<Result<ImageLoadingResult, KingfisherError>>()
        let task = downloadImage(with: url, options: options) { outcome.fulfil($0) }
        started(task)
        return try await outcome.value { task.cancel() }.get()
    }

    /// Downloads and processes an image; the progress is reported on the main queue, when the length is known.
    ///
    /// Cancelling the calling task cancels the download.
    public func downloadImage(
        with url: URL,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil
    ) async throws(KingfisherError) -> ImageLoadingResult {
        var parsed = KingfisherParsedOptionsInfo(options)
        let relay = ProgressRelay(progressBlock, before: nil)
        if let relay { parsed.load.observer = relay }
        let result = await Result { [parsed] () async throws(KingfisherError) in
            try await downloadImage(with: url, options: parsed)
        }
        await relay?.finish(result)
        return try result.get()
    }
}

extension ByteLoader {
    /// The image the options' processor makes of the bytes at a URL.
    ///
    /// - Parameters:
    ///   - url: Where the bytes are.
    ///   - options: How they are downloaded and processed.
    ///   - timeout: How long the server may keep silent, in seconds.
    /// - Returns: The image, the bytes it was made of, and how long that took.
    /// - Throws: ``KingfisherError``, also for a download that is cancelled, at once and at whatever step it is.
    fileprivate func image(
        at url: URL,
        _ options: KingfisherParsedOptionsInfo,
        timeout: TimeInterval
    ) async throws(KingfisherError) -> ImageLoadingResult {
        try await withBytes(at: url, options, timeout: timeout) { bytes, cancellation throws(KingfisherError) in
            var result = ImageLoadingResult(
                image: try await image(of: bytes, options, orIfCancelled: cancellation),
                url: bytes.url,
                originalData: bytes.data,
                metrics: bytes.metrics
            )
            result.response = bytes.response
            return result
        }
    }

    /// The image the options' processor makes of downloaded bytes; an error as soon as the calling task is cancelled.
    private func image(
        of bytes: LoadedBytes,
        _ options: KingfisherParsedOptionsInfo,
        orIfCancelled error: KingfisherError
    ) async throws(KingfisherError) -> KFCrossPlatformImage {
        let made = Promise<Result<KFCrossPlatformImage, KingfisherError>>()
        // The task runs where the processing will: a change of threads costs as much as parsing the response.
        Task(executorPreference: WorkExecutor.cpu) {
            made.fulfil(await Result { () async throws(KingfisherError) in try await bytes.image(for: options) })
        }
        return try await made.value { made.fulfil(.failure(error)) }.get()
    }
}
