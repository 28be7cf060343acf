// The index of all entries: scans, and the total size. Knows nothing of what is done with them.

package import Foundation
import Glibc
import KFSupport

extension FileStore {
    /// Scans the directory, unless the index is up to date, and makes room if the limit is exceeded.
    ///
    /// Only operations that need all entries wait for it; what is written and removed while it runs is accounted for. A
    /// failure leaves everything as it was.
    package func startScan() {
        _ = try? maintenanceLock.withLock { _ throws(StorageError) in try refresh() }
        makeRoomIfNeeded()
    }

    /// Whether the index is complete: a scan has ended.
    package var isScanned: Bool { state.withLock { $0.index != nil } }

    /// Whether there may be an entry called `name` as far as this process knows; true before the first scan has ended.
    package func mayHave(_ name: String) -> Bool { state.withLock { $0.index.map { $0[name] != nil } ?? true } }

    /// The size of all entries as far as this process knows, without a system call; `nil` before the end of the first
    /// scan.
    package var knownSize: Int? { state.withLock { $0.index?.totalSize } }

    /// The size of all entries together.
    ///
    /// What other processes have just written may be missing: as much as fits into one tick of the file system's clock.
    package func totalSize() throws(StorageError) -> Int {
        try maintenanceLock.withLock { _ throws(StorageError) in try refresh().totalSize }
    }

    /// The index, after a scan if the directory was changed by others since the last one, or may have been.
    ///
    /// Must be called with the maintenance lock held.
    @discardableResult
    func refresh() throws(StorageError) -> EntryIndex {
        let (index, known) = state.withLock { ($0.index, $0.stamp) }
        if let index, let known, known == directory.stamp { return index }
        return try scan()
    }

    private func scan() throws(StorageError) -> EntryIndex {
        let begun = state.withLock { state in
            state.changesDuringScan = [:]
            return state.changesRunning == 0 ? state.changesBegun : nil
        }
        let stamp = directory.stamp
        var found = EntryIndex()
        var hidden: [String] = []
        do throws(StorageError) {
            try countingFailure { () throws(StorageError) in
                try directory.forEachFile(hidden: { hidden.append($0) }, { found[$0] = EntryRecord($1) })
            }
        } catch {
            state.withLock { $0.changesDuringScan = nil }
            throw error
        }
        TemporaryFiles.removeLeftovers(hidden, in: directory)
        let scanned = found
        return state.withLock { state in
            var index = scanned
            for (name, record) in state.changesDuringScan ?? [:] { index[name] = record }
            state.changesDuringScan = nil
            state.index = index
            state.stamp = begun == state.changesBegun ? stamp : nil
            return index
        }
    }

    // MARK: Listing

    /// An entry without its bytes.
    package struct Listed: Sendable, Equatable {
        /// Its file name.
        package let name: String
        /// The key it was written with, if that was stored.
        package let key: String?
        /// Its length in bytes.
        package let size: Int
        /// When it expires; `distantFuture` means never.
        package let expiry: Date
        /// When it was written or last read.
        package let lastAccess: Date
    }

    /// All entries, expired ones included, in no particular order.
    package func entries() throws(StorageError) -> [Listed] {
        var entries: [Listed] = []
        try directory.forEachFile { name, status in
            let key = (try? directory.open(name))?.key
            let listed = Listed(
                name: name,
                key: key,
                size: Int(status.st_size),
                expiry: status.expiry,
                lastAccess: status.lastAccess
            )
            entries.append(listed)
        }
        return entries
    }
}
