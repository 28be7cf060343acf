// Reading an entry, and what may follow: extending its life, or removing it.

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
        /// Its user metadata; `nil` if there is none.
        package let userMetadata: [UInt8]?
        let identity: FileIdentity
        let lifetime: TimeInterval
    }

    /// The entry called `name`, checked against what was written.
    ///
    /// - Parameters:
    ///   - name: The name of a visible file, not a path.
    ///   - date: When it has to be valid; now, if not given.
    /// - Returns: The entry; `nil` if there is none, or it has expired, or was damaged and is removed; also if the
    ///   directory is closed to this user.
    /// - Throws: ``StorageError`` when there is something that cannot be read.
    package func read(_ name: String, at date: Date? = nil) throws(StorageError) -> Entry? {
        try check(name)
        let entry = try countingFailure { () throws(StorageError) in try readFile(name, at: date ?? clock()) }
        state.withLock { state in
            if entry == nil { state.counts.misses += 1 } else { state.counts.hits += 1 }
            state.counts.bytesRead += entry?.data.count ?? 0
        }
        return entry
    }

    private func readFile(_ name: String, at date: Date) throws(StorageError) -> Entry? {
        guard let file = try directory.open(name) else { return nil }
        let status = file.status
        guard status.isRegularFile else {
            throw StorageError(.read, directory.path(of: name), status.isDirectory ? EISDIR : EINVAL)
        }
        let expiry = status.expiry
        guard !expiry.isPast(referenceDate: date) else { return nil }
        guard let (data, metadata) = try contents(of: file, status, name) else {
            // A miss, even if it cannot be removed.
            _ = try? remove(name, counting: \.corrupted) { FileIdentity($0) == FileIdentity(status) }
            return nil
        }
        return Entry(
            name: name,
            data: data,
            expiry: expiry,
            userMetadata: metadata?.userMetadata,
            identity: FileIdentity(status),
            lifetime: metadata.map { TimeInterval($0.lifetime) } ?? expiry.timeIntervalSince(status.lastAccess)
        )
    }

    /// The bytes of `file` and their metadata; `nil` if they are not what was written.
    private func contents(of file: borrowing Descriptor, _ status: stat, _ name: String) throws(StorageError)
        -> (Data, EntryMetadata?)?
    {
        let (size, encoded) = (Int(status.st_size), file.encodedMetadata)
        let metadata = encoded.flatMap { EntryMetadata($0) }
        // A file of another length is not even read: a damaged one may be very long.
        guard encoded == nil || metadata?.hasLength(size) == true else { return nil }
        guard let data = file.read(size) else { throw StorageError(.read, directory.path(of: name), errno) }
        return metadata?.describes(data) ?? (data.count == size) ? (data, metadata) : nil
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
        }
    }

    /// Removes `entry` because the caller that read it cannot use its bytes.
    ///
    /// Does nothing if the entry has been replaced since it was read.
    package func discard(_ entry: Entry) throws(StorageError) {
        _ = try remove(entry.name, counting: \.discarded) { FileIdentity($0) == entry.identity }
    }
}
