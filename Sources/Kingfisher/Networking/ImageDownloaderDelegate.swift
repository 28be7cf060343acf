// The delegate of a downloader, and its default implementations.

public import Foundation

/// Follows and steers the downloads of an ``ImageDownloader``.
///
/// The calls for one transfer come one at a time, in the order they are listed here, never on the main thread except
/// the first, which comes on the thread that starts the transfer; those for several transfers may come at the same
/// time. Every method has a default.
public protocol ImageDownloaderDelegate: AnyObject {
    /// A transfer is about to start.
    ///
    /// - Parameters:
    ///   - downloader: The downloader.
    ///   - url: The URL of the request, after its modifier.
    ///   - request: The request.
    func imageDownloader(_ downloader: ImageDownloader, willDownloadImageForURL url: URL, with request: URLRequest?)

    /// Whether a status is accepted. By default those from 200 to 399 are.
    ///
    /// - Parameters:
    ///   - code: The HTTP status.
    ///   - downloader: The downloader.
    /// - Returns: Whether the download goes on.
    func isValidStatusCode(_ code: Int, for downloader: ImageDownloader) -> Bool

    /// The head of the response has arrived and its status is accepted. By default the download goes on.
    ///
    /// - Parameters:
    ///   - downloader: The downloader.
    ///   - response: The response.
    /// - Returns: `.cancel` to stop here; anything else goes on.
    func imageDownloader(
        _ downloader: ImageDownloader,
        didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition

    /// All bytes have arrived. By default calls the form with a URL.
    ///
    /// - Parameters:
    ///   - downloader: The downloader.
    ///   - data: The bytes.
    ///   - task: The transfer.
    /// - Returns: The bytes to process, cache and deliver; nil fails the download.
    func imageDownloader(_ downloader: ImageDownloader, didDownload data: Data, with task: SessionDataTask) -> Data?

    /// All bytes have arrived. Called only when the form with a task is not implemented.
    ///
    /// - Parameters:
    ///   - downloader: The downloader.
    ///   - data: The bytes.
    ///   - url: The URL of the request, after its modifier.
    /// - Returns: The bytes to process, cache and deliver; nil fails the download.
    func imageDownloader(_ downloader: ImageDownloader, didDownload data: Data, for url: URL) -> Data?

    /// A transfer is over; its images are not made yet.
    ///
    /// Called before the completion handlers, except for a download that was cancelled: that ends at once.
    /// - Parameters:
    ///   - downloader: The downloader.
    ///   - url: The URL of the request, after its modifier.
    ///   - response: The response, if one arrived.
    ///   - error: The error its subscribers get; nil for a success.
    func imageDownloader(
        _ downloader: ImageDownloader,
        didFinishDownloadingImageForURL url: URL,
        with response: URLResponse?,
        error: (any Error)?
    )

    /// An image was made for one subscriber.
    ///
    /// - Parameters:
    ///   - downloader: The downloader.
    ///   - image: The processed image.
    ///   - url: The URL of the request, after its modifier.
    ///   - response: The response.
    func imageDownloader(
        _ downloader: ImageDownloader,
        didDownload image: KFCrossPlatformImage,
        for url: URL,
        with response: URLResponse?
    )
}

extension ImageDownloaderDelegate {
    /// Does nothing.
    public func imageDownloader(
        _ downloader: ImageDownloader,
        willDownloadImageForURL url: URL,
        with request: URLRequest?
    ) {}

    /// Accepts statuses from 200 to 399.
    public func isValidStatusCode(_ code: Int, for downloader: ImageDownloader) -> Bool { (200..<400).contains(code) }

    /// Goes on.
    public func imageDownloader(
        _ downloader: ImageDownloader,
        didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition { .allow }

    /// Calls the form with a URL.
    public func imageDownloader(
        _ downloader: ImageDownloader,
        didDownload data: Data,
        with task: SessionDataTask
    ) -> Data? {
        guard let url = task.originalURL else { return data }
        return imageDownloader(downloader, didDownload: data, for: url)
    }

    /// Gives the bytes back.
    public func imageDownloader(_ downloader: ImageDownloader, didDownload data: Data, for url: URL) -> Data? { data }

    /// Does nothing.
    public func imageDownloader(
        _ downloader: ImageDownloader,
        didFinishDownloadingImageForURL url: URL,
        with response: URLResponse?,
        error: (any Error)?
    ) {}

    /// Does nothing.
    public func imageDownloader(
        _ downloader: ImageDownloader,
        didDownload image: KFCrossPlatformImage,
        for url: URL,
        with response: URLResponse?
    ) {}
}
