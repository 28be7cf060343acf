// One request to S3 and its response, over a transport. For S3Client.

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
    }

    private let state = Locked(State())
    private let end = Promise<TransportError?>()

    private init() {}

    /// Sends a request.
    ///
    /// - Returns: The response, whatever its status.
    /// - Throws: An error of the transport, or `CancellationError` soon after the task was cancelled.
    static func reply(
        to request: URLRequest,
        over transport: any Transport,
        policy: TransportPolicy
    ) async throws -> S3Reply {
        try Task.checkCancellation()
        let exchange = S3Exchange()
        let transfer = transport.start(request, policy: policy, events: exchange)
        let error = await exchange.end.value(onCancel: { transfer.cancel() })
        if let error {
            if error.code == .cancelled { try Task.checkCancellation() }
            throw error
        }
        let state = exchange.state.withLock { $0 }
        guard let response = state.response else {
            throw TransportError(.badServerResponse, "The server sent no response.", url: request.url)
        }
        return S3Reply(response, body: state.body)
    }

    func willRedirect(_ response: HTTPURLResponse, to proposed: URLRequest) -> TransportDecision<URLRequest?> {
        .now(nil)
    }

    func didReceive(_ response: TransportResponse) -> TransportDecision<TransportDisposition> {
        state.withLock { $0.response = response }
        return .now(.allow)
    }

    func didReceive(_ data: Data) -> TransportDecision<Void> {
        // Most bodies come in one piece, which is then taken as it is.
        state.withLock { $0.body.isEmpty ? $0.body = data : $0.body.append(data) }
        return .now(())
    }

    func didCollect(_ metrics: TransportMetrics) {}

    func didComplete(_ error: TransportError?) { end.fulfil(error) }
}
