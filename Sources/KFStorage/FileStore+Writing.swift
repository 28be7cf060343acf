// Writing an entry: elsewhere, then renamed into place. Knows nothing of reading.

package import Foundation
import Glibc
import KFSupport

extension FileStore {
    /// Writes the entry called `name`; with an expiration that has passed, removes it instead.
    ///
    /// The name is that of a visible file, not a path. The key is what the entry is known by elsewhere; it is remembered
    /// for ``entries()`` if it is not too long. A failure leaves what was there before; that the file system keeps no key
    /// and no attachment is none.
    ///
    /// - Parameters:
    ///   - data: The entry's bytes.
    ///   - name: The name of a visible file, not a path.
    ///   - key: What the entry is known by elsewhere.
    ///   - expiration: How long it is valid.
    ///   - attachment: What to keep with the entry, at most ``longestAttachment`` bytes; more are not kept.
    ///   - isReplacing: Whether a file of that name is replaced; otherwise it stays, and is an error (`EEXIST`).
    /// - Throws: ``StorageError`` when the entry cannot be written.
    package func write(
        _ data: Data,
        to name: String,
        key: String? = nil,
        expiration: StorageExpiration,
        attachment: [UInt8]? = nil,
        replacing isReplacing: Bool = true
    ) throws(StorageError) {
        try check(name)
        let now = clock()
        guard !expiration.isExpired(at: now), hasRoom(for: data.count) else {
            try remove(name)
            return
        }
        guard Descriptor.mayWrite(data.count) else { throw StorageError(.write, path + "/" + name, EFBIG) }
        let metadata = EntryMetadata(of: data, lifetime: Lifetime(expiration))
        let expiry = expiration.estimatedExpiration(since: now)
        func attempt() throws(StorageError) -> Int? {
            let (directory, temporaries) = try placesToWrite()
            let mustTell = state.withLock { $0.mustTellExactly }
            let replacement: Temporaries.Replacement = !isReplacing ? .refused : mustTell ? .told : .silent
            return try temporaries.put(name, in: directory, replacement) { file, identity throws(StorageError) in
                guard file.write(data) else { throw StorageError(.write, directory.path(of: name), errno) }
                file.attach(metadata, attachment: attachment, key: key)
                guard file.setTimes(access: now.entryTime, modification: expiry.entryTime) else {
                    throw StorageError(.setTimes, directory.path(of: name), errno)
                }
                recent.keep(metadata, of: identity, size: data.count, expiry: expiry.entryTime)
            }
        }
        try changing(name) { () throws(StorageError) in
            let replacedSize: Int?
            do throws(StorageError) {
                replacedSize = try attempt()
            } catch {
                // The directory went away in between and is made again, or the folder beside is of no use: once.
                if error.code == ENOENT { forgetDirectory() } else if !leaveFolder(after: error) { throw error }
                replacedSize = try attempt()
            }
            let record = EntryRecord(size: data.count, access: now.entryTime, expiry: expiry.entryTime)
            return .stored(record, over: isReplacing ? replacedSize : 0)
        }
    }
}
