// The state of one transfer, as a value: decisions without locks, connections or timers.

internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// All that changes while a transfer runs.
///
/// Every mutation returns what its caller must do next.
struct TransferState {
    /// What to do with a part of a body.
    enum Step { case ignore, abandon, deliver(any TransportEvents) }
    /// When a timeout may be reached, or which one has been.
    enum Timeout { case none, at(ContinuousClock.Instant), reached(String) }
    /// What has to be stopped.
    struct Running {
        let hop: HTTPClient.Task<Void>?
        let cancelWait: (@Sendable () -> Void)?
    }
    /// What to report when a transfer is over.
    struct Completion {
        let events: any TransportEvents
        let metrics: TransportMetrics
        let stopReason: TransportError?
        let url: URL?
        let watchdog: Scheduled<Void>?
    }
    /// A longer body of a redirecting response costs more than a new connection.
    static let longestDrainedBody = 32 << 10

    /// The current hop's request.
    var request: URLRequest
    var response: TransportResponse?
    var priority: Float = 0.5
    /// `nil` once the transfer is over.
    var events: (any TransportEvents)?
    var hop: HTTPClient.Task<Void>?
    /// Ends the wait for a decision of the events; has no effect once it has been made.
    var cancelWait: (@Sendable () -> Void)?
    /// Set when the current hop's response is a redirect to follow; its body is not delivered.
    var redirect: URLRequest?
    var drained = 0
    /// Why the transfer is being stopped by this side.
    var stopReason: TransportError?
    var exchanges: [TransportMetrics.Exchange]
    var watchdog: Scheduled<Void>?
    /// Whether the transfer waits for the receiver, not for the peer.
    var isPaused = false
    private let start: ContinuousClock.Instant
    private var lastActivity: ContinuousClock.Instant
    private var isSent = false

    init(request: URLRequest, events: any TransportEvents, at now: ContinuousClock.Instant = .now) {
        self.request = request
        self.events = events
        start = now
        lastActivity = now
        exchanges = [Self.exchange(request, now)]
    }

    private static func exchange(_ request: URLRequest, _ now: ContinuousClock.Instant) -> TransportMetrics.Exchange {
        TransportMetrics.Exchange(url: request.url, start: now)
    }

    mutating func sentHead(at now: ContinuousClock.Instant) {
        isSent = true
        lastActivity = now
        exchanges[exchanges.count - 1].requestStart = now
    }

    /// Records the head of a response.
    ///
    /// Returns the events to call; `nil` if the transfer is being stopped.
    mutating func received(
        _ response: TransportResponse,
        _ version: HTTPVersion,
        at now: ContinuousClock.Instant
    ) -> (any TransportEvents)? {
        lastActivity = now
        self.response = response
        exchanges[exchanges.count - 1].status = response.statusCode
        exchanges[exchanges.count - 1].httpVersion = "HTTP/\(version.major).\(version.minor)"
        exchanges[exchanges.count - 1].responseStart = now
        return stopReason == nil ? events : nil
    }

    mutating func received(_ count: Int, at now: ContinuousClock.Instant) -> Step {
        lastActivity = now
        guard stopReason == nil, let events else { return .abandon }
        if redirect != nil {
            drained += count
            return drained > Self.longestDrainedBody ? .abandon : .ignore
        }
        exchanges[exchanges.count - 1].bytesReceived += Int64(count)
        return .deliver(events)
    }

    mutating func resumed(at now: ContinuousClock.Instant) {
        isPaused = false
        lastActivity = now
    }

    /// Moves on to the next hop if there is one.
    ///
    /// A redirect counts even if its own body broke off.
    mutating func takeRedirect(at now: ContinuousClock.Instant) -> URLRequest? {
        exchanges[exchanges.count - 1].responseEnd = now
        guard stopReason == nil, let next = redirect else { return nil }
        redirect = nil
        drained = 0
        hop = nil
        request = next
        cancelWait = nil
        isSent = false
        lastActivity = now
        exchanges.append(Self.exchange(next, now))
        return next
    }

    /// Marks the transfer as being stopped.
    ///
    /// Returns what has to be stopped; the first reason stays.
    mutating func stop(_ reason: TransportError) -> Running? {
        guard events != nil, stopReason == nil else { return nil }
        stopReason = reason
        defer { cancelWait = nil }
        return Running(hop: hop, cancelWait: cancelWait)
    }

    /// Ends the transfer.
    ///
    /// Returns `nil` if it had ended before.
    mutating func finish(at now: ContinuousClock.Instant) -> Completion? {
        guard let events else { return nil }
        let metrics = TransportMetrics(exchanges: exchanges, interval: start..<max(start, now))
        let last = Completion(
            events: events,
            metrics: metrics,
            stopReason: stopReason,
            url: request.url,
            watchdog: watchdog
        )
        self.events = nil
        hop = nil
        cancelWait = nil
        watchdog = nil
        return last
    }

    /// When to check the timeouts again, or which one has been reached.
    func timeout(_ policy: TransportPolicy, at now: ContinuousClock.Instant) -> Timeout {
        guard events != nil, stopReason == nil else { return .none }
        func limit(_ seconds: TimeInterval?, after instant: ContinuousClock.Instant) -> ContinuousClock.Instant? {
            seconds.flatMap { $0 > 0 && $0 < 1e8 ? instant + .seconds($0) : nil }
        }
        let total = limit(policy.totalTimeout, after: start)
        if let total, total <= now { return .reached("The transfer took longer than allowed.") }
        let inactivity =
            isSent
            ? limit(policy.idleTimeout, after: isPaused ? now : lastActivity)
            : limit(policy.connectTimeout, after: lastActivity)
        if let inactivity, inactivity <= now {
            return .reached(isSent ? "The server stopped responding." : "The connection took too long.")
        }
        // The timeout of the next phase may be shorter than that of this one.
        let later = isSent ? nil : limit(policy.idleTimeout, after: now)
        return [total, inactivity, later].compactMap(\.self).min().map(Timeout.at) ?? .none
    }
}
