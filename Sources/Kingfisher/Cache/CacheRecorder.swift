// The time that a cache spends on its work, added up as it is done; the storages count the rest. Used by `CacheCore`.

import Foundation
import KFStorage
import KFSupport

/// Adds up the time a cache spends.
final class CacheRecorder: Sendable {
    /// A step of a cache's work.
    enum Step: Sendable, CaseIterable { case reading, decoding, encoding, writing }

    /// Called with every piece of work when it is done.
    typealias Observer = @Sendable (Step, Duration) -> Void

    /// When counting began, and the storages' counts at that time.
    struct Baseline: Sendable {
        var since: Date
        var memory = MemoryCounts()
        var files = FileCounts()
    }

    /// The sums so far.
    struct Record: Sendable {
        var times: [Step: Duration] = [:]
        var baseline: Baseline

        subscript(step: Step) -> Duration { times[step] ?? .zero }
    }
    private struct State: Sendable {
        var record = Record(baseline: Baseline(since: Date()))
        var observer: Observer?
    }
    private let state = Locked(State())

    /// The sums so far.
    var record: Record { state.withLock { $0.record } }

    /// Does `work` and adds the time it takes.
    func measuring<Value, Failure: Error>(_ step: Step, _ work: () throws(Failure) -> Value) throws(Failure) -> Value {
        let start = ContinuousClock.now
        defer { add(ContinuousClock.now - start, to: step) }
        return try work()
    }

    private func add(_ duration: Duration, to step: Step) {
        let observer = state.withLock { state in
            state.record.times[step, default: .zero] += duration
            return state.observer
        }
        observer?(step, duration)
    }

    /// Begins anew, from the numbers that the storages have counted by now.
    func reset(to baseline: Baseline) {
        state.withLock { $0.record = Record(baseline: baseline) }
    }

    /// Calls `observer` with every piece of work from now on, instead of the observer before.
    func observe(_ observer: @escaping Observer) { state.withLock { $0.observer = observer } }
}
