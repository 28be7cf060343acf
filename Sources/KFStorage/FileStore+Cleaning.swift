// What concerns all entries of a file store: listing them, removing them. Knows nothing of when to do it.

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

    /// Removes everything in the directory, which stays.
    ///
    /// What cannot be removed does not keep the rest; the first failure is thrown at the end.
    package func removeAll() throws(StorageError) {
        guard let directory = try currentDirectory(making: false) else { return }
        try directory.namesToRemove().forAll { name throws(StorageError) in
            try changing(name) { () throws(StorageError) in
                // Hidden files, directories and links go too, but are no entries.
                if !name.hasPrefix("."), try directory.status(of: name)?.isRegularFile == true {
                    return try removeFile(name, from: directory)
                }
                try directory.removeTree(name)
                return .seen(nil)
            }
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
