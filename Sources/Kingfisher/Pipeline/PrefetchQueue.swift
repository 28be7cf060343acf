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
        /// The jobs that run and do not count any more; the caller cancels them.
        let running: [Task<Void, Never>]
        /// The jobs that waited; the caller releases them, with no lock held.
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
        /// How many slots it stands in line for.
        var awaitedSlots = 0

        var mayBegin: Bool { !isPaused && running.count < limit && !waiting.isEmpty }
        var mayAwait: Bool { mayBegin && running.count + awaitedSlots < limit && waiting.count > awaitedSlots }
    }

    fileprivate let priority: TaskPriority
    private let slots: PrefetchSlots?
    private let state: Locked<State>

    /// Creates a queue without jobs.
    ///
    /// - Parameters:
    ///   - limit: How many jobs run at once.
    ///   - priority: The priority of their tasks.
    ///   - slots: Those that it shares with other queues, one for each job that runs; nil if it needs none.
    init(limit: Int, priority: TaskPriority, slots: PrefetchSlots? = nil) {
        (self.priority, self.slots) = (priority, slots)
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
            while state.mayAwait {
                if slots?.take(for: self, limit: state.limit) ?? true { begin(&state) } else { state.awaitedSlots += 1 }
            }
            return value
        }
    }

    /// Begins a job in a slot that the queue stood in line for, and returns whether it still has a use for it.
    fileprivate func beginInSlot() -> Bool {
        state.withLock { state in
            state.awaitedSlots -= 1
            guard state.mayBegin else { return false }
            begin(&state)
            return true
        }
    }

    private func begin(_ state: inout State) {
        guard let job = state.waiting.popLast() else { return }
        state.begun.insert(job.id)
        state.running[job.id] = Task(priority: priority) { @concurrent [self] in
            await job.run()
            slots?.giveBack()
            change { $0.running[job.id] = nil }
        }
    }
}

/// How many images the prefetchers of a manager load at once, however many prefetchers there are.
///
/// A load under way takes some 150 KB, and thousands of prefetchers would only wait for one another. Coordinators do
/// without slots, as their rows are about to be seen. The lock of a queue is taken before that of the slots.
final class PrefetchSlots: Sendable {
    private struct State: Sendable {
        var taken = 0
        /// The queues that wait for a slot, the most urgent first, in the order they came within one priority; each as
        /// often as it has jobs that may begin.
        var line = WorkQueue<PrefetchQueue>()

        /// The first in line, which has the slot of a job that has ended; nil when there is none, and the slot is free.
        mutating func next() -> PrefetchQueue? {
            let queue = line.pop()
            if queue == nil { taken -= 1 }
            return queue
        }
    }

    /// How many a manager has: more than downloads run at once, as a load that waits for a retry has a slot, too.
    static let countOfManager = 100

    private let count: Int
    private let state = Locked(State())

    /// - Parameter count: How many slots there are.
    init(count: Int) { self.count = count }

    /// Takes a slot for a queue, or puts the queue in line.
    ///
    /// - Parameters:
    ///   - queue: Begins a job when it returns true, or when a slot is given back.
    ///   - limit: How many jobs may run where this is more than there are slots.
    /// - Returns: Whether there was a slot.
    fileprivate func take(for queue: PrefetchQueue, limit: Int) -> Bool {
        state.withLock { state in
            guard state.taken >= max(count, limit) else {
                state.taken += 1
                return true
            }
            state.line.push(queue, level: queue.priority.rawValue)
            return false
        }
    }

    /// Passes a slot to the first in line that has a use for it.
    fileprivate func giveBack() {
        while let queue = state.withLock({ $0.next() }) {
            if queue.beginInSlot() { return }
        }
    }
}
