// The downloader as users see it: settings and entry points. Sharing is the coordinator's business.

public import Foundation
import KFSupport
public import KFTransport

/// Downloads images.
///
/// Loads of one request at one time share one transfer, and one processing for each distinct processor.
// SAFETY: an open class cannot be checked; all its state is in `Locked` values and in a coordinator that is Sendable.
open class ImageDownloader: @unchecked Sendable {
    /// The downloader of ``KingfisherManager/shared``.
    public static let `default` = ImageDownloader(name: "default")

    private struct Settings: Sendable {
        var downloadTimeout: TimeInterval = 15
        var trustedHosts: Set<String>?
        var isConstrained = false
        var maximumResponseSize = ImageDownloader.responseLimit(memory: UsableMemory.bytes)
    }

    /// The downloader's name, for logs.
    public let name: String
    private let settings = Locked(Settings())
    private let coordinator: DownloadCoordinator

    /// Creates a downloader on the default transport.
    ///
    /// - Parameter name: Its name; must not be empty.
    public convenience init(name: String) { self.init(name: name, transport: NIOTransport.shared) }

    /// Creates a downloader. (Not in Kingfisher, which is bound to `URLSession`.)
    ///
    /// - Parameters:
    ///   - name: Its name; must not be empty.
    ///   - transport: What moves the bytes.
    public init(name: String, transport: any Transport) {
        precondition(!name.isEmpty, "A downloader needs a name that is not empty")
        self.name = name
        coordinator = DownloadCoordinator(transport: transport)
        coordinator.speak(for: self)
    }

    deinit { coordinator.cancel() }

    /// How long the server may keep silent, connecting and between two pieces of data, in seconds.
    ///
    /// 15 at first. Read when each request is built; a request modifier may change a request's `timeoutInterval`.
    open var downloadTimeout: TimeInterval {
        get { settings.withLock { $0.downloadTimeout } }
        set { settings.withLock { $0.downloadTimeout = newValue } }
    }

    /// Hosts whose certificate is accepted unchecked; nil means none.
    ///
    /// Judged anew for the host of each redirect.
    open var trustedHosts: Set<String>? {
        get { settings.withLock { $0.trustedHosts } }
        set { settings.withLock { $0.trustedHosts = newValue } }
    }

    /// The largest answer accepted, in bytes; a larger one fails the download before it is in memory.
    ///
    /// 200 MiB at first, or a tenth of the memory if that is less. (Not in Kingfisher.)
    open var maximumResponseSize: Int {
        get { settings.withLock { $0.maximumResponseSize } }
        set { settings.withLock { $0.maximumResponseSize = newValue } }
    }

    /// Whether the network is one to save data on, such as a metered one; false at first.
    ///
    /// While it is set, downloads with a ``KingfisherParsedOptionsInfo/lowDataModeSource`` fail before they start, with a
    /// `URLError` whose code is `.notConnectedToInternet`, and the manager loads that source instead. All others go on as
    /// ever. Linux does not tell a process: whoever asks NetworkManager or GLib's network monitor says so here. Read when
    /// each request is built. (Not in Kingfisher, which leaves it to the system.)
    open var isConstrained: Bool {
        get { settings.withLock { $0.isConstrained } }
        set { settings.withLock { $0.isConstrained = newValue } }
    }

    /// The largest answer accepted by default where so many bytes of memory may be used.
    static func responseLimit(memory: UInt64) -> Int { min(200 << 20, Int(clamping: memory / 10)) }

    /// Follows and steers the downloads.
    open weak var delegate: (any ImageDownloaderDelegate)? {
        get { coordinator.delegate }
        set { coordinator.delegate = newValue }
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
        let caller = DownloadCaller(url, options, DownloadTask(), completionHandler)
        let request = URLRequest(
            url: url,
            cachePolicy: .reloadIgnoringLocalCacheData,
            timeoutInterval: downloadTimeout
        )
        switch options.requestModifier {
        case nil: start(caller, request)
        case let modifier as any ImageDownloadRequestModifier: start(caller, modifier.modified(for: request))
        case let modifier?:
            let task = Task { [weak self] in
                let modified = await modifier.modified(for: request)
                guard let self else { return caller.abandon() }
                start(caller, modified)
            }
            // The modifier may have answered already: what stops the transfer must not be replaced by this.
            caller.handle.onCancelBeforeTransfer {
                task.cancel()
                caller.abandon()
            }
        }
        return caller.handle
    }

    private func start(_ caller: DownloadCaller, _ request: URLRequest?) {
        guard !caller.isSettled else { return }
        guard let request else { return caller.settle(.failure(.requestError(reason: .emptyRequest))) }
        guard let url = request.url, !url.absoluteString.isEmpty else {
            return caller.settle(.failure(.requestError(reason: .invalidURL(request: request))))
        }
        let settings = settings.withLock { $0 }
        let savesData = caller.options.lowDataModeSource != nil
        if savesData, settings.isConstrained {
            let error = TransportError.constrained(url).urlError
            return caller.settle(.failure(.responseError(reason: .URLSessionError(error: error))))
        }
        let policy = TransportPolicy(
            connectTimeout: request.timeoutInterval,
            idleTimeout: request.timeoutInterval,
            trustedHosts: settings.trustedHosts ?? [],
            allowsConstrainedNetworkAccess: !savesData
        )
        coordinator.join(caller, request, policy: policy, limit: settings.maximumResponseSize)
    }

    /// Cancels all downloads.
    open func cancelAll() { coordinator.cancel() }

    /// Cancels all downloads of a URL, as it was asked for or as a request modifier made it.
    ///
    /// - Parameter url: The URL.
    open func cancel(url: URL) { coordinator.cancel(url: url) }
}

extension ImageDownloader {
    /// Downloads and processes an image.
    ///
    /// - Parameters:
    ///   - url: Where the image is.
    ///   - options: How it is downloaded and processed.
    ///   - completionHandler: Called once, on the options' callback queue.
    /// - Returns: A handle to cancel the download with.
    @discardableResult
    public func downloadImage(
        with url: URL,
        options: KingfisherOptionsInfo? = nil,
        completionHandler: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask {
        downloadImage(with: url, options: KingfisherParsedOptionsInfo(options), completionHandler: completionHandler)
    }

    /// Downloads and processes an image.
    ///
    /// - Parameters:
    ///   - url: Where the image is.
    ///   - options: How it is downloaded and processed.
    ///   - progressBlock: Told of the progress, on the main queue, when the length is known.
    ///   - completionHandler: Called once, on the options' callback queue.
    /// - Returns: A handle to cancel the download with.
    @discardableResult
    public func downloadImage(
        with url: URL,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        completionHandler: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask {
        var parsed = KingfisherParsedOptionsInfo(options)
        let relay = ProgressRelay(progressBlock)
        if let relay { parsed.onDataReceived = { relay.report($0, of: $1) } }
        return downloadImage(with: url, options: parsed) { result in
            relay?.settle()
            completionHandler?(result)
        }
    }

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
        var options = options
        options.callbackQueue = .untouch
        let outcome = Promise<Result<ImageLoadingResult, KingfisherError>>()
        let task = downloadImage(with: url, options: options) { outcome.keep($0) }
        return try await withTaskCancellationHandler {
            await outcome.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    /// Downloads and processes an image.
    ///
    /// Cancelling the calling task cancels the download.
    ///
    /// - Parameters:
    ///   - url: Where the image is.
    ///   - options: How it is downloaded and processed; the callback queue does not matter.
    ///   - progressBlock: Told of the progress, on the main queue, when the length is known.
    /// - Returns: The image, its bytes and how long that took.
    /// - Throws: ``KingfisherError``, also for a cancelled download.
    public func downloadImage(
        with url: URL,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil
    ) async throws(KingfisherError) -> ImageLoadingResult {
        var parsed = KingfisherParsedOptionsInfo(options)
        let relay = ProgressRelay(progressBlock)
        if let relay { parsed.onDataReceived = { relay.report($0, of: $1) } }
        defer { relay?.settle() }
        return try await downloadImage(with: url, options: parsed)
    }
}
