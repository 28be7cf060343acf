// The file store with damaged, replaced and vanished files, links, full disks and impossible directories.

import CKFLinux
import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct FileStoreFaultTests: StoreSuite {
    let rig: StoreRig
    let bytes = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    init() throws { rig = try StoreRig(isTimed: false) }

    // MARK: Entries

    @Test(
        "An entry of another length than the one written is a miss and is removed",
        .needsAttributes,
        arguments: [0, 1, 19_999, 20_001, 50_000]
    )
    func wrongLength(length: Int) throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        try #require(truncate(scratch("cache/a"), off_t(length)) == 0)
        // Changing the length set the modification time, so that the entry has expired: it is set back.
        let times = [timespec(tv_sec: 4_000_000_000, tv_nsec: 0), timespec(tv_sec: 4_000_000_000, tv_nsec: 0)]
        try #require(utimensat(AT_FDCWD, scratch("cache/a"), times, 0) == 0)
        #expect(try store.read("a") == nil)
        #expect(names(in: scratch("cache")) == [])
    }

    @Test("A symbolic link at an entry's name is never followed") func linkAtEntryName() throws {
        try Data("secret".utf8).write(to: URL(fileURLWithPath: scratch("secret")))
        try store.prepare()
        try #require(symlink(scratch("secret"), scratch("cache/a")) == 0)
        #expect(throws: StorageError(.read, scratch("cache/a"), ELOOP)) { try store.read("a") }
        try store.write(bytes, to: "a", expiration: .days(1))
        #expect(try store.read("a")?.data == bytes)
        #expect(try String(contentsOfFile: scratch("secret"), encoding: .utf8) == "secret")
    }

    @Test("Cleaning does not follow symbolic links") func cleaningSkipsLinks() throws {
        try FileManager.default.createDirectory(atPath: scratch("precious"), withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(fileURLWithPath: scratch("precious/file")))
        try store.prepare()
        try #require(symlink(scratch("precious"), scratch("cache/link")) == 0)
        #expect(try store.totalSize() == 0)
        #expect(try store.removeExpired(at: .distantFuture) == [])
        try store.removeAll()
        #expect(names(in: scratch("cache")) == [])
        #expect(names(in: scratch("precious")) == ["file"])
    }

    @Test("Removing all removes foreign files too, and counts only the entries") func removeAllOfForeignFiles() throws {
        for name in ["a", "b"] { try store.write(bytes, to: name, expiration: .days(1)) }
        let files = FileManager.default
        try files.createDirectory(atPath: scratch("cache/folder/deep"), withIntermediateDirectories: true)
        for name in [".hidden", "folder/c", "folder/deep/d"] {
            try bytes.write(to: URL(fileURLWithPath: scratch("cache/\(name)")))
        }
        try #require(symlink(scratch("nowhere"), scratch("cache/link")) == 0)
        try store.removeAll()
        #expect(names(in: scratch("cache")) == [] && !files.fileExists(atPath: scratch("cache/.hidden")))
        #expect(store.counts.removed == 2)
        #expect(store.counts.failures == 0)
    }

    @Test("A file that cannot be removed does not stop the removal of the others") func removeAllAfterFailure() throws {
        try store.prepare()
        let files = FileManager.default
        for folder in ["cache/folder", "cache/folder/locked"] {
            try files.createDirectory(atPath: scratch(folder), withIntermediateDirectories: false)
        }
        for number in 0..<20 {
            for folder in ["", "folder/", "folder/locked/"] {
                try Data().write(to: URL(fileURLWithPath: scratch("cache/\(folder)\(number)")))
            }
        }
        for (folder, mode) in [("cache", 0o777), ("cache/folder", 0o777), ("cache/folder/locked", 0o555)] {
            try #require(chmod(scratch(folder), mode_t(mode)) == 0)
        }
        defer { chmod(scratch("cache/folder/locked"), 0o755) }
        #expect { try withoutPrivileges { try store.removeAll() } } throws: { error in
            (error as? StorageError)?.path.hasPrefix(scratch("cache/folder")) == true
        }
        #expect(names(in: scratch("cache")) == ["folder"])
    }

    /// Names are bytes on Linux; archives from other systems contain some that are not UTF-8.
    @Test("A file whose name is not UTF-8 is no entry, and is removed with the rest") func invalidUTF8Names() throws {
        try store.write(Data([1]), to: "a", expiration: .never)
        try #require(mkdir(scratch("cache/folder"), 0o755) == 0)
        for folder in ["cache/", "cache/folder/"] {
            for name in [[0x63, 0xE9], [0xFF]] as [[UInt8]] {
                let path = (Array(scratch(folder).utf8) + name + [0]).map { CChar(bitPattern: $0) }
                let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
                try #require(file >= 0)
                close(file)
            }
        }
        #expect(try store.entries().map(\.name) == ["a"])
        #expect(try FileStore(path: store.path).totalSize() == 1)
        try store.removeAll()
        #expect(names(in: scratch("cache")) == [])
        #expect(store.counts.removed == 1 && store.counts.failures == 0)
    }

    @Test("A dangling link counts by its own time and cannot be read") func danglingLink() throws {
        try store.prepare()
        try #require(symlink(scratch("nowhere"), scratch("cache/a")) == 0)
        #expect(store.contains("a", at: .distantPast))
        #expect(!store.contains("a"))
        #expect(throws: StorageError.self) { try store.read("a") }
    }

    @Test("A directory at an entry's name is an error when it is read or written") func directoryAtEntryName() throws {
        try store.prepare()
        try FileManager.default.createDirectory(atPath: scratch("cache/a"), withIntermediateDirectories: false)
        #expect(throws: StorageError(.read, scratch("cache/a"), EISDIR)) { try store.read("a") }
        #expect(!store.contains("a"))
        #expect(throws: StorageError(.write, scratch("cache/a"), EISDIR)) {
            try store.write(bytes, to: "a", expiration: .days(1))
        }
        #expect(try store.totalSize() == 0)
        #expect(temporaryFiles(of: scratch("cache")) == [])
    }

    @Test("A named pipe at an entry's name does not block the reader", .timeLimit(.minutes(5)))
    func pipeAtEntryName() throws {
        try store.prepare()
        try #require(mkfifo(scratch("cache/a"), 0o600) == 0)
        #expect(throws: StorageError.self) { try store.read("a") }
    }

    // MARK: The directory

    @Test("A write makes the directory and the temporary folder again after they were removed")
    func removedDirectories() throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        try FileManager.default.removeItem(atPath: scratch(".cache.tmp"))
        try store.write(bytes, to: "b", expiration: .days(1))
        for name in ["cache", ".cache.tmp"] { try FileManager.default.removeItem(atPath: scratch(name)) }
        try store.write(bytes, to: "c", expiration: .days(1))
        #expect(names(in: scratch("cache")) == ["c"])
    }

    @Test("A store uses the directory that is at its path now, not the one that was moved away")
    func replacedDirectory() throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        try FileManager.default.moveItem(atPath: scratch("cache"), toPath: scratch("moved"))
        let other = FileStore(path: scratch("cache"))
        try other.write(bytes, to: "b", expiration: .days(1))
        #expect(try store.read("b")?.data == bytes)
        #expect(try store.read("a") == nil)
        try store.write(bytes, to: "c", expiration: .days(1))
        #expect(names(in: scratch("cache")) == ["b", "c"])
        #expect(names(in: scratch("moved")) == ["a"])
    }

    @Test("A file at the directory's path is an error until it is removed") func fileAtDirectoryPath() throws {
        try Data("x".utf8).write(to: URL(fileURLWithPath: scratch("cache")))
        let expected = StorageError(.createDirectory, scratch("cache"), ENOTDIR)
        #expect(throws: expected) { try store.prepare() }
        #expect(throws: expected) { try store.write(bytes, to: "a", expiration: .days(1)) }
        #expect(throws: StorageError(.openDirectory, scratch("cache"), ENOTDIR)) { try store.totalSize() }
        #expect(try store.read("a") == nil)
        #expect(!store.contains("a"))
        #expect(expected.isAboutTheDirectory)
        #expect(expected.description == "could not create directory \(scratch("cache")): Not a directory")

        try FileManager.default.removeItem(atPath: scratch("cache"))
        try store.write(bytes, to: "a", expiration: .days(1))
        #expect(store.contains("a"))
    }

    @Test(
        "A directory that cannot be made is an error, even for root",
        arguments: ["/proc/kingfisher/cache", "/proc/self/kingfisher"]
    )
    func impossibleDirectory(path: String) throws {
        let store = FileStore(path: path)
        #expect { try store.write(bytes, to: "a", expiration: .days(1)) } throws: { error in
            (error as? StorageError)?.isAboutTheDirectory == true
        }
        #expect(try store.read("a") == nil)
    }

    // MARK: Writing

    @Test(
        "A write to a full disk is an error and leaves the old entry",
        .enabled(if: SmallFileSystem.isPossible, "mounting a file system takes root")
    )
    func fullDisk() throws {
        let disk = try SmallFileSystem(at: scratch("disk"), kilobytes: 256)
        let store = FileStore(path: disk.path + "/cache")
        try store.write(bytes, to: "a", expiration: .days(1))
        #expect(throws: StorageError(.write, store.path + "/a", ENOSPC)) {
            try store.write(Data(count: 1_000_000), to: "a", expiration: .days(1))
        }
        #expect(try store.read("a")?.data == bytes)
        #expect(names(in: store.path) == ["a"])
        #expect(temporaryFiles(of: store.path) == [])
        try store.write(bytes, to: "b", expiration: .days(1))
    }

    @Test(
        "A directory that is a mount point has its temporary files inside",
        .enabled(if: SmallFileSystem.isPossible, "mounting a file system takes root")
    )
    func mountPoint() throws {
        let disk = try SmallFileSystem(at: scratch("disk"), kilobytes: 256)
        let store = FileStore(path: disk.path)
        try store.write(bytes, to: "a", expiration: .days(1))
        #expect(try store.read("a")?.data == bytes)
        #expect(names(in: disk.path) == ["a"])
    }

    /// Readers, writers and trims at the same time.
    @Test("A reader sees a whole entry or none while others write, remove and trim") func noTornReads() async throws {
        let store = store
        let versions = (1...4).map { Data(repeating: UInt8($0), count: $0 * 10_000) }
        try store.prepare()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    for step in 0..<200 {
                        let name = "\((step + thread) % 3)"
                        switch (step + thread) % 5 {
                        case 0, 1: try store.write(versions[step % 4], to: name, expiration: .days(1))
                        case 2: try store.remove(name)
                        case 3: try store.trim(above: 60_000, to: 30_000)
                        default:
                            guard let entry = try store.read(name) else { continue }
                            #expect(versions.contains(entry.data))
                            try store.touch(entry, extending: .cacheTime)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(temporaryFiles(of: scratch("cache")) == [])
    }

    @Test("A relative path is resolved when the store is made") func relativePath() async throws {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            for name in ["here", "there"] { try #require(mkdir(scratch(name), 0o755) == 0) }
            try #require(chdir(scratch("here")) == 0)
            let store = FileStore(path: "cache")
            try store.write(Data("a".utf8), to: "a", expiration: .days(1))
            try #require(chdir(scratch("there")) == 0)
            try #require(store.contains("a"))
            try store.write(Data("b".utf8), to: "b", expiration: .days(1))
            try #require(try store.read("a") != nil)
            try #require(names(in: scratch("there")) == [] && names(in: scratch("here/cache")) == ["a", "b"])
        }
    }

    /// The system would end the path at the zero byte: at the directory of another cache.
    @Test("A path that contains a zero byte is refused") func pathWithNul() throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        let other = FileStore(path: scratch("cache\0other"))
        #expect(throws: StorageError(.createDirectory, other.path, EINVAL)) { try other.prepare() }
        #expect(try other.read("a") == nil)
        #expect(throws: StorageError(.openDirectory, other.path, EINVAL)) { try other.removeAll() }
        #expect(names(in: scratch("cache")) == ["a"])
    }
}
