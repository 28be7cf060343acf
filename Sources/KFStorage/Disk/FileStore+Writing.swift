// Writing an entry: elsewhere, then renamed into place.

package import Foundation
import Glibc
import KFSupport

extension FileStore {
    /// Writes the entry called `name`; with an expiration that has passed, nothing is done and what is there stays.
    ///
    /// A failure leaves what was there before; it is no failure if the file system stores no key and no user metadata.
    ///
    /// - Parameters:
    ///   - data: The entry's bytes.
    ///   - name: The name of a visible file, not a path.
    ///   - key: The key of the entry, stored for ``entries()`` if it is not too long.
    ///   - expiration: How long it is valid.
    ///   - userMetadata: Bytes to store with the entry, at most 1,500; more are not stored.
    ///   - isReplacing: Whether a file of that name is replaced; otherwise it stays, and is an error (`EEXIST`).
    /// - Throws: ``StorageError`` when the entry cannot be written.
    package func write(
        _ data: Data,
        to name: String,
        key: String? = nil,
        expiration: StorageExpiration,
        userMetadata: [UInt8]? = nil,
        replacing isReplacing: Bool = true
    ) throws(StorageError) {
        try check(name)
        let now = clock()
        guard !expiration.isExpired(at: now) else { return }
        guard fits(data.count) else {
            try remove(name)
            return
        }
        guard data.count < 1 << 18 || Descriptor.mayWrite(data.count) else {
            throw StorageError(.write, directory.path(of: name), EFBIG)
        }
        let metadata = EntryMetadata(of: data, lifetime: expiration.lifetime, key: key, userMetadata: userMetadata)
        let expiry = expiration.estimatedExpiration(since: now)
        func attempt() throws(StorageError) {
            try temporaryFiles().put(name, in: directory, replacing: isReplacing) { file throws(StorageError) in
                guard file.write(data) else { throw StorageError(.write, directory.path(of: name), errno) }
                file.attach(metadata)
                guard file.setTimes(access: now.entryTime, modification: expiry.entryTime) else {
                    throw StorageError(.setTimes, directory.path(of: name), errno)
                }
            }
        }
        _ = try changing(name, to: data.count, counting: \.stores) { _ throws(StorageError) in
            do throws(StorageError) { try attempt() } catch {
                guard canWriteElsewhere(after: error) else { throw error }
                try attempt()
            }
            return true
        }
        state.withLock { state in
            state.counts.bytesWritten += data.count
            state.trimming.unchecked += data.count
        }
        makeRoomIfNeeded()
    }

    /// The temporary files of the directory, which is made if there is none.
    private func temporaryFiles() throws(StorageError) -> TemporaryFiles {
        if let known = state.withLock({ $0.temporaryFiles }) { return known }
        try directory.make()
        let temporaryFiles = try TemporaryFiles.of(directory)
        state.withLock { $0.temporaryFiles = temporaryFiles }
        return temporaryFiles
    }

    /// Whether a write that failed with `error` may succeed with temporary files elsewhere, which the next write uses.
    private func canWriteElsewhere(after error: StorageError) -> Bool {
        // The directory, or the temporary folder beside it, was removed: both are made again.
        if error.code == ENOENT {
            state.withLock { $0.temporaryFiles = nil }
            return true
        }
        // The temporary folder is closed to this process, or no file may be moved from there: because of project
        // quotas, or in a sandbox.
        let isBeside = state.withLock { $0.temporaryFiles?.isBeside ?? false }
        guard isBeside, [EXDEV, EACCES, EPERM].contains(error.code), let inside = try? TemporaryFiles.inside(directory)
        else { return false }
        state.withLock { $0.temporaryFiles = inside }
        return true
    }
}
