// Reading an entry, and what may follow: extending its life, or removing it. Knows nothing of writing.

package import Foundation
import Glibc
import KFSupport

extension FileStore {
    /// An entry that was read.
    package struct Entry: Sendable {
        /// The name it was read under.
        package let name: String
        /// The entry's bytes.
        package let data: Data
        /// When it expires.
        package let expiry: Date
        /// Its user metadata; `nil` if there is none, or it was not requested.
        package let userMetadata: [UInt8]?
        let identity: FileIdentity
        let lifetime: TimeInterval
        let metadata: EntryMetadata?
    }

    /// The entry called `name`, checked against what was written.
    ///
    /// - Parameters:
    ///   - name: The name of a visible file, not a path.
    ///   - date: When it has to be valid; now, if not given.
    ///   - withUserMetadata: Whether to read the user metadata too; that takes one system call more.
    /// - Returns: The entry; `nil` if there is none, or it has expired, or was damaged and is removed; also if the
    ///   directory is closed to this user.
    /// - Throws: ``StorageError`` when there is something that cannot be read.
    package func read(
        _ name: String,
        at date: Date? = nil,
        withUserMetadata: Bool = false
    ) throws(StorageError) -> Entry? {
        try check(name)
        let entry = try countingFailure { () throws(StorageError) in
            try readFile(name, at: date ?? clock(), withUserMetadata)
        }
        state.withLock { state in
            if entry == nil { state.counts.misses += 1 } else { state.counts.hits += 1 }
            state.counts.bytesRead += entry?.data.count ?? 0
        }
        return entry
    }

    private func readFile(_ name: String, at date: Date, _ withUserMetadata: Bool) throws(StorageError) -> Entry? {
        guard let file = try directory.open(name) else { return nil }
        let status = file.status
        guard status.isRegularFile else {
            throw StorageError(.read, directory.path(of: name), status.isDirectory ? EISDIR : EINVAL)
        }
        let expiry = status.expiry
        guard !expiry.isPast(referenceDate: date) else { return nil }
        guard let (data, metadata) = try contents(of: file, status, name) else {
            // A miss, even if it cannot be removed.
            _ = try? remove(name, ifStill: FileIdentity(status), counting: \.corrupted)
            return nil
        }
        return Entry(
            name: name,
            data: data,
            expiry: expiry,
            userMetadata: withUserMetadata ? file.secondary.userMetadata : nil,
            identity: FileIdentity(status),
            lifetime: metadata?.lifetime ?? expiry.timeIntervalSince(status.lastAccess),
            metadata: metadata
        )
    }

    /// The bytes of `file` and their metadata; `nil` if they are not what was written.
    private func contents(of file: borrowing Descriptor, _ status: stat, _ name: String) throws(StorageError)
        -> (Data, EntryMetadata?)?
    {
        let (identity, size, expiry) = (FileIdentity(status), Int(status.st_size), status.expiry)
        let recent = state.withLock { $0.recent.isEmpty ? nil : $0.recent[Int(identity.inode % 1_024)] }
        if let known = recent, known.identity == identity, known.expiry == expiry, known.metadata.length == size,
            let data = file.read(size), known.metadata.describes(data)
        {
            return (data, known.metadata)
        }
        let metadata = file.metadata
        // A file of another length is not even read: a damaged one may be very long.
        guard metadata?.length ?? size == size else { return nil }
        guard let data = file.read(size) else { throw StorageError(.read, directory.path(of: name), errno) }
        guard metadata?.describes(data) ?? (data.count == size) else { return nil }
        if let metadata { keep(metadata, of: identity, until: status.st_mtim) }
        return (data, metadata)
    }

    /// Caches the metadata of a file: reading it takes a fifth of the time that reading a small entry takes.
    ///
    /// The identity and the expiry may be those of another file later; the cached metadata is used only if it describes
    /// that file's bytes.
    private func keep(_ metadata: EntryMetadata, of file: FileIdentity, until expiry: timespec) {
        state.withLock { state in
            if state.recent.isEmpty { state.recent = Array(repeating: nil, count: 1_024) }
            state.recent[Int(file.inode % 1_024)] = (file, Date(entryTime: expiry), metadata)
        }
    }

    /// Whether there is an entry called `name` that is valid at `date` (now, if not given).
    ///
    /// One system call.
    package func contains(_ name: String, at date: Date? = nil) -> Bool {
        guard FileNaming.isSafe(name), let status = try? directory.status(of: name) else { return false }
        return !status.isDirectory && !status.expiry.isPast(referenceDate: date ?? clock())
    }

    /// Records that `entry` was used, and extends its life as `extending` says.
    ///
    /// Does nothing if the entry has been replaced or extended since it was read.
    package func touch(_ entry: Entry, extending: ExpirationExtending) throws(StorageError) {
        let now = clock()
        let original = entry.lifetime == 0 ? .date(entry.expiry) : StorageExpiration.seconds(entry.lifetime)
        guard let expiry = extending.expiry(readAt: now, original: original) else { return }
        try countingFailure { () throws(StorageError) in
            guard let file = try directory.open(entry.name) else { return }
            let status = file.status
            guard FileIdentity(status) == entry.identity, status.expiry == entry.expiry else { return }
            guard file.setTimes(access: now.entryTime, modification: expiry.entryTime) else {
                throw StorageError(.setTimes, directory.path(of: entry.name), errno)
            }
            let record = EntryRecord(size: entry.data.count, access: now.entryTime, expiry: expiry.entryTime)
            state.withLock { if $0.index?[entry.name] != nil { $0.index?[entry.name] = record } }
            if let metadata = entry.metadata { keep(metadata, of: entry.identity, until: expiry.entryTime) }
        }
    }

    /// Removes `entry` because the caller that read it cannot use its bytes.
    ///
    /// Does nothing if the entry has been replaced since it was read.
    package func discard(_ entry: Entry) throws(StorageError) {
        try remove(entry.name, ifStill: entry.identity, counting: \.discarded)
    }
}
