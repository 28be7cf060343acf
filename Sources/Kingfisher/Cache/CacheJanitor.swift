// The timer of a cache's disk sweeps. Held by the cache, and does not keep it alive.

import Foundation
import KFSupport

/// Sweeps periodically, as long as it exists; never twice at a time.
///
/// The first sweep comes after a part of the interval, the others about an interval apart. The times are random, so
/// that processes started together do not sweep together.
final class CacheJanitor: Sendable {
    typealias Sweep = @Sendable () async -> Void

    private struct State: Sendable {
        var interval: TimeInterval
        var sweep: Sweep?
        var task: Task<Void, Never>?
    }

    private let clock: any Clock<Duration>
    private let chance: @Sendable () -> Double
    private let state: Locked<State>

    /// Creates a janitor that has nothing to sweep yet.
    ///
    /// - Parameters:
    ///   - interval: The seconds between two sweeps; see ``interval``.
    ///   - clock: The clock that measures them.
    ///   - chance: Returns random numbers from 0 to 1.
    init(
        interval: TimeInterval,
        clock: any Clock<Duration> = ContinuousClock(),
        chance: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        self.clock = clock
        self.chance = chance
        state = Locked(State(interval: interval))
    }

    deinit { state.withLock { $0.task }?.cancel() }

    /// Begins to sweep periodically.
    func start(_ sweep: @escaping Sweep) { restart { $0.sweep = sweep } }

    /// The seconds between two sweeps; 0 and less, and values that are not finite, mean that there are none.
    ///
    /// A new value holds at once, and counts from now.
    var interval: TimeInterval {
        get { state.withLock { $0.interval } }
        set { restart { $0.interval = newValue } }
    }

    /// Whether there will be another sweep.
    var isSweepingNowAndThen: Bool { state.withLock { $0.task != nil } }

    private func restart(_ change: @Sendable (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            state.task?.cancel()
            state.task = state.sweep.flatMap { rounds(of: $0, every: state.interval, after: state.task) }
        }
    }

    /// Sweeps again and again; never before the last sweep of the previous task is over.
    private func rounds(
        of sweep: @escaping Sweep,
        every interval: TimeInterval,
        after previous: Task<Void, Never>?
    ) -> Task<Void, Never>? {
        guard interval > 0, interval.isFinite else { return nil }
        return Task.detached(priority: .background) { [clock, chance] in
            // A twentieth to a quarter of the interval, then nine to eleven tenths of it.
            var pause = interval * (0.05 + 0.2 * chance())
            while (try? await clock.sleep(for: Duration(clampingSeconds: pause))) != nil {
                await previous?.value
                await sweep()
                pause = interval * (0.9 + 0.2 * chance())
            }
        }
    }
}
