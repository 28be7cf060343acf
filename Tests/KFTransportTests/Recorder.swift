// A receiver of a transport's events: it records them, and returns the decisions of a test.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport

/// Records all events.
///
/// A second completion, or any event after completion, is recorded as a violation.
final class Recorder: TransportEvents {
    struct Log: Sendable {
        var hops: [(status: Int, proposed: URLRequest)] = []
        var response: URLResponse?
        var body = Data()
        var chunks = 0
        var metrics: TransportMetrics?
        var violations: [String] = []
        var isComplete = false
    }
    typealias Redirecting = @Sendable (HTTPURLResponse, URLRequest) -> TransportDecision<URLRequest?>

    private let state = Locked(Log())
    let firstData = Promise<Void>()
    let released = Promise<Void>()
    private let ended = Promise<TransportError?>()
    private let redirecting: Redirecting
    private let disposition: @Sendable (URLResponse) -> TransportDecision<TransportDisposition>
    private let seeing: @Sendable (TransportResponse) -> Void
    private let receiving: @Sendable (Data) -> TransportDecision<Void>

    init(
        redirecting: @escaping Redirecting = { .now($1) },
        disposition: @escaping @Sendable (URLResponse) -> TransportDecision<TransportDisposition> = { _ in .now(.allow)
        },
        receiving: @escaping @Sendable (Data) -> TransportDecision<Void> = { _ in .now(()) },
        seeing: @escaping @Sendable (TransportResponse) -> Void = { _ in }
    ) {
        self.redirecting = redirecting
        self.disposition = disposition
        self.receiving = receiving
        self.seeing = seeing
    }

    deinit { released.fulfil(()) }

    var log: Log { state.withLock { $0 } }
    var http: HTTPURLResponse? { log.response as? HTTPURLResponse }

    /// Whether exactly these bytes were delivered. (Comparing them in an expectation would describe every difference.)
    func received(_ bytes: Data) -> Bool { log.body == bytes }

    /// Waits for the end; the error, `nil` for success.
    func end() async -> TransportError? { await ended.value }

    func willRedirect(_ response: HTTPURLResponse, to proposed: URLRequest) -> TransportDecision<URLRequest?> {
        record("redirect") { $0.hops.append((response.statusCode, proposed)) }
        return redirecting(response, proposed)
    }
    func didReceive(_ response: TransportResponse) -> TransportDecision<TransportDisposition> {
        record("response") { log in
            if log.response != nil { log.violations.append("second response") }
            log.response = response.urlResponse
        }
        seeing(response)
        return disposition(response.urlResponse)
    }
    func didReceive(_ data: Data) -> TransportDecision<Void> {
        record("data") { log in
            if log.response == nil { log.violations.append("data before the response") }
            log.body.append(data)
            log.chunks += 1
        }
        firstData.fulfil(())
        return receiving(data)
    }
    func didCollect(_ metrics: TransportMetrics) {
        record("metrics") { log in
            if log.metrics != nil { log.violations.append("second metrics") }
            log.metrics = metrics
        }
    }
    func didComplete(_ error: TransportError?) {
        record("completion") { $0.isComplete = true }
        ended.fulfil(error)
    }

    private func record(_ what: String, _ change: (inout Log) -> Void) {
        state.withLock { log in
            if log.isComplete { log.violations.append("\(what) after completion") }
            change(&log)
        }
    }
}

extension TransportPolicy {
    /// A policy with time limits that a busy machine does not reach, for tests that are not about time.
    static let patient = patient()

    static func patient(asksForCompression: Bool = true, trustedHosts: Set<String> = []) -> TransportPolicy {
        TransportPolicy(
            connectTimeout: 300,
            idleTimeout: 300,
            trustedHosts: trustedHosts,
            asksForCompression: asksForCompression
        )
    }
}
