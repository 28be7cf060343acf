// Downloads of which no image is made. Sharing and everything else is as for images.

public import Foundation

/// A finished download that was not made into an image. (Not in Kingfisher.)
public struct DataLoadingResult: Sendable {
    /// The bytes, as the downloader's delegate left them.
    public let data: Data
    /// The URL of the request that was sent, after its modifier and before redirections.
    public let url: URL?
    /// How long the phases of the download took.
    public let metrics: NetworkMetrics?
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
        guard isPlain else {
            var options = options
            options.processor = BytesOnly()
            let result = try await downloadImage(with: url, options: options)
            return DataLoadingResult(data: result.originalData, url: result.url, metrics: result.metrics)
        }
        let (handle, timeout) = (DownloadTask(), downloadTimeout)
        return try await loader.withBytes(at: url, options, handle, timeout: timeout, wantsImage: false) {
            DataLoadingResult(data: $0.bytes.data, url: $0.bytes.url, metrics: $0.bytes.metrics)
        }
    }
}

/// Leaves the bytes alone: stands for the processor where a subclass downloads bytes of which no image is wanted.
struct BytesOnly: ImageProcessor {
    let identifier = "com.onevcat.Kingfisher.BytesOnly"
    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? { Image() }
}
