// Bytes in files, one file per entry. For the disk cache, which knows keys and images.

import CKFLinux
package import Foundation
import Glibc
import KFSupport

/// Entries in the files of one directory: bytes by file name, each with an expiry.
///
/// A file holds the entry's bytes and nothing else. Its modification time is the expiry, its access time the last
/// access; the rest lies in extended attributes (``EntryMetadata``). Files are written elsewhere and renamed into
/// place: every reader, in every process, sees a whole entry or none. A file that is not what was written is removed
/// when it is read, and is a miss.
///
/// Look-ups go to the disk, so that every process finds at once what another has stored: a miss is one `openat` that
/// says `ENOENT`. Without the disk, a store knows how many bytes all entries take (``Total``), and nothing else.
///
/// One flat directory: at 100,000 entries opening and reading took as long as in 256 folders.
///
/// All functions block on the file system; they may be called from any thread, but not from one that must not wait.
package final class FileStore: Sendable {
    /// The mutable state of a store.
    struct State: Sendable {
        var total = Total()
        var temporaryFiles: TemporaryFiles?
        var counts = FileCounts()
        var trimming = Trimming()
    }

    /// The directory, as a path.
    package let path: String
    let directory: Directory
    let clock: @Sendable () -> Date
    let state = Locked(State())
    /// Held during scans and while entries are trimmed or expired ones removed: by one thread of the process at a time.
    let maintenanceLock = Locked(())

    /// A store over the directory at `path`, which need not exist.
    ///
    /// Does not touch the file system.
    /// - Parameters:
    ///   - path: Where the directory is, or will be.
    ///   - clock: The time that entries' expiry is measured by.
    package init(path: String, clock: @escaping @Sendable () -> Date = { Date() }) {
        var path = path
        // A relative path is resolved now: the working directory may be another one later.
        if !path.hasPrefix("/") { path = FileManager.default.currentDirectoryPath + "/" + path }
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path = String(path.dropLast()) }
        self.path = path
        directory = Directory(path: path)
        self.clock = clock
    }

    /// Makes the directory, and removes temporary files older than an hour: those of processes that were killed.
    package func prepare() throws(StorageError) {
        try directory.make()
        TemporaryFiles.beside(directory, making: false)
    }

    /// The counts of this store, at one instant.
    package var counts: FileCounts { state.withLock { $0.counts } }

    func check(_ name: String) throws(StorageError) {
        guard FileNaming.isSafe(name) else { throw StorageError(.name, name, EINVAL) }
    }

    /// Runs `body`, and counts it if it fails.
    func countingFailure<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) { return try body() } catch {
            state.withLock { $0.counts.failures += 1 }
            throw error
        }
    }

    // MARK: Removing

    /// Removes the entry called `name` and returns whether there was one.
    @discardableResult
    package func remove(_ name: String) throws(StorageError) -> Bool {
        try check(name)
        return try remove(name, counting: \.removed) { _ in true }
    }

    /// Removes the file called `name` if `isMeant` returns true for its status, and returns whether it did.
    ///
    /// A file that replaces it in the same instant is removed instead, and has to be loaded again.
    func remove(
        _ name: String,
        counting: WritableKeyPath<FileCounts, Int>,
        if isMeant: (stat) -> Bool
    ) throws(StorageError) -> Bool {
        try changing(name, to: 0, counting: counting) { found throws(StorageError) in
            if let found, !isMeant(found) { return false }
            return try directory.remove(name)
        }
    }

    /// Removes everything in the directory, which stays.
    ///
    /// A file that cannot be removed does not stop the removal of the rest; the first failure is thrown at the end.
    package func removeAll() throws(StorageError) {
        try countingFailure { () throws(StorageError) in
            var failure: StorageError?
            try directory.forEachName { number, raw in
                var status = stat()
                guard fstatat(number, raw, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
                // A name that is not UTF-8 becomes longer as a string: such a file is no entry.
                let name = String(cString: raw)
                if status.isDirectory {
                    // Hidden files, directories and links go too, but are no entries.
                    do { try FileManager.default.removeItem(atPath: directory.path(of: name)) } catch {
                        failure = failure ?? StorageError(.remove, directory.path(of: name), EACCES)
                    }
                } else if unlinkat(number, raw, 0) == 0 {
                    let isEntry = status.isRegularFile && !name.hasPrefix(".") && name.utf8.count == strlen(raw)
                    state.withLock { state in
                        state.total.endChange(of: name, from: isEntry ? status.entrySize : 0, to: 0)
                        if isEntry { state.counts.removed += 1 }
                    }
                } else if errno != ENOENT {
                    failure = failure ?? StorageError(.remove, directory.path(of: name), errno)
                }
            }
            if let failure { throw failure }
        }
    }
}
