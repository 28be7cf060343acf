// Removing a file only if it still is the one that was looked at. Knows nothing of why it has to go.

import CKFLinux
import Glibc
import KFSupport

/// Locks by name, for the whole process: who looks at a file and then removes it by its name holds that of the name, and
/// so does who gives a file that name.
///
/// Held over a few system calls, an exception: nothing but these runs under it, nothing of users, and no other lock is
/// taken. Names share locks; the same name in another directory has the same lock. That costs a little waiting only.
enum NameLocks {
    private final class NameLock: Sendable {
        let lock = Locked(())
    }

    private static let locks = (0..<64).map { _ in NameLock() }

    static func withLock<Result: Sendable>(
        _ name: String,
        _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let hash = name.utf8.reduce(into: UInt(5381)) { $0 = $0 &* 33 ^ UInt($1) }
        return try locks[Int(hash % UInt(locks.count))].lock.withLock { _ throws(StorageError) in try body() }
    }
}

extension FileStore {
    /// Where files that are to go can be put aside; `nil` if nobody has made such a folder.
    func temporariesFolder(of directory: Directory) -> Directory? {
        let known = state.withLock { $0.directory === directory ? $0.temporaries : nil }
        // Who has written nothing has no folder of his own.
        return (known ?? Temporaries.existing(of: directory))?.folder
    }

    /// Removes the file called `name`, unless `judge`, shown its status, has an outcome for it already.
    ///
    /// What is stored between the look and the removal stays, also if another process does that, as long as there is a
    /// folder for temporary files.
    func removeFile(
        _ name: String,
        because reason: Account.Removal,
        unless judge: (stat) -> Account.Outcome?
    ) throws(StorageError) -> Account.Outcome {
        guard let directory = try directory(making: false) else { return .seen(nil) }
        let (folder, (afterLook, whileAside)) = (
            temporariesFolder(of: directory), state.withLock { ($0.afterLook, $0.whileAside) }
        )
        return try NameLocks.withLock(name) { () throws(StorageError) in
            guard let status = try directory.status(of: name) else { return .seen(nil) }
            if let outcome = judge(status) { return outcome }
            afterLook?()
            switch folder.flatMap({ directory.remove(name, ifStill: status, by: $0, whileAside) }) {
            case .removed: return .removed(reason, size: Int(status.st_size))
            case .gone: return .seen(nil)
            case .putBack: return .unknown(taken: 0)
            case .another(let size): return .unknown(taken: size)
            case .lost: return .unknown()
            case nil: return try directory.remove(name) ? .removed(reason, size: Int(status.st_size)) : .seen(nil)
            }
        }
    }
}

extension Directory {
    /// Removes the file `name` if it still is the one that had this status, and answers whether it was.
    ///
    /// No system call removes a name only if it is that of a certain file. So the file is moved to `folder` first, where
    /// nobody replaces it, and moved back if it is another one; unless there is a third one by then, which is newer.
    /// - Returns: `nil` if it could not be moved: nothing has happened.
    fileprivate func remove(
        _ name: String,
        ifStill known: stat,
        by folder: Directory,
        _ whileAside: (() -> Void)?
    ) -> ConditionalRemoval? {
        // The lock says that what lies there is no leftover of a dead process. It keeps nobody: readers take none.
        withExtendedLifetime(locked(name)) { removeLocked(name, ifStill: known, by: folder, whileAside) }
    }

    private func locked(_ name: String) -> Descriptor? {
        BlockingGuard.check()
        guard let file = try? open(name) else { return nil }
        flock(file.number, LOCK_SH | LOCK_NB)
        return file
    }

    private func removeLocked(
        _ name: String,
        ifStill known: stat,
        by folder: Directory,
        _ whileAside: (() -> Void)?
    ) -> ConditionalRemoval? {
        BlockingGuard.check()
        let place = Temporaries.freshName()
        guard renameat(number, name, folder.number, place) == 0 else {
            return errno == ENOENT && !folder.isRemoved ? .gone : nil
        }
        whileAside?()
        var moved = stat()
        let isThere = fstatat(folder.number, place, &moved, AT_SYMLINK_NOFOLLOW) == 0
        let isKnown = isThere && moved.isUnchanged(since: known)
        if !isKnown, kf_rename_if_free(folder.number, place, number, name) == 0 { return .putBack }
        // If that fails, the next process that starts removes it.
        unlinkat(folder.number, place, 0)
        guard isThere else { return .lost }
        return isKnown ? .removed : .another(size: moved.isRegularFile ? Int(moved.st_size) : 0)
    }
}

/// What became of a file that was to be removed if it still was a certain one.
private enum ConditionalRemoval {
    case removed
    /// There was none any more.
    case gone
    /// There was another one, which is there again.
    case putBack
    /// There was another one, and by now there is a third, which is newer: so the other went, with so many bytes.
    case another(size: Int)
    /// Whatever it was, somebody has removed it from where it had been put aside.
    case lost
}

extension stat {
    /// Whether this is the same file, and nobody has prolonged its life or used it.
    fileprivate func isUnchanged(since other: stat) -> Bool {
        FileIdentity(self) == FileIdentity(other) && st_size == other.st_size
            && st_mtim.tv_sec == other.st_mtim.tv_sec && st_mtim.tv_nsec == other.st_mtim.tv_nsec
            && st_atim.tv_sec == other.st_atim.tv_sec && st_atim.tv_nsec == other.st_atim.tv_nsec
    }
}
