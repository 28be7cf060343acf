// What concerns all entries of a file store: listing, summing up, clearing away. Knows nothing of when to do it.

package import Foundation
import Glibc

extension FileStore {
    /// What is known of an entry without its bytes.
    package struct Listed: Sendable, Equatable {
        /// Its file name.
        package let name: String
        /// The key it was written with, if that was remembered.
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
        try forEachEntry { directory, name, status in
            let file = try? directory.open(name)
            let key = file?.metadata(readingKey: true)?.key
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

    /// The bytes of all entries together.
    package func totalSize() throws(StorageError) -> Int {
        var total = 0
        try forEachEntry { _, _, status in total += Int(status.st_size) }
        return total
    }

    /// Removes the entries that have expired by `date` (now, if not given), and answers their names.
    @discardableResult
    package func removeExpired(at date: Date? = nil) throws(StorageError) -> [String] {
        let date = date ?? clock()
        var expired: [(name: String, status: stat)] = []
        try forEachEntry { _, name, status in
            if status.expiry.isPast(referenceDate: date) { expired.append((name, status)) }
        }
        return try removeUnchanged(expired)
    }

    /// When the entries take more than `limit` bytes, removes the least recently used until they take `target` or less,
    /// and answers the names of those removed.
    @discardableResult
    package func trim(above limit: Int, to target: Int) throws(StorageError) -> [String] {
        var all: [(name: String, status: stat)] = []
        var total = 0
        try forEachEntry { _, name, status in
            all.append((name, status))
            total += Int(status.st_size)
        }
        guard total > limit else { return [] }

        all.sort { $0.status.lastAccess < $1.status.lastAccess }
        var victims: [(name: String, status: stat)] = []
        for entry in all {
            guard total > target else { break }
            total -= Int(entry.status.st_size)
            victims.append(entry)
        }
        return try removeUnchanged(victims)
    }

    /// Removes everything in the directory, which stays.
    package func removeAll() throws(StorageError) {
        guard let directory = try currentDirectory(making: false) else { return }
        var names: [String] = []
        try directory.forEachName { names.append($0) }
        for name in names { try directory.removeTree(name) }
    }

    /// Removes the entries whose files still are what they were, and answers their names.
    ///
    /// One that cannot be removed does not keep the others.
    private func removeUnchanged(_ entries: [(name: String, status: stat)]) throws(StorageError) -> [String] {
        guard let directory = try currentDirectory(making: false) else { return [] }
        return entries.compactMap { name, known in
            // Another thread or process may have stored or read the entry in the meantime: then it stays.
            guard let status = try? directory.status(of: name),
                FileIdentity(status) == FileIdentity(known),
                status.expiry == known.expiry,
                (try? directory.remove(name)) == true
            else { return nil }
            return name
        }
    }

    /// Calls `body` for every entry.
    ///
    /// Hidden files, directories and what cannot be looked at are none.
    private func forEachEntry(_ body: (Directory, String, stat) -> Void) throws(StorageError) {
        guard let directory = try currentDirectory(making: false) else { return }
        try directory.forEachName { name in
            guard !name.hasPrefix("."), let status = try? directory.status(of: name), status.isRegularFile else {
                return
            }
            body(directory, name, status)
        }
    }
}
