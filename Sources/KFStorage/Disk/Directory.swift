// The system calls a store makes for the files of one directory.

import CKFLinux
import Foundation
import Glibc
import KFSupport

/// A directory by its path, which need not exist.
///
/// A symbolic link at a file's name is never followed.
final class Directory: Sendable {
    let path: String
    private let prefix: String
    /// Whether the path holds no zero byte, at which the system would end it.
    private let isPossible: Bool

    init(path: String) { (self.path, prefix, isPossible) = (path, path + "/", !path.utf8.contains(0)) }

    /// The full path of `name`.
    func path(of name: String) -> String { prefix + name }

    /// Makes the directory, with all that leads to it, if there is none.
    func make() throws(StorageError) {
        BlockingGuard.check()
        guard isPossible else { throw StorageError(.createDirectory, path, EINVAL) }
        guard mkdir(path, 0o755) != 0 else { return }
        if errno == ENOENT {
            let parent = (path as NSString).deletingLastPathComponent
            guard !parent.isEmpty, parent != path else { throw StorageError(.createDirectory, path, ENOENT) }
            try Directory(path: parent).make()
            guard mkdir(path, 0o755) != 0 else { return }
        }
        let code = errno
        var status = stat()
        guard stat(path, &status) == 0, status.isDirectory else {
            throw StorageError(.createDirectory, path, code == EEXIST ? ENOTDIR : code)
        }
    }

    /// Opens the directory itself; `nil` if there is none.
    func open() throws(StorageError) -> Descriptor? {
        BlockingGuard.check()
        guard isPossible else { throw StorageError(.openDirectory, path, EINVAL) }
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if number < 0, errno == ENOENT { return nil }
        guard number >= 0 else { throw StorageError(.openDirectory, path, errno) }
        return Descriptor(number)
    }

    /// The status of the file `name`, or `nil` if there is none.
    func status(of name: String) throws(StorageError) -> stat? {
        BlockingGuard.check()
        var status = stat()
        if lstat(path(of: name), &status) == 0 { return status }
        guard errno == ENOENT else { throw StorageError(.read, path(of: name), errno) }
        return nil
    }

    /// Opens `name` for reading, or returns `nil` if there is no file whose status could be read.
    func open(_ name: String) throws(StorageError) -> Descriptor? {
        BlockingGuard.check()
        guard isPossible else { return nil }
        // Not blocking: a pipe in the place of an entry must not block the thread.
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let full = path(of: name)
        let number = full.withCString { full in
            // The store sets the access time itself; the kernel refuses O_NOATIME to all but the owner of the file.
            let number = Glibc.open(full, flags | kf_o_noatime)
            return number < 0 && errno == EPERM ? Glibc.open(full, flags) : number
        }
        if number >= 0 { return Descriptor(number) }
        let code = errno
        var status = stat()
        guard code != ENOENT, lstat(full, &status) == 0 else { return nil }
        throw StorageError(.read, full, code)
    }

    /// Removes the file `name` and returns whether there was one.
    @discardableResult
    func remove(_ name: String) throws(StorageError) -> Bool {
        BlockingGuard.check()
        if unlink(path(of: name)) == 0 { return true }
        guard errno == ENOENT else { throw StorageError(.remove, path(of: name), errno) }
        return false
    }
}

/// The identity of a file: no other file has it.
struct FileIdentity: Hashable, Sendable {
    let device: dev_t
    let inode: ino_t

    init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }
}
