// Bytes in files, one file per entry. Knows nothing of keys, images or threads to run on.

package import Foundation
import Glibc
import KFSupport

/// Entries in the files of one directory: bytes by file name, each with an expiry.
///
/// A file holds the entry's bytes and nothing else. Its modification time is the expiry, its access time the last
/// access; the rest lies in extended attributes (``EntryMetadata``). Files are written elsewhere and renamed into place:
/// every reader, in every process, sees a whole entry or none. A file that is shorter or longer than what was
/// written is removed when it is read, and is a miss.
///
/// The directory is held open, made when something is written, and found again when it was removed or moved.
/// All functions block on the file system; they may be called from any thread, but not from one that must not wait.
package final class FileStore: Sendable {
    /// The directory, as a path.
    package let path: String
    let clock: @Sendable () -> Date

    private struct State: Sendable {
        var directory: Directory?
        var temporaries: Temporaries?
    }
    private let state = Locked(State())

    /// A store over the directory at `path`, which need not exist.
    ///
    /// Touches nothing.
    package init(path: String, clock: @escaping @Sendable () -> Date = { Date() }) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        self.clock = clock
    }

    /// Makes the directory, and removes what processes that died while writing have left.
    package func prepare() throws(StorageError) {
        _ = try currentDirectory(making: true)
        try Temporaries.removeLeftovers(of: path)
    }

    // MARK: Reading

    /// What a reading found.
    package struct Entry: Sendable {
        /// The name it was read under.
        package let name: String
        /// The entry's bytes.
        package let data: Data
        /// When it expires.
        package let expiry: Date
        let identity: FileIdentity
        let lifetime: Lifetime
    }

    /// The entry called `name`; `nil` if there is none, or it has expired by `date` (now, if not given), or was damaged
    /// and is removed.
    package func read(_ name: String, at date: Date? = nil) throws(StorageError) -> Entry? {
        try check(name)
        guard let directory = try directory(making: false) else { return nil }
        guard let file = try directory.open(name) else {
            // Only now does it matter whether the directory still is what its path means.
            guard forget(directory) else { return nil }
            return try read(name, at: date)
        }
        let status = file.status
        guard status.isRegularFile else {
            throw StorageError(.read, directory.path(of: name), status.isDirectory ? EISDIR : EINVAL)
        }
        let expiry = status.expiry
        guard !expiry.isPast(referenceDate: date ?? clock()) else { return nil }

        let metadata = file.metadata(readingKey: false)
        guard let data = file.read(Int(status.st_size)) else {
            throw StorageError(.read, directory.path(of: name), errno)
        }
        guard data.count == metadata?.length ?? Int(status.st_size) else {
            try directory.remove(name, ifStill: status)
            return nil
        }
        return Entry(
            name: name,
            data: data,
            expiry: expiry,
            identity: FileIdentity(status),
            lifetime: metadata?.lifetime ?? status.lifetime
        )
    }

    /// Whether there is an entry called `name` that is valid at `date` (now, if not given).
    ///
    /// One system call.
    package func contains(_ name: String, at date: Date? = nil) -> Bool {
        guard FileNaming.isSafe(name), let directory = try? directory(making: false) else { return false }
        guard let status = try? directory.status(of: name) else {
            return forget(directory) ? contains(name, at: date) : false
        }
        return !status.isDirectory && !status.expiry.isPast(referenceDate: date ?? clock())
    }

    /// Notes that `entry`, read under `name`, was used, and prolongs its life as `extending` says.
    ///
    /// Nothing happens if the entry has been replaced or prolonged since.
    package func touch(_ name: String, _ entry: Entry, extending: ExpirationExtending) throws(StorageError) {
        let now = clock()
        let original = entry.lifetime.expiration(expiry: entry.expiry)
        guard let expiry = extending.expiry(readAt: now, original: original) else { return }
        guard let directory = try directory(making: false), let file = try directory.open(name) else { return }
        let status = file.status
        guard FileIdentity(status) == entry.identity, status.expiry == entry.expiry else { return }
        guard file.setTimes(access: now.entryTime, modification: expiry.entryTime) else {
            throw StorageError(.setTimes, directory.path(of: name), errno)
        }
    }

    /// Removes `entry`, read under `name`, because its bytes turned out to be no good.
    ///
    /// Nothing happens if the entry has been replaced since.
    package func discard(_ name: String, _ entry: Entry) throws(StorageError) {
        guard let directory = try directory(making: false), let status = try directory.status(of: name),
            FileIdentity(status) == entry.identity
        else { return }
        try directory.remove(name)
    }

    // MARK: Writing

    /// Writes the entry called `name`; with an expiration that has passed, removes it instead.
    ///
    /// The name is that of a visible file, not a path. The key is what the entry is known by elsewhere; it is remembered
    /// for ``entries()`` if it is not too long. A failure leaves what was there before.
    package func write(
        _ data: Data,
        to name: String,
        key: String? = nil,
        expiration: StorageExpiration
    ) throws(StorageError) {
        try check(name)
        let now = clock()
        guard !expiration.isExpired(at: now) else {
            try remove(name)
            return
        }
        let metadata = EntryMetadata(length: data.count, lifetime: Lifetime(expiration), key: key)
        let expiry = expiration.estimatedExpiration(since: now)
        func attempt() throws(StorageError) {
            let (directory, temporaries) = try placesToWrite()
            try temporaries.put(name, in: directory) { file throws(StorageError) in
                guard file.write(data) else { throw StorageError(.write, directory.path(of: name), errno) }
                file.attach(metadata)
                guard file.setTimes(access: now.entryTime, modification: expiry.entryTime) else {
                    throw StorageError(.setTimes, directory.path(of: name), errno)
                }
            }
        }
        do throws(StorageError) {
            try attempt()
        } catch  where error.code == ENOENT {
            // The directory went away in between. It is made again, once.
            state.withLock { $0 = State() }
            try attempt()
        }
    }

    /// Removes the entry called `name` and answers whether there was one.
    @discardableResult
    package func remove(_ name: String) throws(StorageError) -> Bool {
        try check(name)
        guard let directory = try directory(making: false) else { return false }
        if try directory.remove(name) { return true }
        return forget(directory) ? try remove(name) : false
    }

    // MARK: The directory

    private func check(_ name: String) throws(StorageError) {
        guard FileNaming.isSafe(name) else { throw StorageError(.name, name, EINVAL) }
    }

    /// The directory, opened when it was not; `nil` if there is none and it is not to be made.
    func directory(making: Bool) throws(StorageError) -> Directory? {
        if let directory = state.withLock({ $0.directory }) { return directory }
        let opened = making ? try Directory.create(path) : try Directory.open(path)
        guard let opened else { return nil }
        return state.withLock { state in
            let directory = state.directory ?? opened
            state.directory = directory
            return directory
        }
    }

    /// Lets go of `directory` if it is no longer what the path means, and answers whether that was so.
    private func forget(_ directory: Directory) -> Bool {
        guard !directory.isAtItsPath else { return false }
        state.withLock { if $0.directory === directory { $0 = State() } }
        return true
    }

    /// The directory as its path means it now; `nil` if there is none and it is not to be made.
    func currentDirectory(making: Bool) throws(StorageError) -> Directory? {
        if let directory = state.withLock({ $0.directory }) { _ = forget(directory) }
        return try directory(making: making)
    }

    private func placesToWrite() throws(StorageError) -> (Directory, Temporaries) {
        guard let directory = try currentDirectory(making: true) else {
            throw StorageError(.createDirectory, path, ENOENT)
        }
        let known = state.withLock { $0.directory === directory ? $0.temporaries : nil }
        if let known { return (directory, known) }

        let temporaries = try Temporaries.of(directory)
        state.withLock { if $0.directory === directory { $0.temporaries = temporaries } }
        return (directory, temporaries)
    }
}

extension stat {
    /// The lifetime of an entry without metadata: from the last access to the expiry.
    fileprivate var lifetime: Lifetime {
        expiry == .distantFuture ? .never : .seconds(expiry.timeIntervalSince(lastAccess))
    }
}
