// A directory held open, and the system calls relative to it. Knows nothing of entries and what they mean.

import CKFLinux
import Foundation
import Glibc

/// A file descriptor that is closed when it goes.
struct Descriptor: ~Copyable {
    let number: Int32

    init(_ number: Int32) { self.number = number }
    deinit { close(number) }
}

/// A directory held open.
///
/// Names are looked up in the directory itself, whatever its path means by now, and a symbolic link at a name is
/// never followed.
final class Directory: Sendable {
    /// Where it was found.
    let path: String
    let number: Int32
    let identity: FileIdentity
    /// The user it belonged to when it was opened.
    let owner: uid_t

    /// Takes over `number`, to close it.
    private init(path: String, number: Int32) throws(StorageError) {
        var status = stat()
        guard fstat(number, &status) == 0 else {
            let code = errno
            close(number)
            throw StorageError(.openDirectory, path, code)
        }
        self.path = path
        self.number = number
        identity = FileIdentity(status)
        owner = status.st_uid
    }

    deinit { close(number) }

    /// The directory at `path`, or `nil` if there is nothing.
    ///
    /// Unless `followingLinks`, a symbolic link in its place is an error.
    static func open(_ path: String, followingLinks: Bool = true) throws(StorageError) -> Directory? {
        BlockingGuard.check()
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followingLinks ? 0 : O_NOFOLLOW))
        if number < 0, errno == ENOENT { return nil }
        guard number >= 0 else { throw StorageError(.openDirectory, path, errno) }
        return try Directory(path: path, number: number)
    }

    /// The directory at `path`, made with all that leads to it if need be.
    static func create(_ path: String, followingLinks: Bool = true) throws(StorageError) -> Directory {
        if let directory = try open(path, followingLinks: followingLinks) { return directory }
        let parent = (path as NSString).deletingLastPathComponent
        if !parent.isEmpty, parent != path { _ = try create(parent) }
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw StorageError(.createDirectory, path, errno) }
        guard let directory = try open(path, followingLinks: followingLinks) else {
            throw StorageError(.createDirectory, path, ENOENT)
        }
        return directory
    }

    /// Whether its path still leads to it: false after it was removed or moved.
    var isAtItsPath: Bool { stampAtItsPath != nil }

    /// Whether it was removed; then nothing can be put into it any more, which looks (`ENOENT`) as if that were missing.
    var isRemoved: Bool { status.st_nlink == 0 }

    /// Who may do what with it.
    var mode: mode_t { status.st_mode }

    private var status: stat {
        BlockingGuard.check()
        var status = stat()
        fstat(number, &status)
        return status
    }

    /// Whether everybody who may add names to `other` may add names here.
    func isOpenToAllWhoMayChange(_ other: Directory) -> Bool {
        let (here, there) = (status, other.status)
        let group = mode_t(S_IWGRP)
        return here.st_uid == there.st_uid && there.st_mode & ~here.st_mode & mode_t(S_IWGRP | S_IWOTH) == 0
            && (there.st_mode & group == 0 || here.st_gid == there.st_gid)
    }

    /// Changes with every name that is added or taken out; `nil` on failure.
    var stamp: Stamp? {
        BlockingGuard.check()
        var status = stat()
        return fstat(number, &status) == 0 ? Stamp(status) : nil
    }

    /// The stamp of what its path leads to, if that still is this directory.
    var stampAtItsPath: Stamp? {
        BlockingGuard.check()
        var status = stat()
        let isThere = path.withCString { stat($0, &status) == 0 }
        return isThere && FileIdentity(status) == identity ? Stamp(status) : nil
    }

    /// Whether files can be renamed from the one into the other.
    func isOnSameFileSystem(as other: Directory) -> Bool { identity.device == other.identity.device }

    /// Whether we may make files in it.
    var isWritable: Bool {
        BlockingGuard.check()
        return faccessat(number, ".", W_OK | X_OK, AT_EACCESS) == 0
    }

    /// The full path of `name`.
    func path(of name: String) -> String { path + "/" + name }

    /// The status of what `name` stands for, or `nil` if there is nothing.
    func status(of name: String) throws(StorageError) -> stat? {
        BlockingGuard.check()
        var status = stat()
        if fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
        guard errno == ENOENT else { throw StorageError(.read, path(of: name), errno) }
        return nil
    }

    /// Opens `name` for reading, or answers `nil` if there is nothing.
    func open(_ name: String) throws(StorageError) -> Descriptor? {
        BlockingGuard.check()
        // Not blocking: a pipe in the place of an entry must not hold the thread.
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        // The access time is ours to set; the kernel may leave it alone only for the owner of the file.
        // Not handed over as it is: that would copy the name to the heap, which is a part of the time to be noticed.
        let file = name.withCString { name in
            let file = openat(number, name, flags | kf_o_noatime)
            return file < 0 && errno == EPERM ? openat(number, name, flags) : file
        }
        if file >= 0 { return Descriptor(file) }
        guard errno == ENOENT else { throw StorageError(.read, path(of: name), errno) }
        return nil
    }

    /// Makes the new file `name` for writing, or answers `nil` if the name is taken.
    func create(_ name: String) throws(StorageError) -> Descriptor? {
        BlockingGuard.check()
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = name.withCString { openat(number, $0, flags, 0o644) }
        if file >= 0 { return Descriptor(file) }
        guard errno == EEXIST else { throw StorageError(.write, path(of: name), errno) }
        return nil
    }

    /// Moves `name` to `newName` in `target`: over a file that is there, or not at all if that is not to be replaced.
    func move(
        _ name: String,
        to target: Directory,
        as newName: String,
        replacing isReplacing: Bool = true
    ) throws(StorageError) {
        BlockingGuard.check()
        let isMoved = name.withCString { name in
            newName.withCString { newName in
                isReplacing
                    ? renameat(number, name, target.number, newName) == 0
                    : kf_rename_if_free(number, name, target.number, newName) == 0
            }
        }
        guard isMoved else {
            throw StorageError(.write, target.path(of: newName), errno)
        }
    }

    /// Removes the file `name` and answers whether there was one.
    @discardableResult
    func remove(_ name: String) throws(StorageError) -> Bool {
        BlockingGuard.check()
        if unlinkat(number, name, 0) == 0 { return true }
        guard errno == ENOENT else { throw StorageError(.remove, path(of: name), errno) }
        return false
    }

    /// Removes whatever `name` stands for: a file, a link but not what it leads to, a directory with all it holds.
    ///
    /// What cannot be removed does not keep the rest; the first failure is thrown at the end.
    func removeTree(_ name: String) throws(StorageError) {
        guard let status = try status(of: name) else { return }
        guard status.isDirectory else {
            try remove(name)
            return
        }
        let descriptor = openat(number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw StorageError(.remove, path(of: name), errno) }
        let directory = try Directory(path: path(of: name), number: descriptor)
        try directory.namesToRemove().forAll { name throws(StorageError) in try directory.removeTree(name) }
        guard unlinkat(number, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
            throw StorageError(.remove, path(of: name), errno)
        }
    }

    /// All names but `.` and `..`, for who wants to remove what they stand for.
    ///
    /// What is called by bytes that are no text gets another name first: whoever made it, it has to go, too.
    func namesToRemove() throws(StorageError) -> [String] {
        var names: [String] = []
        var strangers: [[CChar]] = []
        try forEachName {
            names.append($0)
        } strange: {
            strangers.append(Array($0) + [0])
        }
        for stranger in strangers {
            let name = Temporaries.freshName()
            guard renameat(number, stranger, number, name) == 0 || errno == ENOENT else {
                let shown = stranger.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) }
                throw StorageError(.remove, path(of: shown), errno)
            }
            names.append(name)
        }
        return names
    }

    /// Calls `body` with every name but `.` and `..`, and `strange` with those that are no text.
    func forEachName(
        _ body: (String) -> Void,
        strange: (UnsafeBufferPointer<CChar>) -> Void = { _ in }
    ) throws(StorageError) {
        BlockingGuard.check()
        let listing = openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard listing >= 0 else { throw StorageError(.list, path, errno) }
        guard let stream = fdopendir(listing) else {
            let code = errno
            close(listing)
            throw StorageError(.list, path, code)
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { bytes in
                    guard let name = String(validatingCString: bytes) else {
                        return strange(UnsafeBufferPointer(start: bytes, count: strlen(bytes)))
                    }
                    if name != ".", name != ".." { body(name) }
                }
            }
        }
        guard errno == 0 else { throw StorageError(.list, path, errno) }
    }
}

/// What makes a file this file and no other.
struct FileIdentity: Hashable, Sendable {
    let device: dev_t
    let inode: ino_t

    init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }
}

extension [String] {
    /// Calls `body` with all of them, also after it failed, and throws its first error at the end.
    func forAll(_ body: (String) throws(StorageError) -> Void) throws(StorageError) {
        var first: StorageError?
        for element in self {
            do throws(StorageError) { try body(element) } catch { first = first ?? error }
        }
        if let first { throw first }
    }
}
