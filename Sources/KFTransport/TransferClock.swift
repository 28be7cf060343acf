// The time limits of one transfer, as a value: what has been used up and what is left. For CurlTransfer.

internal import Foundation

/// When a transfer must have ended.
///
/// Only the time in which a request is under way counts. Connecting is watched by libcurl.
struct TransferClock {
    private let idleTimeout: TimeInterval?
    private let totalTimeout: TimeInterval?
    /// When the current hop got its slot.
    private(set) var hopStart: ContinuousClock.Instant
    /// How long the hops before took.
    private var spent = Duration.zero
    private var lastActivity: ContinuousClock.Instant
    private var hasBegun = false
    /// Whether the current request has a connection, and was sent.
    private var isSent = false
    /// Whether the transfer waits for its reader, not for the server.
    var isPaused = false

    init(_ policy: TransportPolicy, start: ContinuousClock.Instant) {
        func limit(_ seconds: TimeInterval?) -> TimeInterval? { seconds.flatMap { $0 > 0 && $0 < 1e8 ? $0 : nil } }
        idleTimeout = limit(policy.idleTimeout)
        totalTimeout = limit(policy.totalTimeout)
        (hopStart, lastActivity) = (start, start)
    }

    mutating func hopBegan(at now: ContinuousClock.Instant) {
        (hopStart, lastActivity, isSent, isPaused) = (now, now, false, false)
    }

    mutating func hopEnded(at now: ContinuousClock.Instant) { spent += now - hopStart }

    mutating func sent(at now: ContinuousClock.Instant) { (isSent, lastActivity) = (true, now) }

    /// The server has sent something, or the reader is ready again.
    mutating func heard(at now: ContinuousClock.Instant) { lastActivity = now }

    /// The earliest instant at which a limit may be reached; nil if there is none.
    var earliestLimit: ContinuousClock.Instant? {
        let idle = isPaused || !isSent ? nil : idleTimeout.map { lastActivity + .seconds($0) }
        return [idle, total].compactMap(\.self).min()
    }

    /// What to say if a limit is reached; nil if none is.
    func limitReached(at now: ContinuousClock.Instant, by host: String) -> String? {
        if let total, let totalTimeout, total <= now {
            return "The transfer from \(host) took longer than \(totalTimeout.shown) in all."
        }
        guard isSent, !isPaused, let idleTimeout, lastActivity + .seconds(idleTimeout) <= now else { return nil }
        return "\(host) stopped responding: nothing came for \(idleTimeout.shown)."
    }

    private var total: ContinuousClock.Instant? { totalTimeout.map { hopStart - spent + .seconds($0) } }
}

extension TimeInterval {
    fileprivate var shown: String { self == 1 ? "1 second" : String(format: "%g seconds", self) }
}
