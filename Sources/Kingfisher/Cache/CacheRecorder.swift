// What a cache's work costs, as it is done. Knows nothing of what is worked on; the storages count the rest.

import Foundation
import KFSupport

/// Adds up the time a cache spends.
final class CacheRecorder: Sendable {
    /// What time is spent on.
    enum Phase: Sendable, CaseIterable { case reading, decoding, encoding, writing }

    /// Told of every piece of work when it is done.
    typealias Observer = @Sendable (Phase, Duration) -> Void

    /// What has come together.
    struct Record: Sendable {
        var times = Phase.allCases.map { _ in Duration.zero }
        /// When counting began, and what the storages had counted by then.
        var baseline: CacheStatistics.Baseline

        subscript(phase: Phase) -> Duration {
            get { times[index(of: phase)] }
            set { times[index(of: phase)] = newValue }
        }

        /// This and what came before it.
        func adding(_ earlier: Record) -> Record {
            var sum = self
            sum.times = zip(times, earlier.times).map { $0 + $1 }
            return sum
        }

        private func index(of phase: Phase) -> Int { Phase.allCases.firstIndex(of: phase) ?? 0 }
    }
    private struct State: Sendable {
        var record = Record(baseline: CacheStatistics.Baseline(since: Date()))
        /// What had come together before counting began anew.
        var earlier = Record(baseline: CacheStatistics.Baseline(since: Date()))
        var observer: Observer?
        /// What is in the history.
        var recorded: [Int] = []
    }
    private let state = Locked(State())

    /// What has come together by now.
    var record: Record { state.withLock { $0.record } }

    /// What has come together since the beginning, however often counting began anew.
    var total: Record { state.withLock { $0.record.adding($0.earlier) } }

    /// Does `work` and adds the time it takes.
    func measuring<Value, Failure: Error>(_ phase: Phase, _ work: () throws(Failure) -> Value) throws(Failure) -> Value
    {
        let start = ContinuousClock.now
        defer { add(ContinuousClock.now - start, to: phase) }
        return try work()
    }

    private func add(_ duration: Duration, to phase: Phase) {
        let observer = state.withLock { state in
            state.record[phase] += duration
            return state.observer
        }
        observer?(phase, duration)
    }

    /// Begins anew, from what the storages have counted by now.
    func reset(to baseline: CacheStatistics.Baseline) {
        state.withLock { state in
            state.earlier = state.record.adding(state.earlier)
            state.record = Record(baseline: baseline)
        }
    }

    /// How much of `numbers`, which only grow, is not in the history yet; from now on it counts as being there.
    func unrecorded(_ numbers: [Int]) -> [Int] {
        state.withLock { state in
            let before = state.recorded + [Int](repeating: 0, count: numbers.count - state.recorded.count)
            // Two threads may come here with numbers of different age.
            state.recorded = zip(numbers, before).map(max)
            return zip(state.recorded, before).map { $0 - $1 }
        }
    }

    /// Has every piece of work told to `observer` from now on, instead of whom it was told to before.
    func observe(_ observer: @escaping Observer) { state.withLock { $0.observer = observer } }
}
