// Bytes that are kept with an entry but are none of its bytes. Knows nothing of what they mean.

import Glibc

extension FileStore {
    /// The most bytes an attachment may have.
    package static var longestAttachment: Int { EntrySupplement.longestAttachment }

    /// What is kept with the entry called `name`, whether or not that has expired.
    ///
    /// - Parameters:
    ///   - name: The name of a visible file, not a path.
    ///   - entry: When given, the entry that is meant.
    /// - Returns: The bytes; `nil` if nothing is kept, or there is no entry, or `entry` has been replaced since it was read.
    /// - Throws: ``StorageError`` when the file cannot be opened.
    package func attachment(of name: String, ifStill entry: Entry? = nil) throws(StorageError) -> [UInt8]? {
        try check(name)
        return try countingFailure { () throws(StorageError) in
            try withFile(name, ifStill: entry) { file, _ in file.supplement.attachment } ?? nil
        }
    }

    /// Keeps `bytes` with the entry called `name` instead of what was kept with it; `nil` or none: keeps nothing.
    ///
    /// The entry itself does not change: not its bytes, its expiry, or when it was last read.
    ///
    /// - Parameters:
    ///   - bytes: At most ``longestAttachment``; more are refused.
    ///   - name: The name of a visible file, not a path.
    ///   - entry: When given, the entry that is meant: nothing happens if it has been replaced since it was read.
    ///   - isMeant: When given, shown what is kept so far with the very file that will be changed; if false, nothing happens.
    /// - Returns: Whether that is kept now: not if the file system has no room, or the entry was replaced meanwhile.
    /// - Throws: ``StorageError`` when the file cannot be opened, or is not ours to change.
    @discardableResult
    package func setAttachment(
        _ bytes: [UInt8]?,
        of name: String,
        ifStill entry: Entry? = nil,
        where isMeant: (([UInt8]?) -> Bool)? = nil
    ) throws(StorageError) -> Bool {
        let bytes = bytes ?? []
        guard bytes.count <= Self.longestAttachment else { return false }
        try check(name)
        let kept = try countingFailure { () throws(StorageError) in
            try withFile(name, ifStill: entry) { file, path throws(StorageError) in
                let supplement = file.supplement
                if let isMeant, !isMeant(supplement.attachment) { return false }
                let isKept = file.keep(EntrySupplement(key: supplement.key, attachment: bytes))
                if isKept { return file.status.st_nlink > 0 }
                guard [ENOSPC, E2BIG, EDQUOT, EOPNOTSUPP].contains(errno) else {
                    throw StorageError(.setAttachment, path, errno)
                }
                return false
            }
        }
        return kept ?? false
    }

    /// Opens the file called `name` for `body`; `nil` if there is none, or it is not that of `entry`.
    private func withFile<Result>(
        _ name: String,
        ifStill entry: Entry?,
        _ body: (borrowing Descriptor, String) throws(StorageError) -> Result
    ) throws(StorageError) -> Result? {
        guard let file = try directory.open(name) else { return nil }
        let status = file.status
        guard status.isRegularFile else { return nil }
        if let entry {
            // The number of a file that is gone is given to another soon: then the checksum differs.
            guard entry.identity == FileIdentity(status), entry.metadata == file.metadata else { return nil }
        }
        return try body(file, directory.path(of: name))
    }
}
