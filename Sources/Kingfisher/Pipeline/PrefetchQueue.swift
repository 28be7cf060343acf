// Begins prefetches in an order, a limited number at once. For ImagePrefetcher and PrefetchCoordinator.

import KFSupport

/// A list of prefetches, each in a task of its own; the list may be replaced at any time.
final class PrefetchQueue: Sendable {
    struct Job: Sendable {
        /// Unique among all jobs that the queue is ever given.
        let id: Int
        let run: @Sendable () async -> Void
    }

    /// What is in a list no more.
    struct Dropped: Sendable {
        /// What runs and does not count any more; the caller cancels it.
        let running: [Task<Void, Never>]
        /// What waited; the caller releases it, with no lock held.
        let waiting: [Job]
    }

    private struct State: Sendable {
        var limit: Int
        var isPaused = false
        /// The jobs that have not begun, the next one last.
        var waiting: [Job] = []
        /// The jobs of the list that have begun, those that have ended among them.
        var begun: Set<Int> = []
        var running: [Int: Task<Void, Never>] = [:]
    }

    private let priority: TaskPriority
    private let state: Locked<State>

    /// Creates a queue without jobs.
    ///
    /// - Parameters:
    ///   - limit: How many jobs run at once.
    ///   - priority: The priority of their tasks.
    init(limit: Int, priority: TaskPriority) {
        self.priority = priority
        state = Locked(State(limit: limit))
    }

    /// How many jobs run at once, at least 1; a lower limit ends nothing.
    var limit: Int {
        get { state.withLock { $0.limit } }
        set { change { $0.limit = max(1, newValue) } }
    }

    /// Whether no further job begins.
    var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set { change { $0.isPaused = newValue } }
    }

    /// Replaces the list: its jobs begin in this order, each once.
    ///
    /// - Parameters:
    ///   - jobs: The new list.
    ///   - others: Jobs of the list before that go on if they have begun.
    /// - Returns: What is in neither.
    func replace(with jobs: [Job], keeping others: [Int] = []) -> Dropped {
        let ids = Set(jobs.map(\.id)).union(others)
        return change { state in
            let dropped = state.running.filter { !ids.contains($0.key) }
            for id in dropped.keys { state.running[id] = nil }
            state.begun.formIntersection(ids)
            let waiting = state.waiting
            state.waiting = jobs.filter { !state.begun.contains($0.id) }.reversed()
            return Dropped(running: Array(dropped.values), waiting: waiting)
        }
    }

    /// Cancels what runs, and forgets what waits.
    func stop() { for task in replace(with: []).running { task.cancel() } }

    /// Changes something, and begins as many jobs as may run then.
    private func change<Value: Sendable>(_ change: (inout State) -> Value) -> Value {
        state.withLock { state in
            let value = change(&state)
            while !state.isPaused, state.running.count < state.limit, let job = state.waiting.popLast() {
                state.begun.insert(job.id)
                state.running[job.id] = Task(priority: priority) { @concurrent [self] in
                    await job.run()
                    self.change { $0.running[job.id] = nil }
                }
            }
            return value
        }
    }
}
