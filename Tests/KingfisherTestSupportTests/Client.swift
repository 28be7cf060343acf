// A minimal client that collects what servers and fakes send.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport
import KingfisherTestSupport

let alphabet = "abcdefghijklmnopqrstuvwxyz"

/// The alphabet.
let letters = TestResponse.data(Data(alphabet.utf8), type: "text/plain")

/// Collects one response.
final class Client: TransportEvents {
    struct Outcome: Sendable {
        var status = 0
        var response: URLResponse?
        var body = Data()
        var pieces = 0
        var hasMetrics = false
        var error: TransportError?

        func header(_ name: String) -> String? { (response as? HTTPURLResponse)?.value(forHTTPHeaderField: name) }
    }
    private let outcome = Locked(Outcome())
    private let end = Promise<Void>()
    let firstData = Gate()

    static func load(
        _ url: URL,
        method: String = "GET",
        headers: [String: String] = [:],
        with transport: CurlTransport = .shared
    ) async -> Outcome {
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.allHTTPHeaderFields = headers
        let client = Client()
        let task = transport.start(
            request,
            policy: TransportPolicy(connectTimeout: 300, idleTimeout: 300, asksForCompression: false),
            events: client
        )
        defer { withExtendedLifetime(task) {} }
        return await client.result
    }

    var soFar: Outcome { outcome.withLock { $0 } }
    var isOver: Bool { end.valueIfFulfilled != nil }
    var result: Outcome {
        get async {
            await end.value
            return soFar
        }
    }

    func willRedirect(_ response: HTTPURLResponse, to proposed: URLRequest) -> TransportDecision<URLRequest?> {
        .now(nil)
    }
    func didReceive(_ response: TransportResponse) -> TransportDecision<TransportDisposition> {
        outcome.withLock { outcome in
            outcome.response = response.urlResponse
            outcome.status = response.statusCode ?? 0
        }
        return .now(.allow)
    }
    func didReceive(_ data: Data) -> TransportDecision<Void> {
        outcome.withLock { outcome in
            outcome.body.append(data)
            outcome.pieces += 1
        }
        firstData.open()
        return .now(())
    }
    func didCollect(_ metrics: TransportMetrics) { outcome.withLock { $0.hasMetrics = true } }
    func didComplete(_ error: TransportError?) {
        outcome.withLock { $0.error = error }
        end.fulfil(())
    }
}
