// What is on its way to a shared tier: in the background, in order for each key, and bounded. For TierAccess.

import KFSupport

/// Runs writes a few at a time; of those that wait for one key, only the last.
final class TierWrites: Sendable {
    private struct Write: Sendable {
        let bytes: Int
        let run: @Sendable () async -> Void
        let end: Promise<Void>
    }
    private struct State: Sendable {
        var waiting: [TierKey: Write] = [:]
        /// Their keys, in order.
        var order: [TierKey] = []
        var waitingBytes = 0
        var running: [TierKey: Promise<Void>] = [:]
    }

    private let limits: TierAccess.Limits
    private let state = Locked(State())

    init(_ limits: TierAccess.Limits) { self.limits = limits }

    /// Adds a write, which takes the place of one that waits for the same key.
    ///
    /// - Returns: False if there are too many: then it is dropped, and with it the one it would have replaced.
    func add(_ key: TierKey, bytes: Int, _ run: @escaping @Sendable () async -> Void) -> Bool {
        let (isTaken, replaced) = state.withLock { state -> (Bool, Write?) in
            let replaced = state.waiting.removeValue(forKey: key)
            state.waitingBytes -= replaced?.bytes ?? 0
            guard state.waiting.count < limits.waitingWrites, state.waitingBytes + bytes <= limits.waitingBytes else {
                state.order.removeAll { $0 == key }
                return (false, replaced)
            }
            state.waiting[key] = Write(bytes: bytes, run: run, end: replaced?.end ?? Promise())
            state.waitingBytes += bytes
            if replaced == nil { state.order.append(key) }
            return (true, nil)
        }
        replaced?.end.fulfil(())
        if isTaken { startNext() }
        return isTaken
    }

    /// Waits until all writes of a key that were added so far are over.
    func finished(_ key: TierKey) async {
        let ends = state.withLock { [$0.running[key], $0.waiting[key]?.end] }
        for end in ends { await end?.value }
    }

    /// Waits until all writes that were added so far are over.
    func finishedAll() async {
        let ends = state.withLock { Array($0.running.values) + $0.waiting.values.map(\.end) }
        for end in ends { await end.value }
    }

    private func startNext() {
        let next = state.withLock { state -> (key: TierKey, write: Write)? in
            guard state.running.count < limits.concurrentWrites,
                let position = state.order.firstIndex(where: { state.running[$0] == nil }),
                let write = state.waiting.removeValue(forKey: state.order[position])
            else { return nil }
            let key = state.order.remove(at: position)
            state.waitingBytes -= write.bytes
            state.running[key] = write.end
            return (key, write)
        }
        guard let next else { return }
        Task {
            await next.write.run()
            _ = state.withLock { $0.running.removeValue(forKey: next.key) }
            next.write.end.fulfil(())
            startNext()
        }
    }
}
