// Which callers wait for which transfer, and what they get when it is over. The rules are SharedWork's; what is made of
// the bytes is LoadedBytes' business.

import Foundation
import KFSupport
import KFTransport

/// Gets bytes from the network: one transfer for all callers that want the same at the same time.
///
/// The core below ``ImageDownloader``, which adds what subclasses may override.
final class ByteLoader: Sendable {
    private typealias Work = SharedWork<TransferKey, BytesCaller>

    /// One transfer and its state.
    private struct Round: Sendable {
        let transfer: Transfer
        /// Whether the transport has begun, and the callers have been notified.
        var isStarted = false
        /// How it ended, first of all.
        var ending: Transfer.Ending?
    }

    /// Bytes that have arrived, while callers that waited for them still work with them.
    private struct Arrival: Sendable {
        let transfer: Transfer
        let bytes: LoadedBytes
        let time = ContinuousClock.now
        var users: Set<ObjectIdentifier>
    }

    private struct State: Sendable {
        var work = Work()
        var rounds: [Int: Round] = [:]
        var arrivals: [TransferKey: Arrival] = [:]
        var isClosed = false
    }

    private struct DelegateReference: Sendable {
        weak var downloader: ImageDownloader?
        weak var delegate: (any ImageDownloaderDelegate)?
    }

    let transport: any Transport
    let bytesInFlight = BytesInFlight(limit: BytesInFlight.defaultLimit)
    private let state = Locked(State())
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

    // MARK: Joining and leaving

    /// Does something with the bytes of the response to a request; the caller's image is made of them if it wants one.
    ///
    /// The transfer is under way before this first suspends. Cancelling the calling task, or the caller's handle,
    /// removes this caller; the last one to leave stops the transfer. A caller that shares arrivals may be given bytes
    /// that others still work with.
    /// - Throws: ``KingfisherError``; for a caller that has left
    ///   ``KingfisherError/RequestErrorReason/taskCancelled(task:token:)``.
    func withBytes<Value>(
        _ request: URLRequest,
        policy: TransportPolicy,
        limit: Int,
        for caller: BytesCaller,
        _ body: (BytesCaller.Delivery) async throws(KingfisherError) -> Value
    ) async throws(KingfisherError) -> Value {
        let key = TransferKey(request, policy)
        defer {
            caller.handle.finish()
            if caller.sharesArrivalsSince != nil { release(key, caller) }
        }
        guard let registration = try join(caller, request, key, policy, limit) else {
            return try await body(try await caller.outcome.value.get())
        }
        let delivery = try await withTaskCancellationHandler {
            await caller.outcome.value
        } onCancel: {
            leave(caller, registration)
        }.get()
        return try await body(delivery)
    }

    /// The registration of a caller that has to wait; nil for one that was given bytes that have arrived already.
    private func join(
        _ caller: BytesCaller,
        _ request: URLRequest,
        _ key: TransferKey,
        _ policy: TransportPolicy,
        _ limit: Int
    ) throws(KingfisherError) -> BytesCaller.Registration? {
        enum Joined {
            case waiting(Round, Work.Ticket, isFirst: Bool)
            case arrived(Arrival)
            case closed
        }
        let joined = state.withLock { state -> Joined in
            guard !state.isClosed else { return .closed }
            // Not what arrived before the caller's load began: it may have been removed or replaced since.
            if let since = caller.sharesArrivalsSince, let arrival = state.arrivals[key], arrival.time > since {
                state.arrivals[key]?.users.insert(ObjectIdentifier(caller))
                return .arrived(arrival)
            }
            let (ticket, isFirst) = state.work.join(key, caller)
            if isFirst {
                let transfer = Transfer(request, key: key, round: ticket.round, limit: limit, loader: self)
                state.rounds[ticket.round] = Round(transfer: transfer)
            }
            return state.rounds[ticket.round].map { .waiting($0, ticket, isFirst: isFirst) } ?? .closed
        }
        switch joined {
        case .closed: throw .requestError(reason: .asyncTaskContextCancelled)
        case .arrived(let arrival):
            take(nil, arrival.transfer, caller)
            caller.transferHasStarted()
            caller.outcome.fulfil(.success(BytesCaller.Delivery(bytes: arrival.bytes)))
            return nil
        case .waiting(let round, let ticket, let isFirst):
            let transfer = round.transfer
            let registration = take(ticket, transfer, caller)
            if isFirst {
                begin(transfer, policy)
            } else {
                raisePriority(of: transfer)
                if round.isStarted { caller.transferHasStarted() }
            }
            return registration
        }
    }

    /// Links a caller to its transfer; from now on its handle cancels it, at once if it was cancelled before.
    @discardableResult
    private func take(_ ticket: Work.Ticket?, _ transfer: Transfer, _ caller: BytesCaller) -> BytesCaller.Registration {
        let token = transfer.sessionTask.issueToken()
        let registration = BytesCaller.Registration(ticket: ticket, transfer: transfer, token: token)
        caller.take(registration)
        caller.handle.onCancel { [weak self, weak caller] in
            if let self, let caller { leave(caller, registration) }
        }
        return registration
    }

    /// A caller has made what it wanted of the bytes; the last one releases them.
    private func release(_ key: TransferKey, _ caller: BytesCaller) {
        state.withLock { state in
            guard state.arrivals[key]?.users.remove(ObjectIdentifier(caller)) != nil else { return }
            if state.arrivals[key]?.users.isEmpty == true { state.arrivals[key] = nil }
        }
    }

    /// Starts a transfer, unless all its callers have left already, and notifies them.
    private func begin(_ transfer: Transfer, _ policy: TransportPolicy) {
        guard transfer.announce() else { return }
        if let url = transfer.request.url, let (downloader, delegate) = delegateAndDownloader {
            delegate.imageDownloader(downloader, willDownloadImageForURL: url, with: transfer.request)
        }
        transfer.start(on: transport, policy: policy, priority: priority(of: transfer))
        let (callers, ending) = state.withLock { state in
            state.rounds[transfer.round]?.isStarted = true
            return (state.work.waiters(transfer.key, round: transfer.round), state.rounds[transfer.round]?.ending)
        }
        for caller in callers { caller.transferHasStarted() }
        if let ending { handOut(transfer, ending) }
    }

    /// Removes a caller; the last one to leave stops the transfer.
    private func leave(_ caller: BytesCaller, _ registration: BytesCaller.Registration) {
        let transfer = registration.transfer
        let (departure, hasEnded) = state.withLock { state -> (Work.Departure, Bool) in
            let departure = registration.ticket.map { state.work.leave($0) } ?? .tooLate
            let hasEnded = state.rounds[transfer.round]?.ending != nil
            if case .stop = departure { state.rounds[transfer.round] = nil }
            return (departure, hasEnded)
        }
        let error = registration.cancellation
        if case .stop = departure, transfer.stop(), !hasEnded, delegateAndDownloader != nil {
            Task(executorPreference: WorkExecutor.io) { [self] in
                notifyOfEnd(transfer, response: transfer.response, error)
                caller.outcome.fulfil(.failure(error))
            }
        } else {
            // Also after the bytes arrived: until it is settled it can be cancelled.
            caller.outcome.fulfil(.failure(error))
        }
        if case .others = departure { raisePriority(of: transfer) }
    }

    /// Cancels every caller, or every caller of one URL, as the caller gave it or as a modifier changed it.
    func cancel(url: URL? = nil) {
        let callers = state.withLock { state in
            state.rounds.values.flatMap { round in
                state.work.waiters(round.transfer.key, round: round.transfer.round)
                    .filter { url == nil || $0.url == url || round.transfer.request.url == url }
            }
        }
        for caller in callers { caller.handle.cancel() }
    }

    /// Cancels every caller, and those to come.
    func close() {
        state.withLock { $0.isClosed = true }
        cancel()
    }

    private func callers(of transfer: Transfer) -> [BytesCaller] {
        state.withLock { $0.work.waiters(transfer.key, round: transfer.round) }
    }

    /// The highest priority of the callers that wait.
    private func priority(of transfer: Transfer) -> Float {
        callers(of: transfer).reduce(nil) { max($0 ?? 0, $1.options.downloadPriority) } ?? 0.5
    }

    private func raisePriority(of transfer: Transfer) { transfer.sessionTask.task?.priority = priority(of: transfer) }

    // MARK: While it goes on

    /// The handler of the first caller that has one.
    func redirectHandler(of transfer: Transfer) -> (any ImageDownloadRedirectHandler)? {
        callers(of: transfer).lazy.compactMap(\.options.redirectHandler).first
    }

    func report(_ received: Int64, of expected: Int64, for transfer: Transfer) {
        for caller in callers(of: transfer) { caller.options.onDataReceived?(received, expected) }
    }

    // MARK: When it is over

    /// Hands out the result of a transfer, once its callers have been notified of its start; only its first end counts.
    func finished(_ transfer: Transfer, _ ending: Transfer.Ending) {
        let isReady = state.withLock { state in
            guard let round = state.rounds[transfer.round], round.ending == nil else { return false }
            state.rounds[transfer.round]?.ending = ending
            return round.isStarted
        }
        if isReady { handOut(transfer, ending) }
    }

    private func handOut(_ transfer: Transfer, _ ending: Transfer.Ending) {
        guard delegateAndDownloader != nil else {
            return settle(transfer, ending.result.map { LoadedBytes($0, of: transfer, ending.response) })
        }
        Task(executorPreference: WorkExecutor.io) { [self] in
            let data = hooked(transfer, ending)
            settle(transfer, data.map { LoadedBytes($0, of: transfer, ending.response) })
        }
    }

    /// Ends the waiting, and keeps the bytes as long as one of the callers works with them.
    private func settle(_ transfer: Transfer, _ result: Result<LoadedBytes, KingfisherError>) {
        let callers = state.withLock { state in
            state.rounds[transfer.round] = nil
            let callers = state.work.finish(transfer.key, round: transfer.round)
            let users = callers.filter { $0.sharesArrivalsSince != nil && !$0.isSettled }.map { ObjectIdentifier($0) }
            if !state.arrivals.isEmpty { state.arrivals[transfer.key] = nil }
            if !users.isEmpty, case .success(let bytes) = result {
                state.arrivals[transfer.key] = Arrival(transfer: transfer, bytes: bytes, users: Set(users))
            }
            return callers
        }
        guard case .success(let bytes) = result, callers.contains(where: \.wantsImage) else {
            // This is fast enough for the transport's thread.
            for caller in callers { caller.outcome.fulfil(result.map { BytesCaller.Delivery(bytes: $0) }) }
            return
        }
        let priority = TaskPriority(downloadPriority: callers.map(\.options.downloadPriority).max() ?? 0.5)
        // The task runs where the processing will: every change of threads in between costs as much as parsing the
        // response.
        Task(executorPreference: WorkExecutor.cpu, priority: priority) { [self] in await deliver(bytes, to: callers) }
    }

    /// Lets the delegate see, and replace, the bytes that arrived.
    private func hooked(_ transfer: Transfer, _ ending: Transfer.Ending) -> Result<Data, KingfisherError> {
        guard let (downloader, delegate) = delegateAndDownloader else { return ending.result }
        var result = ending.result
        if case .success(let data) = result {
            let task = transfer.sessionTask
            result =
                delegate.imageDownloader(downloader, didDownload: data, with: task).map { .success($0) }
                ?? .failure(.responseError(reason: .dataModifyingFailed(task: task)))
        }
        var error: KingfisherError?
        if case .failure(let failure) = result { error = failure }
        notifyOfEnd(transfer, response: ending.response, error)
        return result
    }

    private func notifyOfEnd(_ transfer: Transfer, response: TransportResponse?, _ error: KingfisherError?) {
        guard let url = transfer.request.url, let (downloader, delegate) = delegateAndDownloader else { return }
        delegate.imageDownloader(
            downloader,
            didFinishDownloadingImageForURL: url,
            with: response?.urlResponse,
            error: error
        )
    }

    /// Hands the bytes to all callers, each once its image is made: images that differ are made side by side.
    private func deliver(_ bytes: LoadedBytes, to callers: [BytesCaller]) async {
        guard callers.count > 1 else { return await deliver(bytes, toEquivalent: callers) }
        let groups = Dictionary(grouping: callers) { $0.wantsImage ? ImageRecipe($0.options) : nil }
        guard groups.count > 1 else { return await deliver(bytes, toEquivalent: callers) }
        await withTaskGroup(of: Void.self) { tasks in
            for group in groups.values { tasks.addTask { await self.deliver(bytes, toEquivalent: group) } }
        }
    }

    private func deliver(_ bytes: LoadedBytes, toEquivalent callers: [BytesCaller]) async {
        guard let first = callers.first(where: { !$0.isSettled }) else { return }
        let made = first.wantsImage ? await bytes.image(first.options) : nil
        let delegateAndDownloader = delegateAndDownloader
        for caller in callers where !caller.isSettled {
            if case .success(let image) = made, let url = bytes.url, let (downloader, delegate) = delegateAndDownloader
            {
                let response = bytes.response?.urlResponse
                delegate.imageDownloader(downloader, didDownload: image, for: url, with: response)
            }
            caller.outcome.fulfil(.success(BytesCaller.Delivery(bytes: bytes, made: made)))
        }
    }
}
