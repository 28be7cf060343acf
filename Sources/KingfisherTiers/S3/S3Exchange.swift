// One request to S3 and its response, over a transport, and how long both may take. For S3Client.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport

/// Receives the response of one request.
///
/// Redirects are not followed: they would lead elsewhere with the signature.
final class S3Exchange: TransportEvents {
    private struct State {
        var response: TransportResponse?
        var body = Data()
        var lastPiece = ContinuousClock.now
        var isSlow = false
    }

    private let state = Locked(State())
    private let head = Promise<Int?>()
    private let end = Promise<TransportError?>()

    private init() {}

    /// Sends a request.
    ///
    /// - Returns: The response, whatever its status.
    /// - Throws: An error of the transport, also for a store that is silent; or `CancellationError` soon after the task
    ///   was cancelled, and for a body that comes too slowly.
    static func reply(
        to request: URLRequest,
        over transport: any Transport,
        policy: TransportPolicy,
        pace: S3Pace
    ) async throws -> S3Reply {
        try Task.checkCancellation()
        let exchange = S3Exchange()
        let transfer = transport.start(request, policy: policy, events: exchange)
        let watch = Task { await exchange.watch(transfer, pace, sending: request.httpBody?.count ?? 0) }
        let error = await exchange.end.value(onCancel: { transfer.cancel() })
        watch.cancel()
        let state = exchange.state.withLock { $0 }
        if let error {
            if state.isSlow { throw CancellationError() }
            if error.code == .cancelled {
                try Task.checkCancellation()
                throw TransportError(.timedOut, "The server is silent.", url: request.url)
            }
            throw error
        }
        guard let response = state.response else {
            throw TransportError(.badServerResponse, "The server sent no response.", url: request.url)
        }
        return S3Reply(response, body: state.body)
    }

    /// Ends a transfer whose head does not come in time, or whose body comes too slowly.
    private func watch(_ transfer: any TransportTask, _ pace: S3Pace, sending count: Int) async {
        // The body of the request goes out before the answer comes.
        let answer = await within(pace.answer + (count > 0 ? pace.transfer(of: count) : .zero), head)
        guard let length = answer else { return transfer.cancel() }
        guard let length else { return }
        guard await within(pace.transfer(of: length), end) == nil, !Task.isCancelled else { return }
        state.withLock { $0.isSlow = .now - $0.lastPiece < S3Pace.longestPause }
        transfer.cancel()
    }

    /// The value of a promise; nil if it does not come in time.
    private func within<Value>(_ duration: Duration, _ promise: Promise<Value>) async -> Value? {
        let result = Promise<Value?>()
        let waiting = Task { result.fulfil(await promise.value) }
        let timer = Task { if (try? await Task.sleep(for: duration)) != nil { result.fulfil(nil) } }
        defer {
            waiting.cancel()
            timer.cancel()
        }
        return await result.value
    }

    func willRedirect(_ response: HTTPURLResponse, to proposed: URLRequest) -> TransportDecision<URLRequest?> {
        .now(nil)
    }

    func didReceive(_ response: TransportResponse) -> TransportDecision<TransportDisposition> {
        state.withLock { ($0.response, $0.lastPiece) = (response, .now) }
        head.fulfil(response.value(forHTTPHeaderField: "Content-Length").flatMap { Int($0) })
        return .now(.allow)
    }

    func didReceive(_ data: Data) -> TransportDecision<Void> {
        // Most bodies come in one piece, which is then taken as it is.
        state.withLock { state in
            state.body.isEmpty ? state.body = data : state.body.append(data)
            state.lastPiece = .now
        }
        return .now(())
    }

    func didCollect(_ metrics: TransportMetrics) {}

    func didComplete(_ error: TransportError?) {
        head.fulfil(nil)
        end.fulfil(error)
    }
}

/// The limits that tell a slow store from a silent store.
struct S3Pace: Sendable {
    /// How long the head of an answer may take, once the request was sent.
    let answer: Duration
    /// How many bytes a second are expected.
    private let rate: Int
    /// For the beginning of a transfer, which is slower.
    private static let slack = Duration.seconds(1)
    /// A store that sends no bytes of a body for longer than this duration is silent, not slow.
    static let longestPause = Duration.milliseconds(500)

    init(answer: Duration, rate: Int = 1 << 20) {
        (self.answer, self.rate) = (max(answer, .milliseconds(1)), max(rate, 1))
    }

    /// How long a number of bytes may take.
    func transfer(of count: Int) -> Duration {
        Duration(clampingSeconds: Double(count) / Double(rate)) + Self.slack
    }

    /// How long a request may take whose answer or body has so many bytes.
    func longest(for count: Int) -> Duration { answer + transfer(of: count) }
}
