// When a cache's disk is swept. Knows nothing of how, and does not keep the cache alive.

import Foundation
import KFSupport

/// Sweeps now and then, as long as it exists; never twice at a time.
///
/// The first sweep comes after a part of the interval, the others about an interval apart. Chance keeps the
/// processes of a machine that were started together from sweeping together.
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
    ///   - clock: What they are measured with.
    ///   - chance: Gives numbers from 0 to 1.
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

    /// Begins to sweep now and then.
    func start(_ sweep: @escaping Sweep) { restart { $0.sweep = sweep } }

    /// The seconds between two sweeps; 0 and less, and what is no finite number, mean that there are none.
    ///
    /// What is assigned holds at once, and counts from now.
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

    /// Sweeps again and again; never before the last sweep of the rounds before is over.
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
