// The file store where it may not, or can not: forbidden places, full and write-protected disks, limits.

import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct PermissionTests {
    let scratch: Scratch
    let store: FileStore
    let bytes = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    init() throws {
        scratch = try Scratch()
        store = FileStore(path: scratch("cache"))
        try store.write(bytes, to: "a", expiration: .days(1))
    }

    private func setMode(_ mode: mode_t) throws {
        for name in ["cache", ".cache.tmp"] { try #require(chmod(scratch(name), mode) == 0) }
    }

    @Test func fromADirectoryThatIsReadOnlyEntriesAreReadAndNothingIsWritten() throws {
        try setMode(0o555)
        defer { try? setMode(0o755) }
        try withoutPrivileges {
            let store = FileStore(path: store.path)
            try store.prepare()
            let entry = try #require(try store.read("a"))
            #expect(entry.data == bytes)
            // What is named is the entry, not the file that was to become it.
            for name in ["a", "b"] {
                #expect(throws: StorageError(.write, store.path + "/\(name)", EACCES)) {
                    try store.write(bytes, to: name, expiration: .days(1))
                }
            }
            #expect(throws: StorageError(.remove, store.path + "/a", EACCES)) { try store.remove("a") }
            #expect(store.contains("a") && !store.contains("b"))
        }
        #expect(names(in: scratch("cache")) == ["a"])
        #expect(temporaries(of: store.path) == [])
    }

    @Test func permissionThatIsLostIsAMissAndComesBack() throws {
        try setMode(0)
        defer { try? setMode(0o755) }
        withoutPrivileges {
            #expect(throws: Never.self) { try #require(try store.read("a") == nil && store.attachment(of: "a") == nil) }
            #expect(throws: StorageError.self) { try store.write(bytes, to: "b", expiration: .days(1)) }
            #expect(throws: StorageError(.remove, store.path + "/a", EACCES)) { try store.remove("a") }
            #expect(!store.contains("a"))
        }
        try setMode(0o755)
        #expect(try store.read("a")?.data == bytes)
        try store.write(bytes, to: "b", expiration: .days(1))
        #expect(names(in: scratch("cache")) == ["a", "b"])
        #expect(temporaries(of: store.path) == [])
    }

    @Test func anEntryThatMayNotBeReadIsAnErrorAndIsNotRemoved() throws {
        try #require(chmod(scratch("cache/a"), 0) == 0)
        withoutPrivileges {
            _ = #expect(throws: StorageError(.read, store.path + "/a", EACCES)) { try store.read("a") }
        }
        #expect(names(in: scratch("cache")) == ["a"])
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make what belongs to others"))
    func anEntryOfSomebodyElseIsReadButNotProlonged() throws {
        try withoutPrivileges {
            let entry = try #require(try store.read("a"))
            #expect(entry.data == bytes)
            #expect(throws: StorageError(.setTimes, store.path + "/a", EPERM)) {
                try store.touch(entry, extending: .cacheTime)
            }
            #expect(throws: StorageError.self) { try store.setAttachment([1], of: "a") }
        }
        #expect(try store.attachment(of: "a") == nil)
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "mounting a file system takes root"))
    func aDiskThatBecomesWriteProtectedIsReadFrom() throws {
        let disk = try SmallFileSystem(at: scratch("disk"), kilobytes: 256)
        // Another store, for one that has written holds a file open, and such a disk does not change.
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

    @Test(.enabled(if: SmallFileSystem.knowsAttributes, "mounting takes root, attributes in memory take Linux 6.6"))
    func aDamagedEntryThatCannotBeRemovedIsAMissAllTheSame() throws {
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

    /// The first write that does not fit, whatever it is that does not: bytes, the file, what lies beside it.
    @Test(.enabled(if: SmallFileSystem.isPossible, "mounting a file system takes root"), arguments: [0, 3_000, 20_000])
    func aDiskThatFillsUpKeepsWhatItHas(size: Int) throws {
        let disk = try SmallFileSystem(at: scratch("disk"), kilobytes: 128, files: 100)
        let store = FileStore(path: disk.path + "/cache")
        let bytes = bytes.prefix(size)
        var stored: [String] = []
        #expect {
            while stored.count < 1_000 {
                try store.write(bytes, to: "\(stored.count)", key: "key", expiration: .days(1), attachment: [1])
                stored.append("\(stored.count)")
            }
        } throws: { error in
            (error as? StorageError)?.code == ENOSPC
        }
        #expect(names(in: store.path) == stored.sorted())
        #expect(temporaries(of: store.path) == [])
        for name in stored { #expect(try store.read(name)?.data == bytes) }
        try store.remove("0")
        try store.write(bytes, to: "again", expiration: .days(1))
        #expect(try store.read("again")?.data == bytes)
    }

    /// The system would end the process.
    @Test func moreThanTheProcessMayWriteIsAnError() throws {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        try #require(getrlimit(resource, &limit) == 0)
        // So much that no other test notices: one makes a file of a terabyte, and would be ended by the same signal.
        let size = 1 << 42
        // Nobody looks at the bytes, so there need be none.
        let nowhere = try #require(UnsafeMutableRawPointer(bitPattern: 1 << 12))
        var lower = limit
        lower.rlim_cur = rlim_t(size - 1)
        try #require(limit.rlim_cur > lower.rlim_cur && setrlimit(resource, &lower) == 0)
        defer { setrlimit(resource, &limit) }
        #expect(throws: StorageError(.write, store.path + "/a", EFBIG)) {
            try store.write(Data(bytesNoCopy: nowhere, count: size, deallocator: .none), to: "a", expiration: .days(1))
        }
        #expect(try store.read("a")?.data == bytes)
    }

    @Test func aFolderBesideThatIsForbiddenKeepsNobodyFromWriting() throws {
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
        "For an ordinary user a look-up in a directory closed to them is a miss, also of a store made before",
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
                    try #require(store.attachment(of: name) == nil)
                    try #require(throws: StorageError(.write, scratch("cache/\(name)"), EACCES)) {
                        try store.write(bytes, to: name, expiration: .days(1))
                    }
                }
            }
            try #require(throws: StorageError(.openDirectory, scratch("cache"), EACCES)) {
                try FileStore(path: scratch("cache")).totalSize()
            }
            // The entry itself closed: that is known to be there.
            try #require(chmod(scratch("cache"), 0o755) == 0 && chmod(scratch("cache/a"), 0) == 0)
            try #require(throws: StorageError(.read, scratch("cache/a"), EACCES)) { try store.read("a") }
            try #require(store.contains("a") && chmod(scratch("cache/a"), 0o644) == 0)
            try #require(try store.read("a")?.data == bytes && temporaries(of: store.path) == [])
        }
    }
}
