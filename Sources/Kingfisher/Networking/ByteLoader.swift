// Gets bytes from the network, has a delegate follow it, and keeps what interrupted downloads have brought: the core
// below ImageDownloader, and the manager's way there.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport

/// Gets bytes from the network: one transfer for all subscribers that want the same at the same time.
///
/// ``ImageDownloader`` adds what subclasses may override.
final class ByteLoader: Sendable {
    // SAFETY: lies in a lock, and a weak reference may be read from any thread. What it refers to is called as below.
    private struct DelegateReference: @unchecked Sendable {
        weak var downloader: ImageDownloader?
        weak var delegate: (any ImageDownloaderDelegate)?
        weak var responder: (any AuthenticationChallengeResponsible)?
    }

    /// A delegate and its downloader, for as long as it is called.
    // SAFETY: Kingfisher's protocol does not ask for Sendable. Its documentation says that threads of the library call
    // the delegate, for several transfers at the same time; so a delegate has to be safe for that.
    struct DelegateLink: @unchecked Sendable {
        let downloader: ImageDownloader
        let delegate: any ImageDownloaderDelegate
    }

    /// The same for the object that answers challenges.
    // SAFETY: as above; the protocol's documentation says the same.
    struct ResponderLink: @unchecked Sendable {
        let downloader: ImageDownloader
        let responder: any AuthenticationChallengeResponsible
    }

    let transfers = SharedTasks<TransferKey, LoadedBytes>()
    let transport: any Transport
    let bytesInFlight = BytesInFlight(limit: BytesInFlight.defaultLimit)
    private let delegateReference = Locked(DelegateReference())
    let settings = Locked(Settings())
    private let partialBodies = Locked(PartialBodies())

    init(transport: any Transport) { self.transport = transport }

    // MARK: The delegate

    var delegate: (any ImageDownloaderDelegate)? { delegateReference.withLock { $0 }.delegate }

    /// From now on calls a delegate, on behalf of a downloader.
    ///
    /// (The downloader is not referred to before: objects with weak references are slower to retain.)
    func setDelegate(_ delegate: (any ImageDownloaderDelegate)?, of downloader: ImageDownloader) {
        let link = DelegateReference(downloader: downloader, delegate: delegate)
        delegateReference.withLock { ($0.downloader, $0.delegate) = (link.downloader, link.delegate) }
    }

    /// The delegate and its downloader, if there is a delegate.
    var delegateLink: DelegateLink? {
        let reference = delegateReference.withLock { $0 }
        guard let downloader = reference.downloader, let delegate = reference.delegate else { return nil }
        return DelegateLink(downloader: downloader, delegate: delegate)
    }

    /// Answers challenges instead of the downloader.
    var responder: (any AuthenticationChallengeResponsible)? { delegateReference.withLock { $0 }.responder }

    /// From now on has challenges answered by another object, on behalf of a downloader.
    func setResponder(_ responder: (any AuthenticationChallengeResponsible)?, of downloader: ImageDownloader) {
        let link = DelegateReference(downloader: downloader, responder: responder)
        delegateReference.withLock { ($0.downloader, $0.responder) = (link.downloader, link.responder) }
    }

    /// The object that answers challenges, if it is not the downloader itself.
    var responderLink: ResponderLink? {
        let reference = delegateReference.withLock { $0 }
        guard let downloader = reference.downloader, let responder = reference.responder, responder !== downloader
        else { return nil }
        return ResponderLink(downloader: downloader, responder: responder)
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
        let conditions = try await conditions(for: url, options, timeout: timeout)
        let key = TransferKey(conditions)
        var observer = options.load.observer
        if let received = options.onDataReceived { observer = DownloadObserver(before: observer, received: received) }
        let subscriber = Subscriber<LoadedBytes>(
            observer: observer,
            priority: options.downloadPriority,
            url: url,
            downsamplingLimit: options.downsamplingLimit,
            sharesValuesSince: sharesValuesSince
        )
        return try await transfers.withValue(for: key, subscriber, make: { task(conditions, key) }, use: use)
    }

    private func task(_ conditions: TransferConditions, _ key: TransferKey) -> SharedTask<TransferKey, LoadedBytes> {
        let transfer = Transfer(conditions, key: key, owner: self, by: transport, counting: bytesInFlight)
        return SharedTask(key, .transfer(transfer.sessionTask), in: transfers) { task throws(KingfisherError) in
            try await transfer.bytes(for: task)
        }
    }

    /// Cancels every download of one URL, as it was requested or as a modifier changed it; nil means all URLs.
    func cancel(url: URL?) {
        for transfer in transfers.all {
            for (number, subscriber) in transfer.numberedSubscribers
            where url == nil || subscriber.url == url || transfer.key.url == url { transfer.remove(number) }
        }
    }

    func dropPartialBodies() { partialBodies.withLock { $0.removeAll() } }
}

extension ByteLoader: TransferOwner {
    func willSend(_ transfer: Transfer) -> PartialBody? {
        if let url = transfer.request.url, let link = delegateLink {
            link.delegate.imageDownloader(link.downloader, willDownloadImageForURL: url, with: transfer.request)
        }
        guard settings.withLock({ $0.isResumingEnabled }), let body = partialBodies.withLock({ $0.take(transfer.key) })
        else { return nil }
        return transfer.mayContinue ? body : nil
    }

    func judgement(of response: TransportResponse, to transfer: Transfer) -> (@Sendable () async -> Bool)? {
        guard let link = delegateLink else { return nil }
        return {
            let isAccepted = await WorkExecutor.userCode.run {
                transfer.accepts(response) { link.delegate.isValidStatusCode($0, for: link.downloader) }
            }
            guard isAccepted else { return false }
            return await link.delegate.imageDownloader(link.downloader, didReceive: response.urlResponse) != .cancel
        }
    }

    var answering: (@Sendable (TransportChallenge, SessionDataTask) async -> TransportCredential)? {
        guard let link = responderLink else { return nil }
        return { await link.credential(for: $0, of: $1) }
    }

    func keep(_ body: PartialBody, for transfer: Transfer) {
        guard settings.withLock({ $0.isResumingEnabled }), transfer.mayContinue else { return }
        partialBodies.withLock { $0.keep(body, for: transfer.key) }
    }

    func didMake(
        _ image: KFCrossPlatformImage,
        of request: URLRequest,
        _ response: TransportResponse?,
        _ options: KingfisherParsedOptionsInfo
    ) async {
        guard !(options.processor is BytesOnly), let url = request.url, let link = delegateLink else { return }
        await WorkExecutor.userCode.run {
            link.delegate.imageDownloader(link.downloader, didDownload: image, for: url, with: response?.urlResponse)
        }
    }

    func finished(
        _ transfer: Transfer,
        with result: Result<Data, KingfisherError>,
        response: TransportResponse?
    ) async throws(KingfisherError) -> Data {
        let conditions = transfer.conditions
        guard delegateLink != nil || conditions.decryptor != nil || conditions.dataModifier != nil else {
            return try result.get()
        }
        return try await WorkExecutor.userCode.run { [self] in
            let result = result.flatMap { data in
                Result { () throws(KingfisherError) in
                    let decrypted = try decrypted(data, of: transfer, response)
                    return try modified(decrypted, of: transfer.sessionTask, by: conditions.dataModifier)
                }
            }
            if let link = delegateLink, let url = transfer.request.url {
                var error: KingfisherError?
                if case .failure(let failure) = result { error = failure }
                link.delegate.imageDownloader(
                    link.downloader,
                    didFinishDownloadingImageForURL: url,
                    with: response?.urlResponse,
                    error: error
                )
            }
            return result
        }.get()
    }

    /// The bytes that arrived, decrypted.
    private func decrypted(
        _ data: Data,
        of transfer: Transfer,
        _ response: TransportResponse?
    ) throws(KingfisherError) -> Data {
        guard let decryptor = transfer.conditions.decryptor else { return data }
        let task = transfer.sessionTask
        let result = Result { try decryptor.decrypt(data, response: response?.urlResponse) }
        switch result {
        case .success(let decrypted?): return decrypted
        case .success(nil): throw .responseError(reason: .decryptionFailed(task: task, error: nil))
        case .failure(let error): throw .responseError(reason: .decryptionFailed(task: task, error: error))
        }
    }

    /// The bytes that arrived, as the load's modifier and then the delegate change them.
    private func modified(
        _ data: Data,
        of task: SessionDataTask,
        by modifier: (any ImageDownloadDataModifier)?
    ) throws(KingfisherError) -> Data {
        var modified: Data? = data
        if let modifier { modified = modifier.modified(data, for: task) }
        if let data = modified, let link = delegateLink {
            modified = link.delegate.imageDownloader(link.downloader, didDownload: data, with: task)
        }
        guard let modified else { throw .responseError(reason: .dataModifyingFailed(task: task)) }
        return modified
    }
}

/// The partial bodies of a downloader; those used least recently go first.
struct PartialBodies: Sendable {
    /// How many bytes are kept: a hundredth of the memory, 32 MiB at most.
    static var defaultLimit: Int { min(Int(clamping: UsableMemory.bytes / 100), 32 << 20) }

    private static let maximumCount = 100
    private var bodies: [(key: TransferKey, body: PartialBody)] = []
    private let limit: Int

    init(limit: Int = defaultLimit) { self.limit = limit }

    /// Keeps a body, unless it alone is larger than the limit.
    mutating func keep(_ body: PartialBody, for key: TransferKey) {
        _ = take(key)
        guard body.data.count <= limit else { return }
        bodies.append((key, body))
        while bodies.count > Self.maximumCount || bodies.reduce(0, { $0 + $1.body.data.count }) > limit {
            bodies.removeFirst()
        }
    }

    /// Takes out the body for a key.
    mutating func take(_ key: TransferKey) -> PartialBody? {
        bodies.firstIndex { $0.key == key }.map { bodies.remove(at: $0).body }
    }

    mutating func removeAll() { bodies = [] }
}
