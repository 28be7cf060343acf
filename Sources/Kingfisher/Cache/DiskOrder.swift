// Who may go to the disk after whom. Knows nothing of disks.

import KFSupport

/// Makes operations on one key happen in the order they were called, whatever threads they run on.
///
/// A place in the order is taken at once, without waiting; who has it waits for those before. Operations on different
/// keys do not wait for each other, an operation on all keys waits for all that came before.
final class DiskOrder: Sendable {
    /// Kept when an operation is over.
    typealias End = Promise<Void>

    private struct State: Sendable {
        /// The last operation on each key that has one under way.
        var last: [String: End] = [:]
        /// The last operation that everything after it waits for.
        var barrier: End?
    }
    private let state = Locked(State())

    /// A place in the order.
    ///
    /// It has to be used, or those behind wait for ever.
    struct Place: Sendable {
        fileprivate let before: [End]
        fileprivate let end: End
        fileprivate let leave: @Sendable () -> Void

        /// Runs `body` when everything before it is over.
        func run<Value: Sendable>(_ body: @Sendable () async -> Value) async -> Value {
            for end in before where end.valueIfKept == nil { await end.value }
            let value = await body()
            leave()
            end.keep(())
            return value
        }
    }

    /// Whether an operation on `key` is under way or waits for its turn: what the disk holds may not be what it will.
    func isBusy(_ key: String) -> Bool { state.withLock { $0.last[key] != nil || $0.barrier != nil } }

    /// The next place among the operations on `key`.
    func place(forKey key: String) -> Place {
        let end = End()
        let before = state.withLock { state -> [End] in
            let before = [state.last[key], state.barrier].compactMap(\.self)
            state.last[key] = end
            return before
        }
        return Place(before: before, end: end) { [self] in
            state.withLock { if $0.last[key] === end { $0.last[key] = nil } }
        }
    }

    /// A place behind everything so far; with `holdingBack`, also before everything that comes.
    func placeForAll(holdingBack: Bool) -> Place {
        let end = End()
        let before = state.withLock { state -> [End] in
            let before = Array(state.last.values) + [state.barrier].compactMap(\.self)
            if holdingBack { state.barrier = end }
            return before
        }
        return Place(before: before, end: end) { [self] in
            state.withLock { if $0.barrier === end { $0.barrier = nil } }
        }
    }
}
