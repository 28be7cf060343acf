// Files that are being written and have no name yet. For FileStore.

import CKFLinux
import Foundation
import Glibc
import KFSupport
import Synchronization

/// Where files are written before they are renamed into place, so that every reader sees a whole file or none.
///
/// Temporary files lie in a folder beside the directory, not inside: that of `cache` is `.cache.tmp`, and the directory
/// holds entries and nothing else. Where there can be no such folder (the directory is a mount point, its parent
/// belongs to another user, or another file has that name) they are hidden files in the directory itself.
final class TemporaryFiles: Sendable {
    static let prefix = ".kf-"
    /// A file that is older, in seconds, was left behind by a process that was killed while it wrote.
    private static let longestLife = 3_600
    /// The folder, held open: another user may put another folder at its path later.
    private let folder: Descriptor
    /// Whether the folder is one beside the directory.
    let isBeside: Bool

    private init(_ folder: consuming Descriptor, isBeside: Bool) {
        self.folder = folder
        self.isBeside = isBeside
    }

    /// The temporary files of `directory`, which has to exist; leftovers there are removed.
    static func of(_ directory: Directory) throws(StorageError) -> TemporaryFiles {
        if let beside = beside(directory, making: true) { return beside }
        return try inside(directory)
    }

    /// Those in the directory itself.
    static func inside(_ directory: Directory) throws(StorageError) -> TemporaryFiles {
        guard let opened = try directory.open() else { throw StorageError(.createDirectory, directory.path, ENOENT) }
        return TemporaryFiles(opened, isBeside: false)
    }

    /// Those in the folder beside; `nil` if there is none, or it cannot be used.
    @discardableResult
    static func beside(_ directory: Directory, making: Bool) -> TemporaryFiles? {
        BlockingGuard.check()
        guard let path = path(beside: directory) else { return nil }
        if making { mkdir(path, 0o755) }
        let number = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let folder = Descriptor(number)
        var (here, there) = (stat(), stat())
        // No other user may put files there, and they can be renamed from there.
        guard fstat(number, &here) == 0, stat(directory.path, &there) == 0, here.st_dev == there.st_dev,
            here.st_uid == geteuid() || here.st_uid == there.st_uid,
            faccessat(number, ".", W_OK | X_OK, AT_EACCESS) == 0
        else { return nil }
        var names: [String] = []
        let place = Directory(path: path)
        try? place.forEachFile(hidden: { names.append($0) }, { _, _ in })
        removeLeftovers(names, in: place)
        return TemporaryFiles(folder, isBeside: true)
    }

    /// Where the folder of `directory` is, or would be; `nil` if there can be no folder.
    private static func path(beside directory: Directory) -> String? {
        let path = directory.path as NSString
        guard path.lastPathComponent != "/" else { return nil }
        return path.deletingLastPathComponent + "/.\(path.lastPathComponent).tmp"
    }

    // MARK: Leftovers

    /// Removes those of the files called `names` in `directory` that are temporary and too old to be still written.
    ///
    /// Their age is that of the last access: the modification time of a nearly finished file is its entry's expiry.
    static func removeLeftovers(_ names: [String], in directory: Directory) {
        for name in names where name.hasPrefix(prefix) {
            guard let status = try? directory.status(of: name), status.st_atim.tv_sec < time(nil) - longestLife else {
                continue
            }
            _ = try? directory.remove(name)
        }
    }

    // MARK: Writing

    /// Makes a new file, lets `write` fill it, and gives it its name in `directory`; on failure nothing remains.
    ///
    /// With `isReplacing` it takes the place of a file that is there; otherwise that stays, and is an error (`EEXIST`).
    func put(
        _ name: String,
        in directory: Directory,
        replacing isReplacing: Bool,
        _ write: (borrowing Descriptor) throws(StorageError) -> Void
    ) throws(StorageError) {
        BlockingGuard.check()
        let (temporary, path) = (Self.freshName(), directory.path(of: name))
        let number = openat(folder.number, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        // The caller knows the entry's name, and not that of this file.
        guard number >= 0 else { throw StorageError(.write, path, errno) }
        do throws(StorageError) {
            try write(Descriptor(number))
            let isMoved =
                isReplacing
                ? renameat(folder.number, temporary, AT_FDCWD, path) == 0
                : kf_rename_if_free(folder.number, temporary, AT_FDCWD, path) == 0
            guard isMoved else { throw StorageError(.write, path, errno) }
        } catch {
            unlinkat(folder.number, temporary, 0)
            throw error
        }
    }

    /// A name that no other file has: a random number once for each process, then counted up, since random numbers take
    /// a system call.
    static func freshName() -> String {
        prefix + String(nextName.wrappingAdd(1, ordering: .relaxed).newValue, radix: 36)
    }

    private static let nextName = Atomic(UInt64.random(in: .min ... .max))
}
