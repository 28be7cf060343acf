// Bounds the memory between the network and the pixels: downloads wait while too much of it waits to be decoded.

import KFSupport

/// The bytes that a downloader holds: bodies that arrive, and those of which images are still being made.
///
/// Every piece counts as it arrives. While there are more bytes than the limit allows, reading waits. Where no complete
/// body waits for its pixels, the first of the transfers that have bytes goes on, so that bodies longer than the limit
/// arrive too, one at a time.
final class BytesInFlight: Sendable {
    /// The bytes of one transfer; they are given back when it is released.
    final class Share: Sendable {
        private let budget: BytesInFlight
        fileprivate let id: Int
        fileprivate init(_ id: Int, of budget: BytesInFlight) { (self.id, self.budget) = (id, budget) }
        deinit { budget.release(id) }

        /// Counts bytes that have arrived.
        ///
        /// Returns what to wait for before the transfer goes on; nil if it may at once.
        func add(_ count: Int) -> Promise<Void>? { budget.add(count, to: id) }

        /// The body is complete, or will not be.
        func stopReading() { budget.stopReading(id) }
    }

    private struct Waiting: Sendable {
        let id: Int
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

        func mayRead(_ id: Int) -> Bool { used <= limit || (reading.first == id && complete == 0) }

        /// Takes out those that may go on now, or have ended.
        mutating func takeReleased() -> [Promise<Void>] {
            let released = waiting.filter { mayRead($0.id) || !reading.contains($0.id) }
            let ids = Set(released.map(\.id))
            waiting.removeAll { ids.contains($0.id) }
            return released.map(\.promise)
        }

        mutating func add(_ count: Int, to id: Int) {
            guard let held = shares[id] else { return }
            shares[id] = held + count
            used += count
        }

        mutating func stopReading(_ id: Int) {
            guard let index = reading.firstIndex(of: id) else { return }
            reading.remove(at: index)
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

    /// A share for a transfer whose body has begun.
    func share() -> Share {
        let id = state.withLock { state in
            state.lastID += 1
            state.shares[state.lastID] = 0
            state.reading.append(state.lastID)
            return state.lastID
        }
        return Share(id, of: self)
    }

    /// A share of bytes that have all arrived, of a loader that does not wait for room.
    func share(of count: Int) -> Share {
        let share = share()
        _ = share.add(count)
        share.stopReading()
        return share
    }

    private func add(_ count: Int, to id: Int) -> Promise<Void>? {
        state.withLock { state in
            state.add(count, to: id)
            guard !state.mayRead(id) else { return nil }
            let waiting = Waiting(id: id, promise: Promise())
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
        let released = state.withLock { state in
            body(&state)
            return state.takeReleased()
        }
        for promise in released { promise.fulfil(()) }
    }
}
