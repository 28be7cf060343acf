// How many images the prefetchers of a manager load at once, however many prefetchers there are. For ImagePrefetcher.

import KFSupport

/// A number of slots for work, which waits in line for one and holds hardly more than its place there.
///
/// A load under way takes some 150 KB, and thousands of prefetchers would only wait for one another. Coordinators do
/// without slots, as their rows are about to be seen.
final class PrefetchSlots: Sendable {
    private struct State: Sendable {
        var taken = 0
        /// Those that wait; fulfilled with true when they are given a slot, with false when they are cancelled.
        var line = WorkQueue<Promise<Bool>>()

        /// The first in line, which has the slot of work that has ended; nil when there is none, and the slot is free.
        mutating func next() -> Promise<Bool>? {
            let turn = line.pop()
            if turn == nil { taken -= 1 }
            return turn
        }
    }

    /// How many a manager has: more than downloads run at once, as what waits for a retry has one too.
    static let countOfManager = 100

    private let count: Int
    private let state = Locked(State())

    /// - Parameter count: How many slots there are.
    init(count: Int) { self.count = count }

    /// Does something as soon as there is a slot: the most urgent first, in the order they came within one priority.
    ///
    /// - Parameters:
    ///   - limit: How many may run at once where this is more than there are slots.
    ///   - priority: How urgent it is.
    ///   - work: What is done; it may be cancelled as well.
    /// - Returns: The result; nil when the task was cancelled while it waited.
    func run<Value>(
        limit: Int,
        priority: TaskPriority,
        _ work: () async -> Value
    ) async -> Value? {
        guard await take(limit: limit, priority: priority) else { return nil }
        defer { giveBack() }
        return await work()
    }

    private func take(limit: Int, priority: TaskPriority) async -> Bool {
        let turn = state.withLock { state -> Promise<Bool>? in
            guard state.taken >= max(count, limit) else {
                state.taken += 1
                return nil
            }
            let turn = Promise<Bool>()
            state.line.push(turn, level: priority.rawValue)
            return turn
        }
        guard let turn else { return true }
        return await turn.value { turn.fulfil(false) }
    }

    /// Passes a slot to the first in line that has not been cancelled.
    private func giveBack() {
        while let turn = state.withLock({ $0.next() }) {
            if turn.fulfil(true) { return }
        }
    }
}
