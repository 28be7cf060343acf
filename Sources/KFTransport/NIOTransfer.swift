// One transfer through AsyncHTTPClient, over all its redirects. Knows nothing of other transfers.

internal import AsyncHTTPClient
internal import Foundation
internal import KFSupport
internal import NIOCore
internal import NIOHTTP1

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One transfer: a chain of requests to the HTTP client, of which only the last one's body is delivered.
///
/// Callbacks of the client and the watchdog run on the client's loop; `cancel()` and the getters on any thread.
final class NIOTransfer: TransportTask, HTTPClientResponseDelegate {
    typealias Response = Void

    let originalRequest: URLRequest
    private let policy: TransportPolicy
    private let client: NIOClient
    private let state: Locked<TransferState>

    init(_ request: URLRequest, policy: TransportPolicy, events: any TransportEvents, client: NIOClient) {
        originalRequest = request
        self.policy = policy
        self.client = client
        state = Locked(TransferState(request: request.authorizedByURL, events: events))
    }

    var currentRequest: URLRequest { state.withLock { $0.request } }
    var response: URLResponse? { state.withLock { $0.response }?.urlResponse }
    var priority: Float {
        get { state.withLock { $0.priority } }
        set { state.withLock { $0.priority = newValue } }
    }

    func start() {
        client.began()
        watch()
        execute(currentRequest)
    }

    func cancel() { stop(.cancelled(originalRequest.url)) }
}

// MARK: - From request to request

extension NIOTransfer {
    private func execute(_ request: URLRequest) {
        do {
            let task = try client.execute(request, policy: policy, delegate: self)
            let stopped = state.withLock { state in
                state.hop = task
                return state.stopReason
            }
            if let stopped { task.fail(reason: stopped) }
            task.futureResult.whenComplete { [self] in
                switch $0 {
                case .success: hopEnded(nil)
                case .failure(let error): hopEnded(error)
                }
            }
        } catch {
            client.loop.execute { [self] in hopEnded(error) }
        }
    }

    private func hopEnded(_ error: (any Error)?) {
        let now = ContinuousClock.now
        if let next = state.withLock({ $0.takeRedirect(at: now) }) { return execute(next) }

        guard let last = state.withLock({ $0.finish(at: now) }) else { return }
        client.ended()
        last.watchdog?.cancel()
        last.events.didCollect(last.metrics)
        last.events.didComplete(last.stopReason ?? error.map { TransportError($0, url: last.url) })
    }

    private func stop(_ reason: TransportError) {
        guard let running = state.withLock({ $0.stop(reason) }) else { return }
        running.hop?.fail(reason: reason)
        running.cancelWait?()
    }
}

// MARK: - What the client reports

extension NIOTransfer {
    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: HTTPRequestHead) {
        state.withLock { $0.sentHead(at: .now) }
    }

    func didSendRequestPart(task: HTTPClient.Task<Void>, _ part: IOData) {
        state.withLock { $0.exchanges[$0.exchanges.count - 1].bytesSent += Int64(part.readableBytes) }
    }

    func didSendRequest(task: HTTPClient.Task<Void>) {
        state.withLock { $0.exchanges[$0.exchanges.count - 1].requestEnd = .now }
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let loop = task.eventLoop
        let request = currentRequest
        let response = TransportResponse(head, url: request.url)
        guard let events = state.withLock({ $0.received(response, head.version, at: .now) }) else {
            return loop.makeFailedFuture(TransportError.cancelled(request.url))
        }
        guard (300..<400).contains(head.status.code), let redirecting = response.urlResponse as? HTTPURLResponse,
            let proposed = request.redirected(by: redirecting)
        else { return deliver(response, to: events, on: loop) }

        return wait(for: events.willRedirect(redirecting, to: proposed), on: loop) { [self] next in
            guard let next else { return deliver(response, to: events, on: loop) }
            state.withLock { $0.redirect = next.authorizedByURL }
            return loop.makeSucceededVoidFuture()
        }
    }

    private func deliver(
        _ response: TransportResponse,
        to events: any TransportEvents,
        on loop: any EventLoop
    ) -> EventLoopFuture<Void> {
        wait(for: events.didReceive(response), on: loop) { [self] disposition in
            if disposition == .allow { return loop.makeSucceededVoidFuture() }
            cancel()
            return loop.makeFailedFuture(TransportError.cancelled(response.url))
        }
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let loop = task.eventLoop
        switch state.withLock({ $0.received(buffer.readableBytes, at: .now) }) {
        case .ignore: return loop.makeSucceededVoidFuture()
        case .abandon: return loop.makeFailedFuture(TransportError.cancelled(originalRequest.url))
        case .deliver(let events):
            let decision = events.didReceive(buffer.withUnsafeReadableBytes { Data($0) })
            if case .now = decision { return loop.makeSucceededVoidFuture() }
            state.withLock { $0.isPaused = true }
            return wait(for: decision, on: loop) { [self] in
                state.withLock { $0.resumed(at: .now) }
                return loop.makeSucceededVoidFuture()
            }
        }
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws {}

    /// Goes on with a decision of the events: at once if it is known, back on the loop once it is, or not at all if the
    /// transfer is stopped meanwhile. (The client reports no failure while it waits for a delegate.)
    private func wait<Value: Sendable>(
        for decision: TransportDecision<Value>,
        on loop: any EventLoop,
        then proceed: @escaping @Sendable (Value) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<Void> {
        switch decision {
        case .now(let value): return proceed(value)
        case .later(let value):
            let promise = loop.makePromise(of: Value.self)
            let waiting = Task { promise.succeed(await value()) }
            let cancelWait: @Sendable () -> Void = {
                promise.fail(TransportError.cancelled(nil))
                waiting.cancel()
            }
            let isStopped = state.withLock { state in
                state.cancelWait = cancelWait
                return state.stopReason != nil
            }
            if isStopped { cancelWait() }
            return promise.futureResult.flatMap(proceed)
        }
    }
}

// MARK: - The watchdog

extension NIOTransfer {
    /// Checks again when the next timeout could be reached, not at every activity: one timer for each transfer.
    private func watch() {
        let now = ContinuousClock.now
        switch state.withLock({ $0.timeout(policy, at: now) }) {
        case .none: break
        case .reached(let reason): stop(TransportError(.timedOut, reason, url: currentRequest.url))
        case .at(let instant):
            let timer = client.loop.scheduleTask(in: TimeAmount(instant - now)) { [self] in watch() }
            let isOver = state.withLock { state in
                state.watchdog = timer
                return state.events == nil
            }
            if isOver { timer.cancel() }
        }
    }
}
