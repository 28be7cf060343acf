// Bytes in files, one file per entry. Knows nothing of keys, images or threads to run on.

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
/// Look-ups go to the disk. Besides there is an index of all entries, made by one scan and updated by what this store
/// does: it holds the size and the last access of each. Changes by other processes are found by another scan
/// (``refresh()``), when room has to be made and when a caller needs all entries.
///
/// All functions block on the file system; they may be called from any thread, but not from one that must not wait.
package final class FileStore: Sendable {
    /// The mutable state of a store.
    struct State: Sendable {
        /// All entries; `nil` before the end of the first scan.
        var index: EntryIndex?
        /// Entries stored and removed by this store since the running scan began; `nil` for those removed.
        var changesDuringScan: [String: EntryRecord?]?
        /// The directory's stamp when the index was last known to be up to date; `nil` when it may be out of date.
        var stamp: Directory.Stamp?
        /// How many changes were begun by this store, and how many of them have not ended.
        var (changesBegun, changesRunning) = (0, 0)

        /// The metadata of files read lately, in 1,024 slots by inode number; empty before the first read.
        var recent: [(identity: FileIdentity, expiry: Date, metadata: EntryMetadata)?] = []
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

    /// What has happened in this store, at one instant.
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

    // MARK: Changes

    /// Runs `body`, which adds files to the directory or takes some out.
    ///
    /// The directory's stamp is different afterwards. If it was as expected before, and this store changed nothing else
    /// meanwhile, the new one is expected from then on; otherwise the index may be out of date.
    func changing<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        let (number, expected) = state.withLock { state in
            state.changesBegun += 1
            state.changesRunning += 1
            if state.changesRunning > 1 { state.stamp = nil }
            return (state.changesBegun, state.stamp)
        }
        let isExpected = expected != nil && directory.stamp == expected
        defer {
            let stamp = isExpected ? directory.stamp : nil
            state.withLock { state in
                state.changesRunning -= 1
                state.stamp = state.changesBegun == number ? stamp : nil
            }
        }
        return try countingFailure(body)
    }

    /// Records the new state of an entry in the index: stored, found, or removed.
    func note(_ name: String, _ record: EntryRecord?, counting: WritableKeyPath<FileCounts, Int>? = nil) {
        state.withLock { state in
            state.index?[name] = record
            _ = state.changesDuringScan?.updateValue(record, forKey: name)
            if let counting { state.counts[keyPath: counting] += 1 }
        }
    }

    /// Removes the entry called `name` and returns whether there was one.
    @discardableResult
    package func remove(_ name: String) throws(StorageError) -> Bool {
        try check(name)
        return try remove(name, ifStill: nil, counting: \.removed)
    }

    /// Removes the entry called `name`; with `identity`, if its file still is that one.
    ///
    /// A file that replaces it in the same instant is removed instead, and has to be loaded again.
    @discardableResult
    func remove(
        _ name: String,
        ifStill identity: FileIdentity?,
        counting: WritableKeyPath<FileCounts, Int>
    ) throws(StorageError) -> Bool {
        try changing { () throws(StorageError) in
            if let identity, try directory.status(of: name).map(FileIdentity.init) != identity { return false }
            let wasThere = try directory.remove(name)
            note(name, nil, counting: wasThere ? counting : nil)
            return wasThere
        }
    }

    /// Removes everything in the directory, which stays.
    ///
    /// A file that cannot be removed does not stop the removal of the rest; the first failure is thrown at the end.
    package func removeAll() throws(StorageError) {
        try changing { () throws(StorageError) in
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
                    note(name, nil, counting: isEntry ? \.removed : nil)
                } else if errno != ENOENT {
                    failure = failure ?? StorageError(.remove, directory.path(of: name), errno)
                }
            }
            if let failure { throw failure }
        }
    }
}
