// User metadata: bytes that are stored with an entry besides its own. Knows nothing of what they mean.

import Glibc

extension FileStore {
    /// The most bytes user metadata may have.
    package static var longestUserMetadata: Int { SecondaryMetadata.longestUserMetadata }

    /// The user metadata of the entry called `name`, whether or not that has expired.
    ///
    /// - Parameters:
    ///   - name: The name of a visible file, not a path.
    ///   - entry: When given, the entry that is meant.
    /// - Returns: The bytes; `nil` if there are none, or no entry, or `entry` has been replaced since it was read.
    /// - Throws: ``StorageError`` when the file cannot be opened.
    package func userMetadata(of name: String, ifStill entry: Entry? = nil) throws(StorageError) -> [UInt8]? {
        try check(name)
        return try countingFailure { () throws(StorageError) in
            try withFile(name, ifStill: entry) { file, _ in file.secondary.userMetadata } ?? nil
        }
    }

    /// Replaces the user metadata of the entry called `name`; `nil` or no bytes remove it.
    ///
    /// The entry itself does not change: not its bytes, its expiry, or when it was last read.
    ///
    /// - Parameters:
    ///   - bytes: At most ``longestUserMetadata``; more are refused.
    ///   - name: The name of a visible file, not a path.
    ///   - entry: When given, the entry that is meant: nothing happens if it has been replaced since it was read.
    ///   - isMeant: When given, called with the user metadata of the very file that will be changed; if it returns
    ///     false, nothing happens.
    /// - Returns: Whether `bytes` are stored now: not if the file system has no room, or the entry was replaced
    ///   meanwhile.
    /// - Throws: ``StorageError`` when the file cannot be opened, or belongs to another user.
    @discardableResult
    package func setUserMetadata(
        _ bytes: [UInt8]?,
        of name: String,
        ifStill entry: Entry? = nil,
        where isMeant: (([UInt8]?) -> Bool)? = nil
    ) throws(StorageError) -> Bool {
        let bytes = bytes ?? []
        guard bytes.count <= Self.longestUserMetadata else { return false }
        try check(name)
        let kept = try countingFailure { () throws(StorageError) in
            try withFile(name, ifStill: entry) { file, path throws(StorageError) in
                let secondary = file.secondary
                if let isMeant, !isMeant(secondary.userMetadata) { return false }
                let isKept = file.keep(SecondaryMetadata(key: secondary.key, userMetadata: bytes))
                if isKept { return file.status.st_nlink > 0 }
                guard [ENOSPC, E2BIG, EDQUOT, EOPNOTSUPP].contains(errno) else {
                    throw StorageError(.setUserMetadata, path, errno)
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
            // The inode number of a file that is gone is soon given to another one: then the metadata differs.
            guard entry.identity == FileIdentity(status), entry.metadata == file.metadata else { return nil }
        }
        return try body(file, directory.path(of: name))
    }
}
