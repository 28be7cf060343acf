// When a shared tier that fails is left alone. For TierAccess.

/// Counts the failures of a tier in a row: after each it is left alone for as long as a call may take, so that a load
/// that makes several calls waits for one only; after five for some five seconds, and then it is tried by one call.
///
/// Times are those of any clock, since any instant.
struct TierBreaker: Sendable {
    private enum State: Sendable {
        /// Calls are made, after a pause if the last one failed.
        case closed(failures: Int, pause: Duration)
        /// Nobody may call until an instant.
        case open(until: Duration)
        /// One call tries whether it works again.
        case halfOpen
    }
    private var state = State.closed(failures: 0, pause: .zero)

    /// How a result changes what the tier is taken for.
    enum Change: Sendable { case none, opened, closed }

    private static let failuresUntilOpen = 5
    private static let pause = Duration.seconds(5)
    private static let shortPause = Duration.milliseconds(250)

    /// Whether the tier is taken to work.
    var isClosed: Bool { if case .closed = state { true } else { false } }

    /// Whether calls may be made that say nothing about the tier.
    func isPassing(at now: Duration) -> Bool { if case .closed(_, let pause) = state { now >= pause } else { false } }

    /// Whether a call may be made now; one that may has to report its result.
    mutating func mayCall(at now: Duration) -> Bool {
        switch state {
        case .closed(_, let pause): return now >= pause
        case .halfOpen: return false
        case .open(let until):
            guard now >= until else { return false }
            state = .halfOpen
            return true
        }
    }

    /// A call has worked.
    mutating func recordSuccess() -> Change {
        defer { state = .closed(failures: 0, pause: .zero) }
        return isClosed ? .none : .closed
    }

    /// A call has failed, or taken too long; the jitter is from 0 to 1, by chance: machines do not come back all at
    /// once.
    mutating func recordFailure(at now: Duration, jitter: Double) -> Change {
        let end = now + Self.pause * (0.8 + 0.4 * jitter)
        switch state {
        case .closed(let failures, _) where failures + 1 < Self.failuresUntilOpen:
            state = .closed(failures: failures + 1, pause: now + Self.shortPause)
            return .none
        case .closed:
            state = .open(until: end)
            return .opened
        case .halfOpen:
            state = .open(until: end)
            return .none
        // A call from before it was opened.
        case .open: return .none
        }
    }

    /// A call was given up, and says nothing about the tier.
    mutating func recordNothing() {
        // The next call tries in its place.
        if case .halfOpen = state { state = .open(until: .zero) }
    }
}
