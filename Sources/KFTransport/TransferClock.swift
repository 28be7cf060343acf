// The time limits of one transfer, as a value: the time used up and the time left. For CurlTransfer.

internal import Foundation
internal import KFSupport

/// When a transfer must have ended.
///
/// Only the time in which a request is under way counts. Connecting is watched by libcurl.
struct TransferClock {
    private let idleTimeout: Duration?
    private let totalTimeout: Duration?
    /// When the current hop got its slot.
    private(set) var hopStart = ContinuousClock.now
    /// How long the hops before took.
    private var spent = Duration.zero
    /// Since when nothing has come from the server; nil while nothing has to: the request is not sent, or the reader is
    /// not ready.
    var silentSince: ContinuousClock.Instant?

    init(_ policy: TransportPolicy) {
        func limit(_ seconds: TimeInterval?) -> Duration? {
            seconds.flatMap { $0 > 0 && $0 < 1e8 ? .seconds($0) : nil }
        }
        idleTimeout = limit(policy.idleTimeout)
        totalTimeout = limit(policy.totalTimeout)
    }

    mutating func hopBegan(at now: ContinuousClock.Instant) { (hopStart, silentSince) = (now, nil) }
    mutating func hopEnded(at now: ContinuousClock.Instant) { spent += now - hopStart }

    /// The server has sent something.
    mutating func heard(at now: ContinuousClock.Instant) { if silentSince != nil { silentSince = now } }

    /// The earliest instant at which a limit may be reached; nil if there is none.
    var earliestLimit: ContinuousClock.Instant? {
        guard let idleLimit, let totalLimit else { return idleLimit ?? totalLimit }
        return min(idleLimit, totalLimit)
    }

    /// The message if a limit is reached; nil if none is.
    func limitReached(at now: ContinuousClock.Instant, by host: String) -> String? {
        if let totalTimeout, let totalLimit, totalLimit <= now {
            return "The transfer from \(host) took longer than \(totalTimeout.shown) in all."
        }
        guard let idleTimeout, let idleLimit, idleLimit <= now else { return nil }
        return "\(host) stopped responding: nothing came for \(idleTimeout.shown)."
    }

    private var totalLimit: ContinuousClock.Instant? { totalTimeout.map { hopStart - spent + $0 } }
    private var idleLimit: ContinuousClock.Instant? {
        guard let idleTimeout, let silentSince else { return nil }
        return silentSince + idleTimeout
    }
}

extension Duration {
    fileprivate var shown: String { self == .seconds(1) ? "1 second" : String(format: "%g seconds", inSeconds) }
}
