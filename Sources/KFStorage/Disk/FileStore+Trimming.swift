// Removing entries to make room, or because they have expired. Knows nothing of how entries are found.

package import Foundation
import Glibc
import KFSupport

extension FileStore {
    /// The size limit, and when entries have to be removed for it.
    struct Trimming: Sendable {
        /// The bytes all entries together may take; 0 means no limit.
        var limit = 0
        /// The bytes written by this store since it last looked for entries of other processes.
        var unchecked = 0
        /// A total below which room is not made; above the limit after that has failed.
        var ceiling = 0
        var isRunning = false
    }

    /// Sets the bytes that all entries together may take; 0 means no limit.
    ///
    /// A write that exceeds it makes room: expired entries are removed, and then the least recently used, down to nine
    /// tenths of the limit. Meanwhile the limit may be exceeded by what other threads and other processes write;
    /// entries of other processes are looked for whenever a tenth of the limit was written here. An entry that alone is
    /// larger than the limit is not written at all. Setting the limit removes nothing by itself; the next write does.
    package func configure(sizeLimit: Int) {
        state.withLock { ($0.trimming.limit, $0.trimming.ceiling) = (max(0, sizeLimit), 0) }
    }

    /// Whether an entry of so many bytes may be written: one that alone exceeds the limit may not.
    func fits(_ size: Int) -> Bool {
        state.withLock { state in
            guard state.trimming.limit > 0, size > state.trimming.limit else { return true }
            state.counts.trimmed += 1
            return false
        }
    }

    /// Whether a thread of this process is making room.
    package var isMakingRoom: Bool { state.withLock { $0.trimming.isRunning } }

    /// Waits until room is made: if the process ends before, the limit stays exceeded until the next write.
    package func waitForRoom() { while isMakingRoom { maintenanceLock.withLock { _ in } } }

    /// Makes room if the limit may be exceeded, unless another thread does.
    func makeRoomIfNeeded() {
        let mustStart = state.withLock { state in
            let (trimming, total) = (state.trimming, state.index?.totalSize ?? 0)
            let isNeeded = total > max(trimming.limit, trimming.ceiling) || trimming.unchecked > trimming.limit / 10
            guard trimming.limit > 0, !trimming.isRunning, isNeeded else { return false }
            (state.trimming.isRunning, state.trimming.unchecked) = (true, 0)
            return true
        }
        guard mustStart else { return }
        maintenanceLock.withLock { _ in makeRoom() }
        state.withLock { $0.trimming.isRunning = false }
    }

    /// Makes room, unless another process does.
    private func makeRoom() {
        BlockingGuard.check()
        // Closing the descriptor releases the lock. Where locks are not supported, both processes remove the same
        // entries.
        guard let lock = try? directory.open(), flock(lock.number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK,
            let index = try? refresh()
        else { return }
        let limit = state.withLock { $0.trimming.limit }
        if limit > 0, index.totalSize > limit {
            // Entries that alone exceed the limit go first, and no others for them; the entry just written stays.
            remove(index.entries.filter { $0.record.size > limit }, counting: \.trimmed)
            let newest = index.entries.map(\.record).filter { $0.size <= limit }.max { $0.lastAccess < $1.lastAccess }
            trim(to: max(limit - limit / 10, newest?.size ?? 0))
        }
        state.withLock { state in
            let total = state.index?.totalSize ?? 0
            state.trimming.ceiling = total > limit ? total + limit / 10 : 0
        }
        _ = lock
    }

    /// When the entries take more than `limit` bytes, removes those that have expired and then the least recently used
    /// until they take `target` or less, and returns the names of those removed.
    @discardableResult
    package func trim(above limit: Int, to target: Int) throws(StorageError) -> [String] {
        try maintenanceLock.withLock { _ throws(StorageError) in try refresh().totalSize > limit ? trim(to: target) : []
        }
    }

    /// Removes the entries that have expired by `date` (now, if not given), and returns their names.
    ///
    /// An entry that cannot be removed does not stop the removal of the others.
    @discardableResult
    package func removeExpired(at date: Date? = nil) throws(StorageError) -> [String] {
        let instant = (date ?? clock()).entryTime
        return try maintenanceLock.withLock { _ throws(StorageError) in removeExpired(of: try refresh(), at: instant) }
    }

    // MARK: By the index, with the maintenance lock held

    @discardableResult
    private func trim(to target: Int) -> [String] {
        var names: [String] = []
        if let index = state.withLock({ $0.index }) { names = removeExpired(of: index, at: clock().entryTime) }
        // Entries that other processes have used since the scan are not the least recently used: the order is made once
        // more.
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
    /// An entry without a file has been removed already; one stays if `stays` returns true for its record in the index
    /// and the one found now.
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
