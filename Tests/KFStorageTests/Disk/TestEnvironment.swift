// The environment that tests of failures need: a small disk, a user without privileges.

import CKFLinux
import Foundation
import Glibc
import Testing

@testable import KFStorage

/// A small file system in memory, for users that may mount one.
final class SmallFileSystem {
    let path: String

    static let isPossible: Bool = {
        guard geteuid() == 0, let scratch = try? Scratch() else { return false }
        return (try? SmallFileSystem(at: scratch("probe"), kilobytes: 64)) != nil
    }()

    /// Such a file system supports extended attributes since Linux 6.6.
    static let knowsAttributes: Bool = {
        guard isPossible, let scratch = try? Scratch(),
            let disk = try? SmallFileSystem(at: scratch("probe"), kilobytes: 64)
        else { return false }
        return setxattr(disk.path, "user.probe", "x", 1, 0) == 0
    }()

    init(at path: String, kilobytes: Int, files: Int = 0) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k,nr_inodes=\(files)") == 0 else {
            throw StorageError(.createDirectory, path, errno)
        }
    }

    /// Makes it readable only, or writable again.
    func setReadOnly(_ isReadOnly: Bool) throws {
        try retryingWhileBusy(path) {
            mount(nil, path, nil, UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0), nil)
        }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }
}

/// Tries a system call again while the file system is busy: another test may be starting a child process, which has
/// copies of open files for a moment.
private func retryingWhileBusy(_ path: String, _ call: () -> Int32) throws {
    for _ in 0..<100_000 {
        if call() == 0 { return }
        guard errno == EBUSY else { break }
        usleep(100)
    }
    throw StorageError(.createDirectory, path, errno)
}

/// Runs `body` as a user without access to the files of other users.
///
/// Root may do everything, whatever the permissions say; so for the time of `body`, and on this thread only, root
/// accesses files as the user `nobody`. For other users nothing changes.
func withoutPrivileges<Result>(_ body: () throws -> Result) rethrows -> Result {
    typealias SetUser = @convention(c) (uid_t) -> CInt
    guard geteuid() == 0, let symbol = dlsym(nil, "setfsuid") else { return try body() }
    // SAFETY: this is the type `sys/fsuid.h` declares; Swift's Glibc module leaves it out.
    let setUser = unsafeBitCast(symbol, to: SetUser.self)
    _ = setUser(65_534)
    defer { _ = setUser(0) }
    return try body()
}

extension Trait where Self == ConditionTrait {
    /// A trait for tests that need extended attributes.
    static var needsAttributes: Self { .enabled(if: knowsAttributes, "the file system knows no extended attributes") }
}

/// Whether files in the temporary directory can have extended attributes.
private let knowsAttributes: Bool = {
    guard let scratch = try? Scratch(), setxattr(scratch.path, "user.probe", "x", 1, 0) == 0 else { return false }
    return true
}()
