// What a cache's work costs, as it is done. Knows nothing of what is worked on; the storages count the rest.

import Foundation
import KFSupport

/// Adds up the time a cache spends.
final class CacheRecorder: Sendable {
    /// What time is spent on.
    enum Phase: Sendable, CaseIterable { case reading, decoding, encoding, writing }

    /// Called with every piece of work when it is done.
    typealias Observer = @Sendable (Phase, Duration) -> Void

    /// The sums so far.
    struct Record: Sendable {
        var times: [Phase: Duration] = [:]
        /// When counting began, and what the storages had counted by then.
        var baseline: CacheStatistics.Baseline

        subscript(phase: Phase) -> Duration { times[phase] ?? .zero }
    }
    private struct State: Sendable {
        var record = Record(baseline: CacheStatistics.Baseline(since: Date()))
        var observer: Observer?
    }
    private let state = Locked(State())

    /// The sums so far.
    var record: Record { state.withLock { $0.record } }

    /// Does `work` and adds the time it takes.
    func measuring<Value, Failure: Error>(_ phase: Phase, _ work: () throws(Failure) -> Value) throws(Failure) -> Value
    {
        let start = ContinuousClock.now
        defer { add(ContinuousClock.now - start, to: phase) }
        return try work()
    }

    private func add(_ duration: Duration, to phase: Phase) {
        let observer = state.withLock { state in
            state.record.times[phase, default: .zero] += duration
            return state.observer
        }
        observer?(phase, duration)
    }

    /// Begins anew, from what the storages have counted by now.
    func reset(to baseline: CacheStatistics.Baseline) {
        state.withLock { $0.record = Record(baseline: baseline) }
    }

    /// Calls `observer` with every piece of work from now on, instead of the observer before.
    func observe(_ observer: @escaping Observer) { state.withLock { $0.observer = observer } }
}
