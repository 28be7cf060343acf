// A transport without a network, controlled by the test.

public import Foundation
public import FoundationNetworking
internal import KFSupport
public import KFTransport

/// A transport without a network: a script plays each transfer, at once or when the test decides.
///
/// ```swift
/// let immediate = FakeTransport { $0.play(.data(bytes)) }          // completes inside `start`
/// let held = FakeTransport { transfer in Task { await gate.wait(); transfer.play(.data(bytes)) } }
/// let silent = FakeTransport { _ in }                              // the test plays `silent.transfers[0]`
/// ```
public final class FakeTransport: Transport {
    private struct State: Sendable {
        var transfers: [FakeTransfer] = []
        var isInvalid = false
    }
    private let state = Locked(State())
    private let script: @Sendable (FakeTransfer) -> Void

    /// A transport that calls `script` with each transfer, inside `start`.
    public init(script: @escaping @Sendable (FakeTransfer) -> Void) { self.script = script }

    /// All transfers started so far.
    public var transfers: [FakeTransfer] { state.withLock { $0.transfers } }

    /// The number of transfers that have been started.
    public var startCount: Int { transfers.count }

    /// The number of transfers that have been cancelled.
    public var cancelCount: Int { transfers.filter(\.isCancelled).count }

    /// Whether the transport was invalidated.
    public var isInvalidated: Bool { state.withLock { $0.isInvalid } }

    /// Starts a transfer and calls the script with it.
    public func start(
        _ request: URLRequest,
        policy: TransportPolicy,
        events: any TransportEvents
    ) -> any TransportTask {
        let transfer = FakeTransfer(request, policy, events)
        let isInvalid = state.withLock { state in
            state.transfers.append(transfer)
            return state.isInvalid
        }
        if isInvalid { transfer.cancel() } else { script(transfer) }
        return transfer
    }

    /// Cancels everything.
    public func invalidate() {
        let transfers = state.withLock { state in
            state.isInvalid = true
            return state.transfers
        }
        for transfer in transfers { transfer.cancel() }
    }
}

/// One transfer of a ``FakeTransport``.
///
/// All events that the script plays are reported, also those that a correct transport never reports.
public final class FakeTransfer: TransportTask {
    private struct State: Sendable {
        var response: URLResponse?
        var priority: Float = 0.5
        var cancellations = 0
        var isComplete = false
    }

    /// The request the transfer was started with.
    public let originalRequest: URLRequest
    /// The policy the transfer was started with.
    public let policy: TransportPolicy
    /// The receiver of the events.
    public let events: any TransportEvents
    private let state = Locked(State())

    init(_ request: URLRequest, _ policy: TransportPolicy, _ events: any TransportEvents) {
        originalRequest = request
        self.policy = policy
        self.events = events
    }

    /// The original request: a fake follows no redirects.
    public var currentRequest: URLRequest { originalRequest }
    /// The response played so far.
    public var response: URLResponse? { state.withLock { $0.response } }
    /// The priority, as it was set.
    public var priority: Float {
        get { state.withLock { $0.priority } }
        set {
            state.withLock { $0.priority = newValue }
            prioritySet.open()
        }
    }
    /// Whether it was cancelled.
    public var isCancelled: Bool { state.withLock { $0.cancellations > 0 } }
    /// Opens when the transfer is given a priority, which comes right after its start.
    public let prioritySet = Gate()
    /// Opens when the transfer is cancelled.
    public let cancelled = Gate()
    /// Whether it completed, by itself or by being cancelled.
    public var isComplete: Bool { state.withLock { $0.isComplete } }

    /// Cancels the transfer, which completes at once unless it is complete.
    public func cancel() {
        let completes = state.withLock { state in
            state.cancellations += 1
            defer { state.isComplete = true }
            return !state.isComplete
        }
        cancelled.open()
        if completes { events.didComplete(TransportError(.cancelled, "cancelled", url: originalRequest.url)) }
    }

    /// Plays a whole response: head, body in pieces of `pieceSize`, metrics, completion.
    ///
    /// Only the status, header fields, body and piece size are used. Everything is played within this call as long as
    /// the events return their values at once.
    public func play(_ response: TestResponse) {
        guard let url = originalRequest.url else { return complete(TransportError(.badURL, "no URL")) }
        var fields = response.headers
        fields["Content-Length"] = response.framing == .contentLength ? "\(response.body.count)" : nil
        guard
            let head = HTTPURLResponse(
                url: url,
                statusCode: response.status,
                httpVersion: "HTTP/1.1",
                headerFields: fields
            )
        else { return complete(TransportError(.badServerResponse, "no response")) }
        play(head, response.body, pieceSize: response.pieceSize ?? max(response.body.count, 1))
    }

    /// Plays any response, also one that is not HTTP, and its body.
    public func play(_ head: URLResponse, _ body: Data, pieceSize: Int = .max) {
        receive(head) { [self] disposition in
            guard disposition == .allow else { return cancel() }
            send(body, pieceSize: max(pieceSize, 1))
        }
    }

    /// Reports a response head, and goes on with the disposition.
    public func receive(
        _ head: URLResponse,
        then proceed: @escaping @Sendable (TransportDisposition) -> Void = { _ in }
    ) {
        state.withLock { $0.response = head }
        carryOut(events.didReceive(TransportResponse(head)), proceed)
    }

    /// Reports bytes.
    public func send(_ data: Data, then proceed: @escaping @Sendable () -> Void = {}) {
        carryOut(events.didReceive(data)) { _ in proceed() }
    }

    /// Reports the end, whatever was played before.
    public func complete(_ error: TransportError? = nil) {
        state.withLock { $0.isComplete = true }
        events.didComplete(error)
    }

    private func send(_ rest: Data, pieceSize: Int) {
        guard !isComplete else { return }
        if rest.isEmpty { return end() }
        send(Data(rest.prefix(pieceSize))) { [self] in send(Data(rest.dropFirst(pieceSize)), pieceSize: pieceSize) }
    }

    private func end() {
        var exchange = TransportMetrics.Exchange(url: originalRequest.url)
        exchange.status = (response as? HTTPURLResponse)?.statusCode
        exchange.requestStart = exchange.start
        exchange.responseEnd = exchange.start
        events.didCollect(TransportMetrics(exchanges: [exchange], interval: exchange.start..<exchange.start))
        complete()
    }

    private func carryOut<Value>(_ decision: TransportDecision<Value>, _ proceed: @escaping @Sendable (Value) -> Void) {
        switch decision {
        case .now(let value): proceed(value)
        case .later(let value): Task { proceed(await value()) }
        }
    }
}
