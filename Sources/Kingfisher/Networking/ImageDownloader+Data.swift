// Downloads of which no image is made. Sharing and everything else is as for images.

public import Foundation
import FoundationNetworking
import KFTransport

/// A finished download that was not made into an image. (Not in Kingfisher.)
public struct DataLoadingResult: Sendable {
    /// The bytes, as the downloader's delegate left them.
    public let data: Data
    /// The URL of the request that was sent, after its modifier and before redirections.
    public let url: URL?
    /// How long the phases of the download took.
    public let metrics: NetworkMetrics?
    /// The request that was sent and the head of its response, for what is kept with the cache's entry.
    var request: URLRequest?
    var response: TransportResponse?
    /// Whether credentials were sent for the bytes, or may have been.
    var isPersonal = false

    /// What the response says about caching, if it says anything.
    var cacheMetadata: CacheMetadata? { response.flatMap { CacheMetadata($0, to: request) } }
}

extension DataLoadingResult {
    init(_ bytes: LoadedBytes) {
        (data, url, metrics) = (bytes.data, bytes.url, bytes.metrics)
        (request, response, isPersonal) = (bytes.request, bytes.response, bytes.isPersonal)
    }
}

extension ImageDownloader {
    /// Downloads bytes and makes no image of them. (Not in Kingfisher.)
    ///
    /// Cancelling the calling task cancels the download.
    ///
    /// - Parameters:
    ///   - url: Where the bytes are.
    ///   - options: How they are downloaded; the processor and the callback queue do not matter.
    /// - Returns: The bytes and how long that took.
    /// - Throws: ``KingfisherError``, also for a cancelled download.
    public func downloadData(with url: URL, options: KingfisherParsedOptionsInfo = .init())
        async throws(KingfisherError) -> DataLoadingResult
    {
        guard !isSubclassed else {
            var options = options
            options.processor = BytesOnly.download
            (options.animatedProcessing, options.vectorProcessing) = (.firstFrame, .process)
            let result = try await downloadImage(with: url, options: options)
            let request = await presumedRequest(for: url, options)
            return DataLoadingResult(
                data: result.originalData,
                url: result.url,
                metrics: result.metrics,
                request: request,
                response: result.response,
                isPersonal: mayHaveSentCredentials(with: request)
            )
        }
        guard options.needsHandle else { return try await bytes(at: url, options) }
        let handle = DownloadTask()
        return try await handle.value { () async throws(KingfisherError) in
            try await self.bytes(at: url, options.handled(by: handle))
        }
    }

    private func bytes(
        at url: URL,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> DataLoadingResult {
        try await loader.withBytes(at: url, options, timeout: downloadTimeout) { bytes, _ in DataLoadingResult(bytes) }
    }

    /// Whether a subclass may have sent credentials with a request.
    func mayHaveSentCredentials(with request: URLRequest?) -> Bool {
        request?.hasCredentials == true || loader.responderLink != nil
    }

    /// The request that a subclass has sent unless it has changed it; nil where caching does not depend on it.
    func presumedRequest(for url: URL, _ options: KingfisherParsedOptionsInfo) async -> URLRequest? {
        guard options.respectCacheControl else { return nil }
        return try? await loader.conditions(for: url, options, timeout: nil).request
    }
}

/// A file of a live photo that was downloaded.
public struct LivePhotoResourceDownloadingResult: Sendable {
    /// The bytes.
    public let originalData: Data
    /// The URL of the request that was sent, after its modifier and before redirections; nil for a file that was read.
    public let url: URL?
    /// How long the phases of the download took.
    public let metrics: NetworkMetrics?

    /// A result, for downloaders of your own.
    public init(originalData: Data, url: URL?, metrics: NetworkMetrics? = nil) {
        (self.originalData, self.url, self.metrics) = (originalData, url, metrics)
    }

    init(_ loaded: DataLoadingResult) {
        self.init(originalData: loaded.data, url: loaded.url, metrics: loaded.metrics)
    }
}

extension ImageDownloader {
    /// Downloads a file of a live photo, of which no image is made.
    ///
    /// - Parameters:
    ///   - url: Where the file is.
    ///   - options: How it is downloaded; the processor does not matter.
    ///   - completionHandler: Called once, on the options' callback queue.
    /// - Returns: A handle to cancel the download with.
    @discardableResult
    public func downloadLivePhotoResource(
        with url: URL,
        options: KingfisherParsedOptionsInfo,
        completionHandler: (@Sendable (Result<LivePhotoResourceDownloadingResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask {
        let handle = DownloadTask()
        handle.start(priority: options.downloadPriority, on: options.callbackQueue, completionHandler) {
            () async throws(KingfisherError) in
            try await self.downloadLivePhotoResource(with: url, options: options.handled(by: handle))
        }
        return handle
    }

    /// Downloads a file of a live photo, of which no image is made.
    ///
    /// Cancelling the calling task cancels the download.
    /// - Parameters:
    ///   - url: Where the file is.
    ///   - options: How it is downloaded; the processor and the callback queue do not matter.
    /// - Returns: The file and how long that took.
    /// - Throws: ``KingfisherError``, also for a cancelled download.
    public func downloadLivePhotoResource(with url: URL, options: KingfisherParsedOptionsInfo)
        async throws(KingfisherError) -> LivePhotoResourceDownloadingResult
    {
        let loaded = try await downloadData(with: url, options: options)
        return LivePhotoResourceDownloadingResult(loaded)
    }
}
