// Bounds the memory between the network and the pixels: downloads wait while too much of it waits to be decoded.

import KFSupport

/// The bytes that a downloader holds: bodies that arrive, and those of which images are still being made.
///
/// A transfer whose length is announced takes its share before its body is read, and another one piece by piece. While
/// there is no room its reading waits. The first of the transfers whose responses have begun always goes on, so that
/// bodies longer than the budget arrive too, one at a time.
final class BytesInFlight: Sendable {
    /// The bytes of one transfer; they are given back when it is released.
    final class Share: Sendable {
        private let budget: BytesInFlight
        fileprivate let id: Int
        fileprivate init(_ id: Int, of budget: BytesInFlight) { (self.id, self.budget) = (id, budget) }
        deinit { budget.release(id) }

        /// Takes room for so many more bytes; those that are there already count at once.
        ///
        /// Returns what to wait for before the transfer goes on; nil if it may at once.
        func take(_ count: Int, isThere: Bool) -> Promise<Void>? { budget.take(count, for: id, isThere: isThere) }

        /// The body is complete, or will not be.
        func stopReading() { budget.stopReading(id) }
    }

    private struct Waiting: Sendable {
        let id: Int
        let count: Int
        let promise: Promise<Void>
    }

    private struct State: Sendable {
        var limit: Int
        var used = 0
        var lastID = 0
        var shares: [Int: Int] = [:]
        /// Transfers whose bodies are being read, first to last.
        var reading: [Int] = []
        var waiting: [Waiting] = []
        /// Bytes of bodies that are complete: they are given back whatever the other transfers do.
        var complete = 0

        func hasRoom(for count: Int, of id: Int) -> Bool {
            used + count <= limit || (reading.first == id && complete == 0)
        }

        /// Lets those go on for which there is room now, in the order they came.
        mutating func grant() -> [Promise<Void>] {
            var granted: [Promise<Void>] = []
            var left: [Waiting] = []
            for entry in waiting {
                if hasRoom(for: entry.count, of: entry.id) {
                    add(entry.count, to: entry.id)
                    granted.append(entry.promise)
                } else {
                    left.append(entry)
                }
            }
            waiting = left
            return granted
        }

        mutating func add(_ count: Int, to id: Int) {
            guard let held = shares[id] else { return }
            shares[id] = held + count
            used += count
        }

        mutating func stopReading(_ id: Int) {
            guard let index = reading.firstIndex(of: id) else { return }
            reading.remove(at: index)
            waiting.removeAll { $0.id == id }
            complete += shares[id] ?? 0
        }
    }

    private let state: Locked<State>

    init(limit: Int) { state = Locked(State(limit: limit)) }

    /// An eighth of the memory the process may use, at least 64 MiB.
    static var defaultLimit: Int { max(Int(clamping: UsableMemory.bytes / 8), 64 << 20) }

    /// How many bytes may be held.
    var limit: Int {
        get { state.withLock { $0.limit } }
        set {
            change { state in state.limit = newValue }
        }
    }

    /// How many bytes are held.
    var used: Int { state.withLock { $0.used } }

    /// A share for a transfer whose response has begun.
    func share() -> Share {
        let id = state.withLock { state in
            state.lastID += 1
            state.shares[state.lastID] = 0
            state.reading.append(state.lastID)
            return state.lastID
        }
        return Share(id, of: self)
    }

    private func take(_ count: Int, for id: Int, isThere: Bool) -> Promise<Void>? {
        state.withLock { state in
            let hasRoom = state.hasRoom(for: count, of: id)
            if isThere || hasRoom { state.add(count, to: id) }
            guard !hasRoom else { return nil }
            let waiting = Waiting(id: id, count: isThere ? 0 : count, promise: Promise())
            state.waiting.append(waiting)
            return waiting.promise
        }
    }

    private func stopReading(_ id: Int) {
        change { $0.stopReading(id) }
    }

    private func release(_ id: Int) {
        change { state in
            state.stopReading(id)
            let held = state.shares.removeValue(forKey: id) ?? 0
            state.complete -= held
            state.used -= held
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let granted = state.withLock { state in
            body(&state)
            return state.grant()
        }
        for promise in granted { promise.fulfil(()) }
    }
}
