// The protocol of transports: they transfer bytes over HTTP, and share, retry and cache nothing. For downloaders.

public import Foundation
public import FoundationNetworking

/// Sends requests and delivers the bytes of their responses.
///
/// A transport only transfers bytes. It follows no redirect by itself, judges no status, limits no size, caches nothing
/// and retries nothing: it reports, and ``TransportEvents`` decides. Every transport therefore behaves alike.
public protocol Transport: Sendable {
    /// Starts one transfer. It is under way when this returns; a transport may also call `events` before it returns.
    ///
    /// - Parameters:
    ///   - request: What to send. Its `timeoutInterval` is ignored; the time limits are in `policy`. A user name and a
    ///     password in its URL are sent as HTTP's basic authentication, unless it has a field `Authorization`; a server
    ///     that wants HTTP's Digest instead has then seen them.
    ///   - policy: The time limits of this transfer, and the hosts it trusts.
    ///   - events: Receives the events. The transport releases it after ``TransportEvents/didComplete(_:)``.
    /// - Returns: The running transfer.
    func start(_ request: URLRequest, policy: TransportPolicy, events: any TransportEvents) -> any TransportTask

    /// Stops all transfers and releases connections. Transfers started afterwards fail as cancelled.
    func invalidate()
}

/// One transfer under way.
///
/// All members may be used from any thread.
public protocol TransportTask: AnyObject, Sendable {
    /// The request the transfer was started with.
    var originalRequest: URLRequest { get }

    /// The request of the current hop; differs from ``originalRequest`` once a redirect was followed.
    var currentRequest: URLRequest { get }

    /// The head of the latest response, `nil` until one arrived.
    var response: URLResponse? { get }

    /// How urgent the transfer is, from 0 to 1. A hint: a transport may ignore it.
    var priority: Float { get set }

    /// Stops the transfer. ``TransportEvents/didComplete(_:)`` still follows, once, with a cancelled error, unless the
    /// transfer had already completed.
    func cancel()
}

/// The decision of an event: a value at once, or one to wait for.
///
/// The transfer, and through its connection the peer, pauses until the value is there.
public enum TransportDecision<Value: Sendable>: Sendable {
    /// The value is known; the transfer goes on without leaving its thread.
    case now(Value)
    /// The transfer waits for the value of this closure, run once by the transport on no particular thread.
    case later(@Sendable () async -> Value)
}

/// Whether the body of a response is wanted.
public enum TransportDisposition: Hashable, Sendable {
    /// Go on and deliver the body.
    case allow
    /// Stop here; the transfer completes as cancelled.
    case cancel
}

/// The receiver of the events of one transfer.
///
/// Calls come one at a time, in order, on a thread of the transport that must not be blocked:
/// any number of redirects and challenges, then the response, then the data, then at most once metrics, then
/// completion. After ``TransportTask/cancel()`` the rest may be left out, but never the completion.
public protocol TransportEvents: Sendable {
    /// The server redirects to another URL.
    ///
    /// - Parameters:
    ///   - response: The redirecting response.
    ///   - proposed: The request RFC 9110 prescribes, with all header fields of the previous one, credentials included.
    /// - Returns: The request to follow, changed or not; `nil` makes this response the final one.
    func willRedirect(_ response: HTTPURLResponse, to proposed: URLRequest) -> TransportDecision<URLRequest?>

    /// A certificate does not verify, or the response is a 401 that names and passwords may meet.
    ///
    /// Before the response. By default challenges are not met.
    /// - Returns: How the challenge is met; the request is then sent again.
    func didReceive(_ challenge: TransportChallenge) -> TransportDecision<TransportCredential>

    /// The head of the final response has arrived.
    func didReceive(_ response: TransportResponse) -> TransportDecision<TransportDisposition>

    /// More of the body has arrived. No further data comes until the returned value is there.
    func didReceive(_ data: Data) -> TransportDecision<Void>

    /// The measurements: at most once, before ``didComplete(_:)``.
    func didCollect(_ metrics: TransportMetrics)

    /// The transfer is over: exactly once, last.
    ///
    /// - Parameter error: Why it failed, or `nil` when the whole body was delivered.
    func didComplete(_ error: TransportError?)
}

extension TransportEvents {
    /// Does not meet the challenge.
    public func didReceive(_ challenge: TransportChallenge) -> TransportDecision<TransportCredential> { .now(.none) }
}
