// The size of all entries: found by a scan, kept up with what this store does.

package import Foundation
import Glibc
import KFSupport

extension FileStore {
    /// How many bytes all entries take, as far as this process knows.
    struct Total: Sendable {
        /// The bytes this store has added so far, less those it has removed.
        private var growth = 0
        /// The bytes that the last scan found, less the growth until then; `nil` before the first.
        private var foundBefore: Int?
        /// The sizes that entries had before the change that is under way.
        private var changing: [String: Int] = [:]
        /// The sizes of entries that have changed since the running scan began; `nil` when none runs.
        private var changed: [String: Int]?

        /// The bytes; `nil` before the end of the first scan.
        var bytes: Int? { foundBefore.map { max(0, $0 + growth) } }

        mutating func beginChange(of name: String, from size: Int) { changing[name] = size }

        mutating func endChange(of name: String, from old: Int, to new: Int) {
            growth += new - old
            changing[name] = nil
            changed?[name] = new
        }

        mutating func beginScan() { changed = [:] }

        /// Ends the scan, and returns the sizes that count instead of those it found, and the growth until now.
        mutating func endScan() -> (changed: [String: Int], growth: Int) {
            defer { changed = nil }
            return ((changed ?? [:]).merging(changing) { _, before in before }, growth)
        }

        mutating func correct(toFound bytes: Int, atGrowth growth: Int) { foundBefore = bytes - growth }
    }

    /// The size of all entries as far as this process knows, without a system call; `nil` before the end of the first
    /// scan.
    package var knownSize: Int? { state.withLock { $0.total.bytes } }

    /// The size of all entries together, by a scan.
    package func totalSize() throws(StorageError) -> Int {
        try maintenanceLock.withLock { _ throws(StorageError) in try scan().size }
    }

    /// Scans the directory, and makes room if the limit is exceeded.
    ///
    /// Look-ups and writes do not wait for it. A failure leaves everything as it was.
    package func startScan() {
        _ = try? totalSize()
        makeRoomIfNeeded()
    }

    /// Runs `body`, which writes or removes the file called `name`, and keeps the total and the counts.
    ///
    /// `body` is given what is there, and returns whether it did its work: then the entry has `size` bytes.
    func changing(
        _ name: String,
        to size: Int,
        counting: WritableKeyPath<FileCounts, Int>,
        _ body: (_ found: stat?) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        let found = try? directory.status(of: name)
        let old = found?.entrySize ?? 0
        state.withLock { $0.total.beginChange(of: name, from: old) }
        var isChanged = false
        defer {
            state.withLock { state in
                state.total.endChange(of: name, from: old, to: isChanged ? size : old)
                if isChanged { state.counts[keyPath: counting] += 1 }
            }
        }
        isChanged = try countingFailure { () throws(StorageError) in try body(found) }
        return isChanged
    }

    // MARK: Scans

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

        init(_ name: String, _ status: stat, key: String? = nil) {
            (self.name, self.key, size) = (name, key, status.entrySize)
            (expiry, lastAccess) = (status.expiry, status.lastAccess)
        }
    }

    /// All entries, expired ones included, in no particular order.
    package func entries() throws(StorageError) -> [Listed] {
        var entries: [Listed] = []
        try directory.forEachFile { name, status in
            entries.append(Listed(name, status, key: (try? directory.open(name))?.metadata?.key))
        }
        return entries
    }

    /// Finds all entries, without their keys, and their size; removes what killed processes left in the directory.
    ///
    /// Must be called with the maintenance lock held.
    func scan() throws(StorageError) -> (entries: [Listed], size: Int) {
        state.withLock { $0.total.beginScan() }
        var (entries, hidden): ([Listed], [String]) = ([], [])
        do throws(StorageError) {
            try countingFailure { () throws(StorageError) in
                try directory.forEachFile(hidden: { hidden.append($0) }, { entries.append(Listed($0, $1)) })
            }
        } catch {
            _ = state.withLock { $0.total.endScan() }
            throw error
        }
        let (changed, growth) = state.withLock { $0.total.endScan() }
        TemporaryFiles.removeLeftovers(hidden, in: directory)
        let size = entries.reduce(changed.values.reduce(0, +)) { $0 + (changed[$1.name] == nil ? $1.size : 0) }
        state.withLock { $0.total.correct(toFound: size, atGrowth: growth) }
        return (entries, size)
    }
}
