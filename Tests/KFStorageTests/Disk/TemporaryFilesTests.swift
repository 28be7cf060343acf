// Temporary files: leftovers of crashes, several processes at once, foreign files in their place.

import CKFLinux
import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct TemporaryFilesTests: StoreSuite {
    let rig: StoreRig
    let bytes = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    init() throws { rig = try StoreRig(isTimed: false) }

    /// The progress of a process with its file when it was killed.
    enum CrashPoint: CaseIterable {
        case opened, written, half, attributed, timed
    }

    /// Leaves behind the files of a process that was killed at `point` more than an hour ago.
    private func crash(at point: CrashPoint, in folder: String) throws {
        let number = open(folder + "/" + TemporaryFiles.prefix + "dead", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        try #require(number >= 0)
        let file = Descriptor(number)
        let past = Date.now - 3_700
        defer {
            _ = file.setTimes(access: past.entryTime, modification: (point == .timed ? .distantFuture : past).entryTime)
        }
        guard point != .opened else { return }
        let isWritten = file.write(point == .half ? bytes.prefix(7_000) : bytes)
        try #require(isWritten)
        guard point == .attributed || point == .timed else { return }
        file.attach(EntryMetadata(of: bytes, lifetime: .infinity, key: "key", userMetadata: [1]))
    }

    @Test("The next start removes the leftovers of a crash in the temporary folder", arguments: CrashPoint.allCases)
    func crashBesideDirectory(point: CrashPoint) throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        try crash(at: point, in: scratch(".cache.tmp"))
        try #require(temporaryFiles(of: store.path) == [".kf-dead"])
        try FileStore(path: scratch("cache")).prepare()
        #expect(temporaryFiles(of: store.path) == [])
        #expect(names(in: scratch("cache")) == ["a"])
    }

    @Test("The next scan removes the leftovers of a crash inside the directory", arguments: CrashPoint.allCases)
    func crashInsideDirectory(point: CrashPoint) throws {
        try Data("in the way".utf8).write(to: URL(fileURLWithPath: scratch(".cache.tmp")))
        try store.write(bytes, to: "a", expiration: .days(1))
        try crash(at: point, in: scratch("cache"))
        FileStore(path: scratch("cache")).startScan()
        #expect(names(in: scratch("cache")) == ["a"])
        #expect(names(in: scratch) == [".cache.tmp", "cache"])
    }

    /// By then the file in the way was removed, or the disk that was too full for the folder has space again.
    @Test("Leftovers inside the directory are removed even if there is a temporary folder by now")
    func leftoversInsideDirectory() throws {
        let obstacle = scratch(".cache.tmp")
        try Data("in the way".utf8).write(to: URL(fileURLWithPath: obstacle))
        try store.write(bytes, to: "a", expiration: .days(1))
        try crash(at: .written, in: scratch("cache"))
        try FileManager.default.removeItem(atPath: obstacle)
        let next = FileStore(path: scratch("cache"))
        try next.prepare()
        try next.write(bytes, to: "b", expiration: .days(1))
        next.startScan()
        #expect(names(in: scratch("cache")) == ["a", "b"])
        #expect(try next.totalSize() == 2 * bytes.count)
    }

    @Test("A temporary file that is not an hour old may still be written, and stays") func recentTemporaryFiles() throws
    {
        try store.write(bytes, to: "a", expiration: .days(1))
        try bytes.write(to: URL(fileURLWithPath: scratch(".cache.tmp/.kf-young")))
        try FileStore(path: scratch("cache")).prepare()
        try FileStore(path: scratch("cache")).write(bytes, to: "b", expiration: .days(1))
        #expect(temporaryFiles(of: store.path) == [".kf-young"])
    }

    private func names(in scratch: Scratch) -> [String] { KFStorageTests.names(in: scratch.path) }
    private func names(in path: String) -> [String] { KFStorageTests.names(in: path) }

    /// Every new store removes leftovers, as every new process does.
    @Test("A store that starts does not remove files that others are writing") func startDuringWrites() async throws {
        try store.prepare()
        let path = store.path
        let bytes = bytes
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<3 {
                group.addTask {
                    let store = FileStore(path: path)
                    for step in 0..<150 {
                        #expect(throws: Never.self) {
                            try store.write(bytes, to: "\(writer)-\(step % 5)", expiration: .days(1))
                        }
                    }
                }
            }
            group.addTask {
                for _ in 0..<600 {
                    #expect(throws: Never.self) { try FileStore(path: path).prepare() }
                }
            }
        }
        #expect(names(in: path).count == 15)
        #expect(temporaryFiles(of: path) == [])
    }

    @Test("A write that fails leaves no temporary file, and keeps the old entry") func failedWrite() throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        let directory = store.directory
        let failure = StorageError(.write, "a", EIO)
        #expect(throws: failure) {
            try TemporaryFiles.of(directory).put("a", in: directory, replacing: true) { _ throws(StorageError) in
                throw failure
            }
        }
        #expect(temporaryFiles(of: store.path) == [])
        #expect(try store.read("a")?.data == bytes)
    }

    // MARK: Foreign files at the folder's path

    @Test("A symbolic link at the temporary folder's path is not followed", arguments: [true, false])
    func linkAtFolderPath(leadsSomewhere: Bool) throws {
        let elsewhere = scratch("elsewhere")
        if leadsSomewhere {
            try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
            try Data("precious".utf8).write(to: URL(fileURLWithPath: elsewhere + "/.kf-precious"))
        }
        try #require(symlink(elsewhere, scratch(".cache.tmp")) == 0)
        try store.prepare()
        try store.write(bytes, to: "a", expiration: .days(1))
        try store.removeAll()
        try store.write(bytes, to: "a", expiration: .days(1))
        try FileStore(path: store.path).prepare()
        #expect(try store.read("a")?.data == bytes)
        #expect(names(in: scratch("cache")) == ["a"])
        #expect(names(in: elsewhere) == (leadsSomewhere ? [".kf-precious"] : []))
    }

    @Test("A named pipe at the temporary folder's path blocks no writer") func pipeAtFolderPath() throws {
        try #require(mkfifo(scratch(".cache.tmp"), 0o600) == 0)
        try store.prepare()
        try store.write(bytes, to: "a", expiration: .days(1))
        #expect(names(in: scratch("cache")) == ["a"])
    }

    /// The owner of the folder could exchange a file before it is renamed into place.
    @Test(
        "A temporary folder of another user is not used",
        .enabled(if: geteuid() == 0, "only root can make files of other users")
    )
    func folderOfAnotherUser() throws {
        try store.prepare()
        try FileManager.default.createDirectory(atPath: scratch(".cache.tmp"), withIntermediateDirectories: false)
        try #require(chown(scratch(".cache.tmp"), 65_534, 65_534) == 0 && chmod(scratch(".cache.tmp"), 0o777) == 0)
        #expect(try !TemporaryFiles.of(store.directory).isBeside)
        try store.write(bytes, to: "a", expiration: .days(1))
        #expect(names(in: scratch("cache")) == ["a"])
    }

    @Test(
        "The owner of a directory may have its temporary folder, too, where root writes to it",
        .enabled(if: geteuid() == 0, "only root can make files of other users")
    )
    func folderOfOwner() throws {
        try store.prepare()
        try FileManager.default.createDirectory(atPath: scratch(".cache.tmp"), withIntermediateDirectories: false)
        for name in ["cache", ".cache.tmp"] { try #require(chown(scratch(name), 65_534, 65_534) == 0) }
        #expect(try TemporaryFiles.of(store.directory).isBeside)
        try store.write(bytes, to: "a", expiration: .days(1))
        #expect(names(in: scratch("cache")) == ["a"])
    }

    @Test("Leftovers that are symbolic links are not followed") func leftoverLinks() throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        try Data("precious".utf8).write(to: URL(fileURLWithPath: scratch("precious")))
        try #require(symlink(scratch("precious"), scratch(".cache.tmp/.kf-link")) == 0)
        try FileStore(path: store.path).prepare()
        #expect(try String(contentsOfFile: scratch("precious"), encoding: .utf8) == "precious")
    }

    @Test(
        "A file that was written, but whose times could not be set, is removed",
        arguments: [true, false]
    )
    func unfinishedFile(isBeside: Bool) throws {
        if !isBeside { try Data("in the way".utf8).write(to: URL(fileURLWithPath: scratch(".cache.tmp"))) }
        let directory = store.directory
        try directory.make()
        let files = try TemporaryFiles.of(directory)
        #expect(files.isBeside == isBeside)
        let failure = StorageError(.setTimes, store.path, EIO)
        #expect(throws: failure) {
            try files.put("a", in: directory, replacing: true) { file throws(StorageError) in
                let isWritten = file.write(bytes)
                #expect(isWritten)
                throw failure
            }
        }
        #expect(names(in: scratch("cache")) == [] && temporaryFiles(of: store.path) == [])
    }

    // MARK: Names of directories

    /// The name of a folder beside it would be too long, so temporary files are inside the directory.
    @Test("A directory may have the longest possible name", arguments: [250, 251, 255])
    func longDirectoryNames(length: Int) throws {
        let name = String(repeating: "c", count: length)
        let store = FileStore(path: scratch(name))
        try store.write(bytes, to: "a", expiration: .days(1))
        if length > 250 { try crash(at: .half, in: scratch(name)) }
        let later = FileStore(path: scratch(name))
        later.startScan()
        #expect(try later.read("a")?.data.count == bytes.count)
        #expect(names(in: scratch(name)) == ["a"])
        #expect(names(in: scratch).count == (length > 250 ? 1 : 2))
    }
}
