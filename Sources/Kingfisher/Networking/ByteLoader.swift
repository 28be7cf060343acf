// Gets bytes from the network, and has a delegate follow it: the core below ImageDownloader, and the manager's way there.

import Foundation
import KFSupport
import KFTransport

/// Gets bytes from the network: one transfer for all subscribers that want the same at the same time.
///
/// ``ImageDownloader`` adds what subclasses may override.
final class ByteLoader: Sendable {
    private struct DelegateReference: Sendable {
        weak var downloader: ImageDownloader?
        weak var delegate: (any ImageDownloaderDelegate)?
    }

    let transfers = Flights<Transfer>()
    let transport: any Transport
    let bytesInFlight = BytesInFlight(limit: BytesInFlight.defaultLimit)
    private let delegateReference = Locked(DelegateReference())
    let settings = Locked(Settings())

    init(transport: any Transport) { self.transport = transport }

    // MARK: The delegate

    var delegate: (any ImageDownloaderDelegate)? { delegateReference.withLock { $0.delegate } }

    /// From now on calls a delegate, on behalf of a downloader.
    ///
    /// (The downloader is not referred to before: objects with weak references are slower to retain.)
    func follow(_ delegate: (any ImageDownloaderDelegate)?, for downloader: ImageDownloader) {
        delegateReference.withLock { $0 = DelegateReference(downloader: downloader, delegate: delegate) }
    }

    /// The delegate and its downloader, if there is a delegate.
    var delegateAndDownloader: (ImageDownloader, any ImageDownloaderDelegate)? {
        let delegateReference = delegateReference.withLock { $0 }
        guard let downloader = delegateReference.downloader, let delegate = delegateReference.delegate else {
            return nil
        }
        return (downloader, delegate)
    }

    // MARK: Downloading

    /// Does something with the bytes at a URL.
    ///
    /// The transfer is under way before this first suspends, unless the request's modifier is asynchronous. Cancelling
    /// the calling task removes this subscriber; the last one to leave stops the transfer.
    /// - Parameters:
    ///   - url: Where the bytes are.
    ///   - options: How they are downloaded.
    ///   - timeout: How long the server may keep silent, in seconds; nil means what the settings say.
    ///   - sharesValuesSince: Bytes that arrived after this instant and that others still work with are shared; nil
    ///     shares none.
    ///   - use: What is done with the bytes; also given the error to end with if the calling task is cancelled.
    /// - Returns: What `use` returns.
    /// - Throws: ``KingfisherError``, also for a cancelled download.
    func withBytes<Value>(
        at url: URL,
        _ options: KingfisherParsedOptionsInfo,
        timeout: TimeInterval? = nil,
        sharesValuesSince: ContinuousClock.Instant? = nil,
        use: (LoadedBytes, KingfisherError) async throws(KingfisherError) -> Value
    ) async throws(KingfisherError) -> Value {
        guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
        let (request, policy) = try await request(for: url, options, timeout: timeout)
        let key = TransferKey(request, policy)
        let subscriber = Subscriber<LoadedBytes>(
            hooks: options.hooks,
            priority: options.downloadPriority,
            url: url,
            redirectHandler: options.redirectHandler,
            sharesValuesSince: sharesValuesSince
        )
        return try await transfers.value(
            for: key,
            subscriber,
            make: { Transfer(request, policy: policy, key: key, loader: self) },
            joined: { transfer, number in
                subscriber.served(by: .transfer(transfer.sessionTask, number))
                // The code that was notified may have cancelled the load: then nothing is sent.
                if !subscriber.isWanted { transfers.leave(transfer, number) }
            },
            use: use
        )
    }

    /// The image the options' processor makes of the bytes at a URL.
    ///
    /// - Parameters:
    ///   - url: Where the bytes are.
    ///   - options: How they are downloaded and processed.
    ///   - timeout: How long the server may keep silent, in seconds.
    /// - Returns: The image, the bytes it was made of, and how long that took.
    /// - Throws: ``KingfisherError``, also for a download that is cancelled, at once and at whatever step it is.
    func image(
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
            made.fulfil(await Result { () async throws(KingfisherError) in try await self.image(of: bytes, options) })
        }
        return try await withTaskCancellationHandler {
            await made.value
        } onCancel: {
            made.fulfil(.failure(error))
        }.get()
    }

    /// The image the options' processor makes of downloaded bytes; the delegate is notified of it.
    func image(
        of bytes: LoadedBytes,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> KFCrossPlatformImage {
        let image = try await bytes.image(options).get()
        if !(options.processor is BytesOnly), let url = bytes.url, let (downloader, delegate) = delegateAndDownloader {
            let response = bytes.response?.urlResponse
            await WorkExecutor.cpu.run {
                delegate.imageDownloader(downloader, didDownload: image, for: url, with: response)
            }
        }
        return image
    }

    /// Cancels every download of one URL, as it was requested or as a modifier changed it; nil means all URLs.
    func cancel(url: URL?) {
        for transfer in transfers.all {
            for (number, subscriber) in transfer.flight.subscribers
            where url == nil || subscriber.url == url || transfer.request.url == url {
                transfers.leave(transfer, number)
            }
        }
    }

    // MARK: When a transfer is over

    /// A transfer has ended: the delegate is notified, and then the subscribers.
    func finished(_ transfer: Transfer, _ result: Result<Data, KingfisherError>, _ response: TransportResponse?) {
        guard delegateAndDownloader != nil else {
            // This is fast enough for the transport's thread.
            return transfers.finish(transfer, result.map { LoadedBytes($0, of: transfer, response) })
        }
        Task(executorPreference: WorkExecutor.io) { [self] in
            let result = hooked(transfer, result, response)
            transfers.finish(transfer, result.map { LoadedBytes($0, of: transfer, response) })
        }
    }

    /// Lets the delegate see, and replace, the bytes that arrived.
    private func hooked(
        _ transfer: Transfer,
        _ received: Result<Data, KingfisherError>,
        _ response: TransportResponse?
    ) -> Result<Data, KingfisherError> {
        guard let (downloader, delegate) = delegateAndDownloader else { return received }
        var result = received
        if case .success(let data) = received {
            let task = transfer.sessionTask
            result =
                delegate.imageDownloader(downloader, didDownload: data, with: task).map { .success($0) }
                ?? .failure(.responseError(reason: .dataModifyingFailed(task: task)))
        }
        guard let url = transfer.request.url else { return result }
        var error: KingfisherError?
        if case .failure(let failure) = result { error = failure }
        delegate.imageDownloader(
            downloader,
            didFinishDownloadingImageForURL: url,
            with: response?.urlResponse,
            error: error
        )
        return result
    }
}
