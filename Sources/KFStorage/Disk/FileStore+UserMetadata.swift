// User metadata: bytes that are stored with an entry besides its own. For the metadata of responses.

import Foundation
import Glibc
import KFSupport

extension FileStore {
    /// The user metadata of the entry called `name`, whether or not that has expired.
    ///
    /// - Parameter name: The name of a visible file, not a path.
    /// - Returns: The bytes; `nil` if there are none, or no entry.
    /// - Throws: ``StorageError`` when the file cannot be opened.
    package func userMetadata(of name: String) throws(StorageError) -> [UInt8]? {
        try check(name)
        return try countingFailure { () throws(StorageError) in
            guard let file = try directory.open(name), file.status.isRegularFile else { return nil }
            return file.metadata?.userMetadata
        }
    }

    /// Replaces the user metadata of the entry called `name`; `nil` or no bytes remove it.
    ///
    /// The entry's bytes do not change, nor when it expires and was last read unless it is renewed.
    ///
    /// - Parameters:
    ///   - bytes: At most 1,500 bytes; more are refused.
    ///   - name: The name of a visible file, not a path.
    ///   - isRenewing: Whether the entry lives as long from now on as if it had been stored now; not if it expires at a
    ///     date.
    ///   - isMeant: When given, called with the user metadata of the very file that will be changed; if it returns
    ///     false, nothing happens.
    /// - Returns: Whether `bytes` are stored now: not if there is no entry with metadata, the file system has no room,
    ///   or the entry was replaced in that time.
    /// - Throws: ``StorageError`` when the file cannot be opened, or belongs to another user.
    @discardableResult
    package func setUserMetadata(
        _ bytes: [UInt8]?,
        of name: String,
        renewing isRenewing: Bool = false,
        where isMeant: (([UInt8]?) -> Bool)? = nil
    ) throws(StorageError) -> Bool {
        guard bytes?.count ?? 0 <= EntryMetadata.longestUserMetadata else { return false }
        try check(name)
        return try countingFailure { () throws(StorageError) in
            guard let file = try directory.open(name), file.status.isRegularFile, var metadata = file.metadata,
                isMeant?(metadata.userMetadata) ?? true
            else { return false }
            metadata.userMetadata = bytes
            if file.setAttribute(EntryMetadata.attribute, to: metadata.encoded) {
                if isRenewing, metadata.lifetime > 0 {
                    let now = clock()
                    let expiry = now + TimeInterval(metadata.lifetime)
                    _ = file.setTimes(access: now.entryTime, modification: expiry.entryTime)
                }
                return file.status.st_nlink > 0
            }
            guard [ENOSPC, E2BIG, EDQUOT, EOPNOTSUPP].contains(errno) else {
                throw StorageError(.setUserMetadata, directory.path(of: name), errno)
            }
            return false
        }
    }
}
