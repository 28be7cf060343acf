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

    @Test func permissionThatIsLostIsAnErrorAndComesBack() throws {
        try setMode(0)
        defer { try? setMode(0o755) }
        withoutPrivileges {
            #expect(throws: StorageError(.read, store.path + "/a", EACCES)) { try store.read("a") }
            #expect(throws: StorageError.self) { try store.write(bytes, to: "b", expiration: .days(1)) }
            #expect(throws: StorageError(.remove, store.path + "/a", EACCES)) { try store.remove("a") }
            #expect(throws: StorageError.self) { try store.attachment(of: "a") }
            #expect(!store.contains("a"))
        }
        try setMode(0o755)
        #expect(try store.read("a")?.data == bytes)
        try store.write(bytes, to: "b", expiration: .days(1))
        #expect(names(in: scratch("cache")) == ["a", "b"])
        #expect(temporaries(of: store.path) == [])
    }

    @Test(arguments: [false, true])
    func whatCouldNotBeLookedAtIsNotTakenForMissing(duringTheFirstScan: Bool) throws {
        if !duringTheFirstScan { store.startScan() }
        let scan = store.state.withLock { duringTheFirstScan ? $0.account.beginScan() : nil }
        try setMode(0)
        defer { try? setMode(0o755) }
        withoutPrivileges {
            _ = #expect(throws: StorageError.self) { try store.remove("a") }
        }
        try setMode(0o755)
        if let scan {
            let found = try store.walk()
            _ = store.state.withLock { $0.endScan(scan, found, news: $0.link.news, stamp: nil) }
        }
        #expect(store.contains("a"))
        store.startScan()
        #expect(store.contains("a"))
        #expect(try store.totalSize() == bytes.count)
    }

    @Test func aListingDuringWhichPermissionIsLostIsNoListing() throws {
        for number in 0..<10 { try store.write(bytes, to: "\(number)", expiration: .days(1)) }
        let directory = try #require(try Directory.open(store.path))
        defer { try? setMode(0o755) }
        // Only who owns it may take the permission away.
        if geteuid() == 0 { try #require(chown(store.path, 65_534, 65_534) == 0) }
        withoutPrivileges {
            _ = #expect(throws: StorageError(.list, store.path, EACCES)) {
                try directory.forEachFile { _, _ in chmod(store.path, 0) }
            }
        }
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
                try store.touch("a", entry, extending: .cacheTime)
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
            try store.touch("a", entry, extending: .cacheTime)
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

    /// The system would end the process, on whose threads the signal is not held.
    @Test func aProcessThatMayHardlyWriteHasNoLedger() async throws {
        await #expect(processExitsWith: .success) {
            var (limit, none) = (rlimit(rlim_cur: 100, rlim_max: 100), sigset_t())
            sigemptyset(&none)
            try #require(pthread_sigmask(SIG_SETMASK, &none, nil) == 0)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let scratch = try Scratch()
            let store = FileStore(path: scratch("cache"))
            try store.write(Data(count: 20), to: "a", expiration: .days(1))
            store.startScan()
            try #require(try store.read("a") != nil && store.totalSize() == 20)
        }
    }
}
