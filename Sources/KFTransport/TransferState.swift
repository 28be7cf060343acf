// Where one transfer stands, as a value: decisions without locks, connections or timers.

internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// All that changes while a transfer runs.
///
/// Every mutation answers what its caller must do next.
struct TransferState {
    /// What to do with a part of a body.
    enum Step { case ignore, abandon, deliver(any TransportEvents) }
    /// How long the transfer may go on without being looked at.
    enum Patience { case none, until(ContinuousClock.Instant), exhausted(String) }
    /// What has to be stopped.
    struct Running {
        let hop: HTTPClient.Task<Void>?
        let abandonAnswer: (@Sendable () -> Void)?
    }
    /// What is left to say when a transfer is over.
    struct Ending {
        let events: any TransportEvents
        let metrics: TransportMetrics
        let ending: TransportError?
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
    /// Ends the wait for an answer of the events; has no effect once the answer is there.
    var abandonAnswer: (@Sendable () -> Void)?
    /// Set when the current hop's response is a redirect to follow; its body is not delivered.
    var redirect: URLRequest?
    var drained = 0
    /// Why the transfer is being stopped from our side.
    var ending: TransportError?
    var exchanges: [TransportMetrics.Exchange]
    var watchdog: Scheduled<Void>?
    /// Whether we, not the peer, are what the transfer waits for.
    var isPaused = false
    private let start: ContinuousClock.Instant
    private var lastSign: ContinuousClock.Instant
    private var isSent = false

    init(request: URLRequest, events: any TransportEvents, at now: ContinuousClock.Instant = .now) {
        self.request = request
        self.events = events
        start = now
        lastSign = now
        exchanges = [Self.exchange(request, now)]
    }

    private static func exchange(_ request: URLRequest, _ now: ContinuousClock.Instant) -> TransportMetrics.Exchange {
        TransportMetrics.Exchange(url: request.url, start: now)
    }

    mutating func sentHead(at now: ContinuousClock.Instant) {
        isSent = true
        lastSign = now
        exchanges[exchanges.count - 1].requestStart = now
    }

    /// The head of a response.
    ///
    /// Answers whom to ask, nobody if the transfer is being stopped.
    mutating func received(
        _ response: TransportResponse,
        _ version: HTTPVersion,
        at now: ContinuousClock.Instant
    ) -> (any TransportEvents)? {
        lastSign = now
        self.response = response
        exchanges[exchanges.count - 1].status = response.statusCode
        exchanges[exchanges.count - 1].httpVersion = "HTTP/\(version.major).\(version.minor)"
        exchanges[exchanges.count - 1].responseStart = now
        return ending == nil ? events : nil
    }

    mutating func received(_ count: Int, at now: ContinuousClock.Instant) -> Step {
        lastSign = now
        guard ending == nil, let events else { return .abandon }
        if redirect != nil {
            drained += count
            return drained > Self.longestDrainedBody ? .abandon : .ignore
        }
        exchanges[exchanges.count - 1].bytesReceived += Int64(count)
        return .deliver(events)
    }

    mutating func resumed(at now: ContinuousClock.Instant) {
        isPaused = false
        lastSign = now
    }

    /// Moves on to the next hop if there is one.
    ///
    /// A redirect counts even if its own body broke off.
    mutating func takeRedirect(at now: ContinuousClock.Instant) -> URLRequest? {
        exchanges[exchanges.count - 1].responseEnd = now
        guard ending == nil, let next = redirect else { return nil }
        redirect = nil
        drained = 0
        hop = nil
        request = next
        abandonAnswer = nil
        isSent = false
        lastSign = now
        exchanges.append(Self.exchange(next, now))
        return next
    }

    /// Asks for the end.
    ///
    /// Answers what has to be stopped; the first reason stays.
    mutating func stop(_ reason: TransportError) -> Running? {
        guard events != nil, ending == nil else { return nil }
        ending = reason
        defer { abandonAnswer = nil }
        return Running(hop: hop, abandonAnswer: abandonAnswer)
    }

    /// Ends the transfer.
    ///
    /// Answers `nil` if it had ended before.
    mutating func finish(at now: ContinuousClock.Instant) -> Ending? {
        guard let events else { return nil }
        let metrics = TransportMetrics(exchanges: exchanges, interval: start..<max(start, now))
        let last = Ending(events: events, metrics: metrics, ending: ending, url: request.url, watchdog: watchdog)
        self.events = nil
        hop = nil
        abandonAnswer = nil
        watchdog = nil
        return last
    }

    /// When somebody has to look again, or what limit has been reached.
    func patience(_ policy: TransportPolicy, at now: ContinuousClock.Instant) -> Patience {
        guard events != nil, ending == nil else { return .none }
        func limit(_ seconds: TimeInterval?, after instant: ContinuousClock.Instant) -> ContinuousClock.Instant? {
            seconds.flatMap { $0 > 0 && $0 < 1e8 ? instant + .seconds($0) : nil }
        }
        let total = limit(policy.totalTimeout, after: start)
        if let total, total <= now { return .exhausted("The transfer took longer than allowed.") }
        let silence =
            isSent
            ? limit(policy.idleTimeout, after: isPaused ? now : lastSign)
            : limit(policy.connectTimeout, after: lastSign)
        if let silence, silence <= now {
            return .exhausted(isSent ? "The server stopped answering." : "The connection took too long.")
        }
        // The limit of the next phase may be shorter than that of this one.
        let later = isSent ? nil : limit(policy.idleTimeout, after: now)
        return [total, silence, later].compactMap(\.self).min().map(Patience.until) ?? .none
    }
}
