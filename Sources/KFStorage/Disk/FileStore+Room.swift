// Removing entries to make room, or because their time is over. Knows nothing of how they are found out.

package import Foundation
import Glibc
import KFSupport

extension FileStore {
    /// What making room goes by.
    struct Room: Sendable {
        /// The bytes all entries together may take; 0 means no limit.
        var limit = 0
        /// The bytes written here since other processes' entries were last looked for.
        var unchecked = 0
        /// More than the limit after room could not be made: so it is not tried with every write.
        var ceiling = 0
        var isBeingMade = false
    }

    /// Sets the bytes that all entries together may take; 0 means no limit.
    ///
    /// A write that takes the total over it makes room: what has expired goes, and then the least recently used, down to nine
    /// tenths. Between two such times the limit may be exceeded by what was written since: by other threads, and by other
    /// processes, whose entries are looked for when a tenth of the limit was written here. An entry that alone is larger
    /// is not written at all. What is there already is only removed by the next write.
    package func configure(sizeLimit: Int) {
        state.withLock { ($0.room.limit, $0.room.ceiling) = (max(0, sizeLimit), 0) }
    }

    /// Whether an entry of so many bytes may be written: one that would have to be removed at once may not.
    func fits(_ size: Int) -> Bool {
        state.withLock { state in
            guard state.room.limit > 0, size > state.room.limit else { return true }
            state.counts.trimmed += 1
            return false
        }
    }

    /// Whether a thread of this process is making room.
    package var isMakingRoom: Bool { state.withLock { $0.room.isBeingMade } }

    /// Waits until that is done: a process that ends before leaves the limit exceeded until the next write.
    package func waitForRoom() { while isMakingRoom { turn.withLock { _ in } } }

    /// Makes room if there may be more bytes than allowed, unless another thread does.
    func makeRoomIfNeeded() {
        let mustStart = state.withLock { state in
            let (room, total) = (state.room, state.index?.totalSize ?? 0)
            let isNeeded = total > max(room.limit, room.ceiling) || room.unchecked > room.limit / 10
            guard room.limit > 0, !room.isBeingMade, isNeeded else { return false }
            (state.room.isBeingMade, state.room.unchecked) = (true, 0)
            return true
        }
        guard mustStart else { return }
        turn.withLock { _ in makeRoom() }
        state.withLock { $0.room.isBeingMade = false }
    }

    /// Makes room, unless another process does.
    private func makeRoom() {
        BlockingGuard.check()
        // The lock goes with the descriptor. Where locks are unknown, both remove the same.
        guard let lock = try? directory.open(), flock(lock.number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK,
            let index = try? refresh()
        else { return }
        let limit = state.withLock { $0.room.limit }
        if limit > 0, index.totalSize > limit {
            // What alone is larger cannot stay, so nothing else has to go for it; what was just written stays.
            remove(index.entries.filter { $0.record.size > limit }, counting: \.trimmed)
            let newest = index.entries.map(\.record).filter { $0.size <= limit }.max { $0.lastAccess < $1.lastAccess }
            trim(to: max(limit - limit / 10, newest?.size ?? 0))
        }
        state.withLock { state in
            let total = state.index?.totalSize ?? 0
            state.room.ceiling = total > limit ? total + limit / 10 : 0
        }
        _ = lock
    }

    /// When the entries take more than `limit` bytes, removes those that have expired and then the least recently used
    /// until they take `target` or less, and returns the names of those removed.
    @discardableResult
    package func trim(above limit: Int, to target: Int) throws(StorageError) -> [String] {
        try turn.withLock { _ throws(StorageError) in try refresh().totalSize > limit ? trim(to: target) : [] }
    }

    /// Removes the entries that have expired by `date` (now, if not given), and returns their names.
    ///
    /// One that cannot be removed does not keep the others.
    @discardableResult
    package func removeExpired(at date: Date? = nil) throws(StorageError) -> [String] {
        let instant = (date ?? clock()).entryTime
        return try turn.withLock { _ throws(StorageError) in removeExpired(of: try refresh(), at: instant) }
    }

    // MARK: By the index, in turn

    @discardableResult
    private func trim(to target: Int) -> [String] {
        var names: [String] = []
        if let index = state.withLock({ $0.index }) { names = removeExpired(of: index, at: clock().entryTime) }
        // What other processes have used since is not the least recently used: the order is made once more.
        for isFinal in [false, true] {
            guard let index = state.withLock({ $0.index }), index.totalSize > target else { break }
            let order = index.entries.sorted { $0.record.lastAccess < $1.record.lastAccess }
            var oldestUse = Int64.max
            names += remove(order, downTo: target, counting: \.trimmed) { known, found in
                guard !isFinal else { return false }
                if found.lastAccess > known.lastAccess { oldestUse = min(oldestUse, found.lastAccess) }
                return max(found.lastAccess, known.lastAccess) >= oldestUse
            }
        }
        return names
    }

    private func removeExpired(of index: EntryIndex, at instant: timespec) -> [String] {
        let expired = index.entries.filter { $0.record.isExpired(at: instant) }
        return remove(expired, counting: \.expired) { _, found in !found.isExpired(at: instant) }
    }

    /// Removes `entries` one after the other while all together take more than `target` bytes, and returns the names.
    ///
    /// What is not there has gone already; what `stays` says, shown what was known and what is there, is left.
    @discardableResult
    private func remove(
        _ entries: [EntryIndex.Entry],
        downTo target: Int = .min,
        counting: WritableKeyPath<FileCounts, Int>,
        unless stays: (_ known: EntryRecord, _ found: EntryRecord) -> Bool = { _, _ in false }
    ) -> [String] {
        guard !entries.isEmpty else { return [] }
        var names: [String] = []
        try? changing { () throws(StorageError) in
            for entry in entries {
                guard state.withLock({ $0.index?.totalSize ?? 0 }) > target else { break }
                let name = entry.name
                guard let status = try? directory.status(of: name), status.isRegularFile else {
                    note(name, nil)
                    continue
                }
                guard !stays(entry.record, EntryRecord(status)) else {
                    note(name, EntryRecord(status))
                    continue
                }
                guard (try? countingFailure({ () throws(StorageError) in try directory.remove(name) })) != nil else {
                    continue
                }
                note(name, nil, counting: counting)
                names.append(name)
            }
        }
        return names
    }
}
