// A load as an object: its progress and its previews as sequences, its result, its end. For programs that show more
// than the result.

import KFImaging
import KFSupport

/// A load that has begun. (Not in Kingfisher.)
///
/// ```swift
/// let load = KingfisherManager.shared.loadTask(with: url, options: [.progressiveJPEG(ImageProgressive())])
/// async let image = load.value
/// for await progress in load.progress { print(progress.fraction) }
/// show(try await image.image)
/// ```
/// It goes on whether anybody waits for it or not: a task that waits for ``value`` and is cancelled gets it
/// nevertheless. Each sequence is for one loop; both end with the load.
public struct ImageLoadTask: Sendable {
    /// How much of a download has arrived.
    public struct Progress: Hashable, Sendable {
        /// The bytes that have arrived.
        public let receivedBytes: Int64
        /// The bytes that are expected.
        public let totalBytes: Int64
        /// The share that has arrived, 0…1.
        public var fraction: Double { totalBytes > 0 ? min(Double(receivedBytes) / Double(totalBytes), 1) : 0 }
    }

    /// The progress of the download, where its length is known; a loop that comes late gets the latest.
    public let progress: AsyncStream<Progress>
    /// The previews of a progressive JPEG, with ``KingfisherParsedOptionsInfo/progressiveJPEG``; a loop that comes late
    /// gets the latest.
    public let previews: AsyncStream<KFCrossPlatformImage>
    fileprivate let result: Promise<Result<RetrieveImageResult, KingfisherError>>
    fileprivate let handle: DownloadTask?

    /// The image and where it was found, when the load has ended.
    ///
    /// It throws a ``KingfisherError``, also for a load that was cancelled (see ``KingfisherError/isCancelled``).
    public var value: RetrieveImageResult {
        get async throws(KingfisherError) { try await result.value.get() }
    }

    /// Cancels the load; others that share its work go on.
    ///
    /// May be called from any thread; nothing happens after the end.
    public func cancel() { handle?.cancel() }
}

extension KingfisherManager {
    /// Begins to load the image of a source. (Not in Kingfisher.)
    ///
    /// - Parameters:
    ///   - source: Where the image comes from.
    ///   - options: How it is loaded, processed and cached; the callback queue has no effect.
    /// - Returns: The load.
    public func loadTask(with source: Source, options: KingfisherOptionsInfo? = nil) -> ImageLoadTask {
        var parsed = parsed(options)
        parsed.callbackQueue = .untouch
        let (progress, progressEnd) = AsyncStream<ImageLoadTask.Progress>.makeStream(
            bufferingPolicy: .bufferingNewest(1)
        )
        let (previews, previewsEnd) = AsyncStream<KFCrossPlatformImage>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let result = Promise<Result<RetrieveImageResult, KingfisherError>>()
        let handle = retrieveImage(
            with: source,
            parsed: parsed,
            directProgress: { progressEnd.yield(ImageLoadTask.Progress(receivedBytes: $0, totalBytes: $1)) },
            previewSetter: { if let image = $0 { previewsEnd.yield(image) } },
            completionHandler: { ended in
                progressEnd.finish()
                previewsEnd.finish()
                result.fulfil(ended)
            }
        )
        return ImageLoadTask(progress: progress, previews: previews, result: result, handle: handle)
    }

    /// Begins to load the image of a resource, such as a URL. (Not in Kingfisher.)
    ///
    /// - Parameters:
    ///   - resource: Where the image is; a file URL is read from disk.
    ///   - options: How it is loaded, processed and cached; the callback queue has no effect.
    /// - Returns: The load.
    public func loadTask(with resource: any Resource, options: KingfisherOptionsInfo? = nil) -> ImageLoadTask {
        loadTask(with: resource.convertToSource(), options: options)
    }
}
