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

    /// What has come together by now.
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

    /// Has every piece of work told to `observer` from now on, instead of whom it was told to before.
    func observe(_ observer: @escaping Observer) { state.withLock { $0.observer = observer } }
}
