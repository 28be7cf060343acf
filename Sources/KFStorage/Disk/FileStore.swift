// Bytes in files, one file per entry. Knows nothing of keys, images or threads to run on.

import CKFLinux
package import Foundation
import Glibc
import KFSupport

/// Entries in the files of one directory: bytes by file name, each with an expiry.
///
/// A file holds the entry's bytes and nothing else. Its modification time is the expiry, its access time the last
/// access; the rest lies in extended attributes (``EntryMetadata``). Files are written elsewhere and renamed into place:
/// every reader, in every process, sees a whole entry or none. A file that is not what was written is removed when it is
/// read, and is a miss.
///
/// Look-ups go to the disk. Besides there is an index of all entries, made by one scan and kept up with what this store
/// does: it knows the size of all and which were used least recently. What other processes do is learnt by another scan
/// (``refresh()``), when room is to be made and when all entries are asked for.
///
/// All functions block on the file system; they may be called from any thread, but not from one that must not wait.
package final class FileStore: Sendable {
    /// What changes in a store.
    struct State: Sendable {
        /// All entries; `nil` before the end of the first scan.
        var index: EntryIndex?
        /// What was stored and removed here since the running scan began; `nil` for what was removed.
        var changesDuringScan: [String: EntryRecord?]?
        /// The directory's stamp when the index was last known to be true; `nil` when that is in doubt.
        var stamp: Directory.Stamp?
        /// How many changes were begun here, and how many of them have not ended.
        var (begun, underWay) = (0, 0)

        /// What lies beside files read lately, each in a place of 1,024 that its number says; none before the first.
        var recent: [(identity: FileIdentity, expiry: Date, metadata: EntryMetadata)?] = []
        var temporaries: Temporaries?
        var counts = FileCounts()
        var room = Room()
    }

    /// The directory, as a path.
    package let path: String
    let directory: Directory
    let clock: @Sendable () -> Date
    let state = Locked(State())
    /// Held over scans, and while entries are removed by age: one thread of the process at a time.
    let turn = Locked(())

    /// A store over the directory at `path`, which need not exist.
    ///
    /// Touches nothing.
    /// - Parameters:
    ///   - path: Where the directory is, or will be.
    ///   - clock: Says what entries' expiry is measured by.
    package init(path: String, clock: @escaping @Sendable () -> Date = { Date() }) {
        var path = path
        // What it means now: where the process is later does not matter.
        if !path.hasPrefix("/") { path = FileManager.default.currentDirectoryPath + "/" + path }
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path = String(path.dropLast()) }
        self.path = path
        directory = Directory(path: path)
        self.clock = clock
    }

    /// Makes the directory, and removes temporary files older than an hour: those of processes that were killed.
    package func prepare() throws(StorageError) {
        try directory.make()
        Temporaries.beside(directory, making: false)
    }

    /// What has happened in this store, at one instant.
    package var counts: FileCounts { state.withLock { $0.counts } }

    func check(_ name: String) throws(StorageError) {
        guard FileNaming.isSafe(name) else { throw StorageError(.name, name, EINVAL) }
    }

    /// Runs `body`, and counts it if it fails.
    func countingFailure<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) {
            return try body()
        } catch {
            state.withLock { $0.counts.failures += 1 }
            throw error
        }
    }

    // MARK: Changes

    /// Runs `body`, which adds files to the directory or takes some out.
    ///
    /// The directory's stamp is different afterwards. If it was as expected before, and nothing else was changed here
    /// meanwhile, the new one is expected from then on; otherwise the index is in doubt.
    func changing<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        let (number, expected) = state.withLock { state in
            state.begun += 1
            state.underWay += 1
            if state.underWay > 1 { state.stamp = nil }
            return (state.begun, state.stamp)
        }
        let isExpected = expected != nil && directory.stamp == expected
        defer {
            let stamp = isExpected ? directory.stamp : nil
            state.withLock { state in
                state.underWay -= 1
                state.stamp = state.begun == number ? stamp : nil
            }
        }
        return try countingFailure(body)
    }

    /// Enters what has become of an entry: it was stored, or seen, or is gone.
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
    /// A file that takes its place in that moment goes instead, and has to be loaded again.
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
    /// What cannot be removed does not keep the rest; the first failure is thrown at the end.
    package func removeAll() throws(StorageError) {
        try changing { () throws(StorageError) in
            var failure: StorageError?
            try directory.forEachName { number, raw in
                var status = stat()
                guard fstatat(number, raw, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
                // Names that are no text become longer: they are no entries.
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
