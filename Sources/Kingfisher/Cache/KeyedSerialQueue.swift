// The order of operations on keys. Used by `CacheCore`.

import KFSupport

/// Makes operations on one key happen in the order they were called, whatever threads they run on.
///
/// A ticket is taken at once, without waiting; its operation waits for those of earlier tickets. Operations on
/// different keys do not wait for each other; an operation on all keys waits for all earlier ones.
final class KeyedSerialQueue: Sendable {
    /// Fulfilled when an operation is over.
    typealias End = Promise<Void>

    private struct State: Sendable {
        /// The last operation on each key that has one under way.
        var last: [String: End] = [:]
        /// The last operation on all keys that all later operations wait for.
        var barrier: End?
    }
    private let state = Locked(State())

    /// A position in the queue.
    ///
    /// It has to be used, or the operations behind it wait without end.
    struct Ticket: Sendable {
        fileprivate let before: [End]
        fileprivate let end: End
        fileprivate let leave: @Sendable () -> Void

        /// Runs `body` when all operations before it are over.
        func run<Value: Sendable>(_ body: @Sendable () async -> Value) async -> Value {
            for end in before where end.valueIfFulfilled == nil { await end.value }
            let value = await body()
            leave()
            end.fulfil(())
            return value
        }
    }

    /// Whether an operation on `key` is under way or waiting: the entry on disk may be about to change.
    func isBusy(_ key: String) -> Bool { state.withLock { $0.last[key] != nil || $0.barrier != nil } }

    /// A ticket for the next operation on `key`.
    func ticket(forKey key: String) -> Ticket {
        let end = End()
        let before = state.withLock { state -> [End] in
            let before = [state.last[key], state.barrier].compactMap(\.self)
            state.last[key] = end
            return before
        }
        return Ticket(before: before, end: end) { [self] in
            state.withLock { if $0.last[key] === end { $0.last[key] = nil } }
        }
    }

    /// A ticket behind all operations so far; with `isBarrier`, later operations wait for it too.
    func ticketForAll(isBarrier: Bool) -> Ticket {
        let end = End()
        let before = state.withLock { state -> [End] in
            let before = Array(state.last.values) + [state.barrier].compactMap(\.self)
            if isBarrier { state.barrier = end }
            return before
        }
        return Ticket(before: before, end: end) { [self] in
            state.withLock { if $0.barrier === end { $0.barrier = nil } }
        }
    }
}
