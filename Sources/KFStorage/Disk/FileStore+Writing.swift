// Writing an entry: elsewhere, then renamed into place. Knows nothing of reading.

package import Foundation
import Glibc
import KFSupport

extension FileStore {
    /// Writes the entry called `name`; with an expiration that has passed, removes it instead.
    ///
    /// A failure leaves what was there before; that the file system keeps no key and no attachment is none.
    ///
    /// - Parameters:
    ///   - data: The entry's bytes.
    ///   - name: The name of a visible file, not a path.
    ///   - key: What the entry is known by elsewhere; remembered for ``entries()`` if it is not too long.
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
        guard !expiration.isExpired(at: now), fits(data.count) else {
            try remove(name)
            return
        }
        guard data.count < 1 << 18 || Descriptor.mayWrite(data.count) else {
            throw StorageError(.write, directory.path(of: name), EFBIG)
        }
        let metadata = EntryMetadata(of: data, lifetime: expiration.lifetime)
        let expiry = expiration.estimatedExpiration(since: now)
        func attempt() throws(StorageError) {
            try temporaries().put(name, in: directory, replacing: isReplacing) { file throws(StorageError) in
                guard file.write(data) else { throw StorageError(.write, directory.path(of: name), errno) }
                file.attach(metadata, attachment: attachment, key: key)
                guard file.setTimes(access: now.entryTime, modification: expiry.entryTime) else {
                    throw StorageError(.setTimes, directory.path(of: name), errno)
                }
            }
        }
        try changing { () throws(StorageError) in
            do throws(StorageError) { try attempt() } catch {
                guard hasOtherPlace(after: error) else { throw error }
                try attempt()
            }
            let record = EntryRecord(size: data.count, access: now.entryTime, expiry: expiry.entryTime)
            note(name, record, counting: \.stores)
            state.withLock { state in
                state.counts.bytesWritten += data.count
                state.room.unchecked += data.count
            }
        }
        makeRoomIfNeeded()
    }

    /// Where files are written for the directory, which is made if need be.
    private func temporaries() throws(StorageError) -> Temporaries {
        if let known = state.withLock({ $0.temporaries }) { return known }
        try directory.make()
        let temporaries = try Temporaries.of(directory)
        state.withLock { $0.temporaries = temporaries }
        return temporaries
    }

    /// Whether a write that ended with `error` may succeed elsewhere, which is where the next one goes.
    private func hasOtherPlace(after error: StorageError) -> Bool {
        // The directory, or the folder beside it, was removed: both are made again.
        if error.code == ENOENT {
            state.withLock { $0.temporaries = nil }
            return true
        }
        // The folder beside was forbidden, or nothing may be moved from there: by quotas of single folders, or in a sandbox.
        let isBeside = state.withLock { $0.temporaries?.isBeside ?? false }
        guard isBeside, [EXDEV, EACCES, EPERM].contains(error.code), let inside = try? Temporaries.inside(directory)
        else { return false }
        state.withLock { $0.temporaries = inside }
        return true
    }
}
