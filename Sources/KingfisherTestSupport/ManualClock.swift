// A clock that stands still until a test moves it.

internal import KFSupport

/// A clock that stands still until it is moved, for tests of anything that waits.
public final class ManualClock: Clock {
    /// A moment: the time by which the clock had been moved.
    public struct Instant: InstantProtocol {
        let offset: Duration

        /// The moment that much later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// The duration from this moment to `other`.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Whether one moment is earlier than another.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }
    private struct State {
        var now = Instant(offset: .zero)
        var nextID = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var waiting: [(count: Int, gate: Gate)] = []
    }
    private let state = Locked(State())

    /// A clock at its first moment.
    public init() {}

    /// The current moment.
    public var now: Instant { state.withLock { $0.now } }

    /// The clock is exact.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Waits until the clock has been moved to `deadline`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (outcome, gates) = state.withLock { state -> (Result<Void, any Error>?, [Gate]) in
                    if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
                    if deadline <= state.now { return (.success(()), []) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    let reached = state.waiting.filter { $0.count <= state.sleepers.count }
                    state.waiting.removeAll { $0.count <= state.sleepers.count }
                    return (nil, reached.map(\.gate))
                }
                if let outcome { continuation.resume(with: outcome) }
                for gate in gates { gate.open() }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let sleeper = state.sleepers.removeValue(forKey: id) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        _ = state.withLock { $0.cancelled.remove(id) }
    }

    /// Moves the clock, and wakes the tasks whose deadlines are reached, in their order.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            let due = state.sleepers.filter { $0.value.deadline <= now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// The number of tasks that sleep.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Waits until that many tasks are asleep.
    public func waitForSleepers(_ count: Int = 1) async {
        let gate = Gate()
        let isReached = state.withLock { state in
            if state.sleepers.count >= count { return true }
            state.waiting.append((count, gate))
            return false
        }
        if !isReached { await gate.wait() }
    }
}
