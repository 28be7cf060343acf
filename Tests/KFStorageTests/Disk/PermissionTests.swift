// The file store without permission: closed directories, full and write-protected disks, limits of the process.

import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct PermissionTests: StoreSuite {
    let rig: StoreRig
    let bytes = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    init() throws {
        rig = try StoreRig(isTimed: false)
        try store.write(bytes, to: "a", expiration: .days(1))
    }

    private func setMode(_ mode: mode_t) throws {
        for name in ["cache", ".cache.tmp"] { try #require(chmod(scratch(name), mode) == 0) }
    }

    @Test("In a read-only directory entries are read, and nothing is written") func readOnlyDirectory() throws {
        try setMode(0o555)
        defer { try? setMode(0o755) }
        try withoutPrivileges {
            let store = FileStore(path: store.path)
            try store.prepare()
            let entry = try #require(try store.read("a"))
            #expect(entry.data == bytes)
            // The error names the entry, not the temporary file.
            for name in ["a", "b"] {
                #expect(throws: StorageError(.write, store.path + "/\(name)", EACCES)) {
                    try store.write(bytes, to: name, expiration: .days(1))
                }
            }
            #expect(throws: StorageError(.remove, store.path + "/a", EACCES)) { try store.remove("a") }
            #expect(store.contains("a") && !store.contains("b"))
        }
        #expect(names(in: scratch("cache")) == ["a"])
        #expect(temporaryFiles(of: store.path) == [])
    }

    @Test("In a directory closed to this user every look-up is a miss, until it is opened again") func lostPermission()
        throws
    {
        try setMode(0)
        defer { try? setMode(0o755) }
        withoutPrivileges {
            #expect(throws: Never.self) {
                try #require(try store.read("a") == nil && store.userMetadata(of: "a") == nil)
            }
            #expect(throws: StorageError.self) { try store.write(bytes, to: "b", expiration: .days(1)) }
            #expect(throws: StorageError(.remove, store.path + "/a", EACCES)) { try store.remove("a") }
            #expect(!store.contains("a"))
        }
        try setMode(0o755)
        #expect(try store.read("a")?.data == bytes)
        try store.write(bytes, to: "b", expiration: .days(1))
        #expect(names(in: scratch("cache")) == ["a", "b"])
        #expect(temporaryFiles(of: store.path) == [])
    }

    @Test("An entry that may not be read is an error, and is not removed") func unreadableEntry() throws {
        try #require(chmod(scratch("cache/a"), 0) == 0)
        withoutPrivileges {
            _ = #expect(throws: StorageError(.read, store.path + "/a", EACCES)) { try store.read("a") }
        }
        #expect(names(in: scratch("cache")) == ["a"])
    }

    @Test(
        "An entry of another user is read, but its life cannot be extended",
        .enabled(if: geteuid() == 0, "only root can make files of other users")
    )
    func entryOfAnotherUser() throws {
        try withoutPrivileges {
            let entry = try #require(try store.read("a"))
            #expect(entry.data == bytes)
            #expect(throws: StorageError(.setTimes, store.path + "/a", EPERM)) {
                try store.touch(entry, extending: .cacheTime)
            }
            #expect(throws: StorageError.self) { try store.setUserMetadata([1], of: "a") }
        }
        #expect(try store.userMetadata(of: "a") == nil)
    }

    @Test(
        "Entries are read from a disk that becomes write-protected",
        .enabled(if: SmallFileSystem.isPossible, "mounting a file system takes root")
    )
    func readOnlyDisk() throws {
        let disk = try SmallFileSystem(at: scratch("disk"), kilobytes: 256)
        // Another store, since one that has written holds a file open, and such a disk cannot be remounted.
        try FileStore(path: disk.path + "/cache").write(bytes, to: "a", expiration: .days(1))
        try disk.setReadOnly(true)
        let store = FileStore(path: disk.path + "/cache")
        let entry = try #require(try store.read("a"))
        #expect(entry.data == bytes)
        #expect(throws: StorageError.self) { try store.write(bytes, to: "b", expiration: .days(1)) }
        #expect(throws: StorageError(.setTimes, store.path + "/a", EROFS)) {
            try store.touch(entry, extending: .cacheTime)
        }
        #expect(throws: StorageError(.remove, store.path + "/a", EROFS)) { try store.remove("a") }
        #expect(throws: StorageError.self) { try FileStore(path: disk.path + "/other").prepare() }
        try FileStore(path: store.path).prepare()
        try disk.setReadOnly(false)
        try store.write(bytes, to: "b", expiration: .days(1))
        #expect(names(in: store.path) == ["a", "b"])
    }

    @Test(
        "A damaged entry is a miss, even if it cannot be removed",
        .enabled(if: SmallFileSystem.knowsAttributes, "mounting takes root, attributes in memory take Linux 6.6")
    )
    func damagedOnReadOnlyDisk() throws {
        let disk = try SmallFileSystem(at: scratch("disk"), kilobytes: 256)
        try FileStore(path: disk.path + "/cache").write(bytes, to: "a", expiration: .never)
        let store = FileStore(path: disk.path + "/cache")
        let file = open(store.path + "/a", O_WRONLY | O_CLOEXEC)
        try #require(file >= 0 && pwrite(file, "x", 1, 700) == 1)
        let times = [Date.now.entryTime, Date.distantFuture.entryTime]
        try #require(futimens(file, times) == 0)
        close(file)
        try disk.setReadOnly(true)
        #expect(try store.read("a") == nil)
        try disk.setReadOnly(false)
        #expect(try store.read("a") == nil)
        #expect(names(in: store.path) == [])
    }

    /// The first write that does not fit: its bytes, its inode or its attributes.
    @Test(
        "A disk that fills up keeps the entries it has",
        .enabled(if: SmallFileSystem.isPossible, "mounting a file system takes root"),
        arguments: [0, 3_000, 20_000]
    )
    func diskFillsUp(size: Int) throws {
        let disk = try SmallFileSystem(at: scratch("disk"), kilobytes: 128, files: 100)
        let store = FileStore(path: disk.path + "/cache")
        let bytes = bytes.prefix(size)
        var stored: [String] = []
        #expect {
            while stored.count < 1_000 {
                try store.write(bytes, to: "\(stored.count)", key: "key", expiration: .days(1), userMetadata: [1])
                stored.append("\(stored.count)")
            }
        } throws: { error in
            (error as? StorageError)?.code == ENOSPC
        }
        #expect(names(in: store.path) == stored.sorted())
        #expect(temporaryFiles(of: store.path) == [])
        for name in stored { #expect(try store.read(name)?.data == bytes) }
        try store.remove("0")
        try store.write(bytes, to: "again", expiration: .days(1))
        #expect(try store.read("again")?.data == bytes)
    }

    @Test("Entries are written even if the temporary folder is closed to this user") func forbiddenTemporaryFolder()
        throws
    {
        try #require(chmod(scratch("cache"), 0o777) == 0 && chmod(scratch(".cache.tmp"), 0) == 0)
        defer { chmod(scratch(".cache.tmp"), 0o755) }
        try withoutPrivileges {
            try store.write(bytes, to: "b", expiration: .days(1))
            #expect(try store.read("b")?.data == bytes)
            #expect(try store.remove("a"))
        }
        #expect(names(in: scratch("cache")) == ["b"])
    }

    @Test(
        "For an ordinary user a look-up in a closed directory is a miss, also of a store made before",
        .enabled(if: geteuid() == 0, "only root can become another user")
    )
    func ordinaryUser() async throws {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            let bytes = Data(count: 100)
            try #require(chown(scratch.path, 65_534, 65_534) == 0 && setgid(65_534) == 0 && setuid(65_534) == 0)
            let store = FileStore(path: scratch("cache"))
            try store.write(bytes, to: "a", expiration: .days(1))
            store.startScan()
            try #require(chmod(scratch("cache"), 0) == 0 && open(scratch("cache/a"), O_RDONLY) < 0)
            for store in [store, FileStore(path: scratch("cache"))] {
                try store.prepare()
                for name in ["a", "b"] {
                    try #require(try store.read(name) == nil && !store.contains(name))
                    try #require(store.userMetadata(of: name) == nil)
                    try #require(throws: StorageError(.write, scratch("cache/\(name)"), EACCES)) {
                        try store.write(bytes, to: name, expiration: .days(1))
                    }
                }
            }
            try #require(throws: StorageError(.openDirectory, scratch("cache"), EACCES)) {
                try FileStore(path: scratch("cache")).totalSize()
            }
            // With the entry itself closed, its existence is known.
            try #require(chmod(scratch("cache"), 0o755) == 0 && chmod(scratch("cache/a"), 0) == 0)
            try #require(throws: StorageError(.read, scratch("cache/a"), EACCES)) { try store.read("a") }
            try #require(store.contains("a") && chmod(scratch("cache/a"), 0o644) == 0)
            try #require(try store.read("a")?.data == bytes && temporaryFiles(of: store.path) == [])
        }
    }
}
