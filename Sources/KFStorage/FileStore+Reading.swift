// Reading an entry, and what a reading may lead to: prolonging its life, or removing it. Knows nothing of writing.

package import Foundation
import Glibc

extension FileStore {
    /// What a reading found.
    package struct Entry: Sendable {
        /// The name it was read under.
        package let name: String
        /// The entry's bytes.
        package let data: Data
        /// When it expires.
        package let expiry: Date
        /// What is kept with it; `nil` if there is nothing, or it was not asked for.
        package let attachment: [UInt8]?
        let identity: FileIdentity
        let lifetime: Lifetime
        let metadata: EntryMetadata?
    }

    /// The entry called `name`, checked against what was written.
    ///
    /// - Parameters:
    ///   - name: The name of a visible file, not a path.
    ///   - date: When it has to be valid; now, if not given.
    ///   - withAttachment: Whether what is kept with the entry is wanted too; that takes one system call more.
    /// - Returns: The entry; `nil` if there is none, or it has expired, or was damaged and is removed.
    /// - Throws: ``StorageError`` when there is something that cannot be read.
    package func read(
        _ name: String,
        at date: Date? = nil,
        withAttachment: Bool = false
    ) throws(StorageError) -> Entry? {
        try check(name)
        let now = ticks()
        guard let outlook = outlook(on: name, at: now, counting: true) else { return nil }
        let entry = try countingFailure { () throws(StorageError) in
            try readFile(name, in: outlook.directory, at: date, withAttachment)
        }
        if let size = entry?.data.count { noteHit(name, size: size, knownSize: outlook.size, at: now) }
        return entry
    }

    /// Reads the entry called `name` in `known`, or in the directory if that has to be found first.
    private func readFile(
        _ name: String,
        in known: Directory?,
        at date: Date?,
        _ withAttachment: Bool
    ) throws(StorageError) -> Entry? {
        let found = if let known { known } else { try directory(making: false) }
        guard let directory = found else { return missed(name) }
        guard let file = try directory.open(name) else {
            // Only now does it matter whether the directory still is what its path means.
            guard forget(directory) else { return missed(name) }
            return try readFile(name, in: nil, at: date, withAttachment)
        }
        let status = file.status
        guard status.isRegularFile else {
            throw StorageError(.read, directory.path(of: name), status.isDirectory ? EISDIR : EINVAL)
        }
        let expiry = status.expiry
        guard !expiry.isPast(referenceDate: date ?? clock()) else { return missed(name, isThere: true) }

        let identity = FileIdentity(status)
        guard let (data, metadata) = try contents(of: file, identity, status, directory.path(of: name)) else {
            // A miss, whether or not it can be removed.
            try? removeCorrupted(name, identity)
            return missed(name, isThere: true)
        }
        return Entry(
            name: name,
            data: data,
            expiry: expiry,
            attachment: withAttachment ? file.attachment : nil,
            identity: identity,
            lifetime: metadata?.lifetime ?? status.lifetime,
            metadata: metadata
        )
    }

    /// The bytes of `file` and what lies beside them; `nil` if they are not what was written.
    private func contents(
        of file: borrowing Descriptor,
        _ identity: FileIdentity,
        _ status: stat,
        _ path: @autoclosure () -> String
    ) throws(StorageError) -> (Data, EntryMetadata?)? {
        let size = Int(status.st_size)
        let remembered = recent.metadata(of: identity, size: size, expiry: status.st_mtim)
        var metadata = remembered ?? file.metadata
        // Not read to no purpose: it may be damaged in that it is very long.
        guard metadata?.length ?? size == size else { return nil }
        guard let data = file.read(size) else { throw StorageError(.read, path(), errno) }

        if let known = metadata, known.describes(data) {
            if remembered == nil { recent.keep(known, of: identity, size: size, expiry: status.st_mtim) }
            return (data, known)
        }
        if remembered != nil {
            // It was that of another file which had the same number, or the file itself is damaged.
            metadata = file.metadata
        }
        return metadata?.describes(data) ?? (data.count == size) ? (data, metadata) : nil
    }

    /// Whether there is an entry called `name` that is valid at `date` (now, if not given).
    ///
    /// One system call.
    package func contains(_ name: String, at date: Date? = nil) -> Bool {
        guard FileNaming.isSafe(name), let outlook = outlook(on: name, at: ticks()),
            let directory = try? outlook.directory ?? directory(making: false)
        else { return false }
        guard let status = try? directory.status(of: name) else {
            return forget(directory) ? contains(name, at: date) : false
        }
        return !status.isDirectory && !status.expiry.isPast(referenceDate: date ?? clock())
    }

    /// Notes that `entry`, read under `name`, was used, and prolongs its life as `extending` says.
    ///
    /// Nothing happens if the entry has been replaced or prolonged since.
    package func touch(_ name: String, _ entry: Entry, extending: ExpirationExtending) throws(StorageError) {
        if case .none = extending { return }
        let now = clock()
        let original = entry.lifetime.expiration(expiry: entry.expiry)
        guard let expiry = extending.expiry(readAt: now, original: original) else { return }
        let isDone = try countingFailure { () throws(StorageError) in
            guard let directory = try directory(making: false), let file = try directory.open(name) else {
                return false
            }
            let status = file.status
            guard FileIdentity(status) == entry.identity, status.expiry == entry.expiry else { return false }
            guard file.setTimes(access: now.entryTime, modification: expiry.entryTime) else {
                throw StorageError(.setTimes, directory.path(of: name), errno)
            }
            return true
        }
        guard isDone else { return }
        noteUse(name, access: now.entryTime, expiry: expiry.entryTime)
        if let metadata = entry.metadata {
            recent.keep(metadata, of: entry.identity, size: entry.data.count, expiry: expiry.entryTime)
        }
    }

    /// Removes `entry`, read under `name`, because its bytes are no good to who read them.
    ///
    /// Nothing happens if the entry has been replaced since.
    package func discard(_ name: String, _ entry: Entry) throws(StorageError) {
        try changing(name) { () throws(StorageError) in
            try removeFile(name, because: .discarded) { FileIdentity($0) == entry.identity ? nil : .unknown(taken: 0) }
        }
    }
}

extension stat {
    /// The lifetime of an entry without metadata: from the last access to the expiry.
    fileprivate var lifetime: Lifetime {
        expiry == .distantFuture ? .never : .seconds(expiry.timeIntervalSince(lastAccess))
    }
}
