// Removing entries to make room, or because they have expired.

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
    /// tenths of the limit. Until then the limit may be exceeded by what other threads and other processes write;
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
            let (trimming, total) = (state.trimming, state.total.bytes ?? 0)
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
            var (entries, size) = try? scan()
        else { return }
        let limit = state.withLock { $0.trimming.limit }
        if limit > 0, size > limit {
            // Entries that alone exceed the limit go first, and no others for them; the entry just written stays.
            let afterFirst = entries.partition { $0.size > limit }
            size -= remove(entries[afterFirst...], counting: \.trimmed).bytes
            entries.removeSubrange(afterFirst...)
            let newest = entries.max { $0.lastAccess < $1.lastAccess }
            trim(entries, by: size - max(limit - limit / 10, newest?.size ?? 0))
        }
        state.withLock { state in
            let total = state.total.bytes ?? 0
            state.trimming.ceiling = total > limit ? total + limit / 10 : 0
        }
        _ = lock
    }

    /// When the entries take more than `limit` bytes, removes those that have expired and then the least recently used
    /// until they take `target` or less, and returns the names of those removed.
    @discardableResult
    package func trim(above limit: Int, to target: Int) throws(StorageError) -> [String] {
        try maintenanceLock.withLock { _ throws(StorageError) in
            let (entries, size) = try scan()
            return size > limit ? trim(entries, by: size - target) : []
        }
    }

    /// Removes the entries that have expired by `date` (now, if not given), and returns their names.
    ///
    /// An entry that cannot be removed does not stop the removal of the others.
    @discardableResult
    package func removeExpired(at date: Date? = nil) throws(StorageError) -> [String] {
        let date = date ?? clock()
        return try maintenanceLock.withLock { _ throws(StorageError) in
            remove(try scan().entries.filter { $0.expiry.isPast(referenceDate: date) }, counting: \.expired).names
        }
    }

    // MARK: Entries found by a scan

    /// Removes those that have expired, and then the least recently used until `excess` bytes are gone; returns names.
    @discardableResult
    private func trim(_ entries: [Listed], by excess: Int) -> [String] {
        var entries = entries
        let now = clock()
        let firstExpired = entries.partition { $0.expiry.isPast(referenceDate: now) }
        let expired = remove(entries[firstExpired...], counting: \.expired)
        let oldest = entries[..<firstExpired].sorted { $0.lastAccess < $1.lastAccess }
        return expired.names + remove(oldest, upTo: excess - expired.bytes, counting: \.trimmed).names
    }

    /// Removes `entries` one after the other until `excess` bytes are gone, and returns the names of those removed.
    ///
    /// One that others have removed counts among the bytes; one that was used or replaced since the scan stays.
    private func remove(
        _ entries: some Sequence<Listed>,
        upTo excess: Int = .max,
        counting: WritableKeyPath<FileCounts, Int>
    ) -> (names: [String], bytes: Int) {
        var (names, bytes): ([String], Int) = ([], 0)
        for entry in entries {
            guard bytes < excess else { break }
            var hasChanged = false
            let isRemoved = try? remove(entry.name, counting: counting) { status in
                hasChanged = Listed(entry.name, status) != entry
                return !hasChanged
            }
            guard let isRemoved, !hasChanged else { continue }
            bytes += entry.size
            if isRemoved { names.append(entry.name) }
        }
        return (names, bytes)
    }
}
