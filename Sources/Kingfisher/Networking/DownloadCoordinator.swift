// Who waits for which transfer, and what they get when it is over. The rules are SharedWork's.

import Foundation
import KFSupport
import KFTransport

/// One caller of a downloader, settled exactly once.
final class DownloadCaller: Sendable {
    typealias Completion = @Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void

    /// The URL the caller asked for, before any modifier.
    let url: URL
    let options: KingfisherParsedOptionsInfo
    let handle: DownloadTask
    private let completion: Completion?
    private let hasSettled = Locked(false)

    init(_ url: URL, _ options: KingfisherParsedOptionsInfo, _ handle: DownloadTask, _ completion: Completion?) {
        self.url = url
        self.options = options
        self.handle = handle
        self.completion = completion
    }

    var isSettled: Bool { hasSettled.withLock { $0 } }

    /// Settles a caller that was cancelled before there was a transfer to name.
    func abandon() { settle(.failure(.requestError(reason: .asyncTaskContextCancelled))) }

    /// Delivers the result, unless another one was delivered before.
    func settle(_ result: Result<ImageLoadingResult, KingfisherError>) {
        let isFirst = hasSettled.withLock { hasSettled in
            defer { hasSettled = true }
            return !hasSettled
        }
        guard isFirst else { return }
        handle.finish()
        if let completion { options.callbackQueue.execute { completion(result) } }
    }
}

/// Shares transfers between callers.
final class DownloadCoordinator: Sendable {
    private typealias Work = SharedWork<TransferKey, DownloadCaller>

    private struct State: Sendable {
        var work = Work()
        var transfers: [Int: Transfer] = [:]
        var tickets: [ObjectIdentifier: Work.Ticket] = [:]
    }

    private struct Audience: Sendable {
        weak var downloader: ImageDownloader?
        weak var delegate: (any ImageDownloaderDelegate)?
    }

    private let transport: any Transport
    private let state = Locked(State())
    private let watching = Locked(Audience())

    init(transport: any Transport) { self.transport = transport }

    // MARK: The delegate

    var delegate: (any ImageDownloaderDelegate)? {
        get { watching.withLock { $0.delegate } }
        set { watching.withLock { $0.delegate = newValue } }
    }

    /// Says on whose behalf the delegate is asked.
    func speak(for downloader: ImageDownloader) { watching.withLock { $0.downloader = downloader } }

    /// The delegate and whom it follows, if there is one to be told.
    var audience: (ImageDownloader, any ImageDownloaderDelegate)? {
        let watching = watching.withLock { $0 }
        guard let downloader = watching.downloader, let delegate = watching.delegate else { return nil }
        return (downloader, delegate)
    }

    // MARK: Joining and leaving

    /// Lets a caller wait for a request, starting its transfer if it is not under way.
    func join(_ caller: DownloadCaller, _ request: URLRequest, policy: TransportPolicy, limit: Int) {
        let key = TransferKey(request, policy)
        let (transfer, isFirst) = state.withLock { state -> (Transfer?, Bool) in
            let (ticket, isFirst) = state.work.join(key, caller)
            state.tickets[ObjectIdentifier(caller)] = ticket
            if isFirst {
                state.transfers[ticket.round] = Transfer(
                    request,
                    key: key,
                    round: ticket.round,
                    limit: limit,
                    coordinator: self
                )
            }
            return (state.transfers[ticket.round], isFirst)
        }
        guard let transfer else { return }
        let token = transfer.sessionTask.issueToken()
        caller.handle.link(to: transfer.sessionTask, token: token)
        caller.handle.onCancel { [weak self] in self?.leave(caller, transfer, token) }
        if caller.isSettled {
            // Cancelled after the check before joining and before the line above: it still takes part.
            leave(caller, transfer, token)
        } else {
            caller.options.requestModifier?.onDownloadTaskStarted?(caller.handle)
            caller.options.onTransferStarted?(transfer.sessionTask, token)
        }

        guard isFirst else { return raisePriority(of: transfer) }
        guard transfer.announce() else { return }
        if let url = request.url, let (downloader, delegate) = audience {
            delegate.imageDownloader(downloader, willDownloadImageForURL: url, with: request)
        }
        transfer.start(on: transport, policy: policy, priority: priority(of: transfer))
    }

    /// Takes a caller away; the last one to leave stops the transfer.
    private func leave(_ caller: DownloadCaller, _ transfer: Transfer, _ token: SessionDataTask.CancelToken) {
        let departure = state.withLock { state -> Work.Departure in
            guard let ticket = state.tickets.removeValue(forKey: ObjectIdentifier(caller)) else { return .tooLate }
            let departure = state.work.leave(ticket)
            if case .stop = departure { state.transfers[ticket.round] = nil }
            return departure
        }
        let error = KingfisherError.requestError(reason: .taskCancelled(task: transfer.sessionTask, token: token))
        if case .stop = departure, transfer.stop(), audience != nil {
            Task(executorPreference: WorkExecutor.io) { [self] in
                tellFinished(transfer, response: transfer.response, error)
                caller.settle(.failure(error))
            }
        } else {
            caller.settle(.failure(error))  // also after the bytes arrived: until it is settled it can be cancelled
        }
        if case .others = departure { raisePriority(of: transfer) }
    }

    /// Cancels every caller, or every caller of one URL, as asked for or as modified.
    func cancel(url: URL? = nil) {
        let callers = state.withLock { state in
            state.transfers.values.flatMap { transfer in
                state.work.waiters(transfer.key, round: transfer.round)
                    .filter { url == nil || $0.url == url || transfer.request.url == url }
            }
        }
        for caller in callers { caller.handle.cancel() }
    }

    private func waiters(of transfer: Transfer) -> [DownloadCaller] {
        state.withLock { $0.work.waiters(transfer.key, round: transfer.round) }
    }

    /// The highest priority of those who wait.
    private func priority(of transfer: Transfer) -> Float {
        waiters(of: transfer).reduce(nil) { max($0 ?? 0, $1.options.downloadPriority) } ?? 0.5
    }

    private func raisePriority(of transfer: Transfer) { transfer.sessionTask.task?.priority = priority(of: transfer) }

    // MARK: While it goes on

    /// The handler of the first caller that has one.
    func redirectHandler(of transfer: Transfer) -> (any ImageDownloadRedirectHandler)? {
        waiters(of: transfer).lazy.compactMap(\.options.redirectHandler).first
    }

    func report(_ received: Int64, of expected: Int64, for transfer: Transfer) {
        for caller in waiters(of: transfer) { caller.options.onDataReceived?(received, expected) }
    }

    // MARK: When it is over

    func finished(_ transfer: Transfer, _ ending: Transfer.Ending) {
        let callers = state.withLock { state in
            let callers = state.work.finish(transfer.key, round: transfer.round)
            if state.transfers[transfer.round] === transfer { state.transfers[transfer.round] = nil }
            for caller in callers { state.tickets[ObjectIdentifier(caller)] = nil }
            return callers
        }
        guard !callers.isEmpty else { return }
        if audience == nil, callers.allSatisfy({ $0.options.processor is BytesOnly }) {
            // Nothing of this takes time: the transport's thread may do it.
            return deliver(ending, of: transfer, to: callers)
        }
        // Where the processing will be: every change of threads in between costs as much as parsing the response.
        Task(executorPreference: WorkExecutor.cpu) { [self] in
            let result = await hooked(transfer, ending)
            switch result {
            case .success(let data): await process(data, ending.response, transfer, callers)
            case .failure(let error): for caller in callers { caller.settle(.failure(error)) }
            }
        }
    }

    /// Delivers bytes nobody wants an image of.
    private func deliver(_ ending: Transfer.Ending, of transfer: Transfer, to callers: [DownloadCaller]) {
        let metrics = transfer.sessionTask.metrics
        let result = ending.result.map { data in
            ImageLoadingResult(image: Image(), url: transfer.request.url, originalData: data, metrics: metrics)
        }
        for caller in callers { caller.settle(result) }
    }

    /// Lets the delegate see, and change, what arrived.
    private func hooked(_ transfer: Transfer, _ ending: Transfer.Ending) async -> Result<Data, KingfisherError> {
        guard let (downloader, delegate) = audience else { return ending.result }
        return await WorkExecutor.io.run { () async -> Result<Data, KingfisherError> in
            var result = ending.result
            if case .success(let data) = result {
                let task = transfer.sessionTask
                result =
                    delegate.imageDownloader(downloader, didDownload: data, with: task).map { .success($0) }
                    ?? .failure(.responseError(reason: .dataModifyingFailed(task: task)))
            }
            var error: KingfisherError?
            if case .failure(let failure) = result { error = failure }
            self.tellFinished(transfer, response: ending.response, error)
            return result
        }
    }

    private func tellFinished(_ transfer: Transfer, response: TransportResponse?, _ error: KingfisherError?) {
        guard let url = transfer.request.url, let (downloader, delegate) = audience else { return }
        delegate.imageDownloader(
            downloader,
            didFinishDownloadingImageForURL: url,
            with: response?.urlResponse,
            error: error
        )
    }

    /// What two callers must have in common to be given one image.
    private struct Recipe: Hashable {
        let processor: String
        let creating: ImageCreatingOptions
        let frames: AnimatedProcessingPolicy
        let queue: CallbackQueue.Identity?
    }

    /// Processes the data once for every distinct processor, side by side.
    private func process(
        _ data: Data,
        _ response: TransportResponse?,
        _ transfer: Transfer,
        _ callers: [DownloadCaller]
    ) async {
        let groups = Dictionary(grouping: callers) {
            Recipe(
                processor: $0.options.processor.identifier,
                creating: $0.options.imageCreatingOptions,
                frames: $0.options.animatedProcessing,
                queue: $0.options.processingQueue?.identity
            )
        }
        guard groups.count > 1 else { return await process(data, response, transfer, alike: callers) }
        await withTaskGroup(of: Void.self) { tasks in
            for group in groups.values {
                tasks.addTask { await self.process(data, response, transfer, alike: group) }
            }
        }
    }

    private func process(
        _ data: Data,
        _ response: TransportResponse?,
        _ transfer: Transfer,
        alike callers: [DownloadCaller]
    ) async {
        guard let first = callers.first(where: { !$0.isSettled }) else { return }
        let result = await Result { () async throws(KingfisherError) in
            var result = ImageLoadingResult(
                image: try await first.options.processor.processed(.data(data), first.options),
                url: transfer.request.url,
                originalData: data,
                metrics: transfer.sessionTask.metrics
            )
            result.response = response
            return result
        }.mapError { transfer.isRedirectDeclined ? $0 : response?.reasonForNoImage ?? $0 }
        let audience = audience
        for caller in callers where !caller.isSettled {
            if case .success(let value) = result, let url = transfer.request.url, let (downloader, delegate) = audience
            {
                delegate.imageDownloader(downloader, didDownload: value.image, for: url, with: response?.urlResponse)
            }
            caller.settle(result)
        }
    }
}

extension TransportResponse {
    /// Why there is no image in the body, if the status says it: there is no content, or it is elsewhere.
    ///
    /// These statuses are accepted, and a body that is an image is taken; without one, they are the reason. (Unless a
    /// redirect handler wanted the redirect as the answer: then its body is what is wrong.)
    fileprivate var reasonForNoImage: KingfisherError? {
        guard let statusCode, [204, 205].contains(statusCode) || 300..<400 ~= statusCode,
            let http = urlResponse as? HTTPURLResponse
        else { return nil }
        return .responseError(reason: .invalidHTTPStatusCode(response: http))
    }
}
