// Files that are being written: what crashes leave, what several processes do to each other, what others plant.

import CKFLinux
import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct TemporariesTests {
    let scratch: Scratch
    let store: FileStore
    let bytes = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    init() throws {
        scratch = try Scratch()
        store = FileStore(path: scratch("cache"))
    }

    /// How far a process had come with its file when it died.
    enum CrashPoint: CaseIterable {
        case opened, written, half, attributed, timed
    }

    /// Leaves behind what a process did that was killed at `point` more than an hour ago.
    private func crash(at point: CrashPoint, in folder: String) throws {
        let number = open(folder + "/" + Temporaries.prefix + "dead", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
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
        file.attach(EntryMetadata(of: bytes, lifetime: .infinity), attachment: [1], key: "key")
    }

    @Test(arguments: CrashPoint.allCases)
    func nothingRemainsOfACrashAfterTheNextStart(point: CrashPoint) throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        try crash(at: point, in: scratch(".cache.tmp"))
        try #require(temporaries(of: store.path) == [".kf-dead"])
        try FileStore(path: scratch("cache")).prepare()
        #expect(temporaries(of: store.path) == [])
        #expect(names(in: scratch("cache")) == ["a"])
    }

    @Test(arguments: CrashPoint.allCases)
    func nothingRemainsOfACrashInsideTheDirectoryEither(point: CrashPoint) throws {
        try Data("in the way".utf8).write(to: URL(fileURLWithPath: scratch(".cache.tmp")))
        try store.write(bytes, to: "a", expiration: .days(1))
        try crash(at: point, in: scratch("cache"))
        FileStore(path: scratch("cache")).startScan()
        #expect(names(in: scratch("cache")) == ["a"])
        #expect(names(in: scratch) == [".cache.tmp", "cache"])
    }

    /// What was in the way is gone by then, or the disk was full when the folder was to be made.
    @Test func whatWasLeftInsideGoesAlsoWhenThereIsAFolderBesideByNow() throws {
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

    @Test("What is not an hour old may be written still, and stays") func youngTemporaries() throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        try bytes.write(to: URL(fileURLWithPath: scratch(".cache.tmp/.kf-young")))
        try FileStore(path: scratch("cache")).prepare()
        try FileStore(path: scratch("cache")).write(bytes, to: "b", expiration: .days(1))
        #expect(temporaries(of: store.path) == [".kf-young"])
    }

    private func names(in scratch: Scratch) -> [String] { KFStorageTests.names(in: scratch.path) }
    private func names(in path: String) -> [String] { KFStorageTests.names(in: path) }

    /// Every new store looks for leftovers, as every new process does.
    @Test func whoStartsDoesNotRemoveWhatOthersWrite() async throws {
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
        #expect(temporaries(of: path) == [])
    }

    @Test func namesOfTemporariesAreNoTwiceTheSame() {
        let names = (0..<10_000).map { _ in Temporaries.freshName() }
        #expect(Set(names).count == names.count)
        #expect(
            names.allSatisfy { $0.hasPrefix(Temporaries.prefix) && FileNaming.isSafe("a" + $0) }
        )
    }

    @Test func aFailureWhileWritingLeavesNothing() throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        let directory = store.directory
        let failure = StorageError(.write, "a", EIO)
        #expect(throws: failure) {
            try Temporaries.of(directory).put("a", in: directory, replacing: true) { _ throws(StorageError) in
                throw failure
            }
        }
        #expect(temporaries(of: store.path) == [])
        #expect(try store.read("a")?.data == bytes)
    }

    // MARK: What others plant in the place of the folder

    @Test(arguments: [true, false])
    func aLinkInThePlaceOfTheFolderIsNotFollowed(leadsSomewhere: Bool) throws {
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

    @Test func aPipeInThePlaceOfTheFolderHoldsNobody() throws {
        try #require(mkfifo(scratch(".cache.tmp"), 0o600) == 0)
        try store.prepare()
        try store.write(bytes, to: "a", expiration: .days(1))
        #expect(names(in: scratch("cache")) == ["a"])
    }

    /// Whoever owns the folder could exchange a file before it gets its name.
    @Test(.enabled(if: geteuid() == 0, "only root can make what belongs to others"))
    func aFolderOfSomebodyElseIsNotUsed() throws {
        try store.prepare()
        try FileManager.default.createDirectory(atPath: scratch(".cache.tmp"), withIntermediateDirectories: false)
        try #require(chown(scratch(".cache.tmp"), 65_534, 65_534) == 0 && chmod(scratch(".cache.tmp"), 0o777) == 0)
        #expect(try !Temporaries.of(store.directory).isBeside)
        try store.write(bytes, to: "a", expiration: .days(1))
        #expect(names(in: scratch("cache")) == ["a"])
    }

    @Test func leftoversThatAreLinksArePassedOver() throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        try Data("precious".utf8).write(to: URL(fileURLWithPath: scratch("precious")))
        try #require(symlink(scratch("precious"), scratch(".cache.tmp/.kf-link")) == 0)
        try FileStore(path: store.path).prepare()
        #expect(try String(contentsOfFile: scratch("precious"), encoding: .utf8) == "precious")
    }

    @Test(
        "DSK-13: of a file that was written and whose times could not be set nothing remains",
        arguments: [true, false]
    )
    func ofAFileThatCouldNotBeFinishedNothingRemains(isBeside: Bool) throws {
        if !isBeside { try Data("in the way".utf8).write(to: URL(fileURLWithPath: scratch(".cache.tmp"))) }
        let directory = store.directory
        try directory.make()
        let places = try Temporaries.of(directory)
        #expect(places.isBeside == isBeside)
        let failure = StorageError(.setTimes, store.path, EIO)
        #expect(throws: failure) {
            try places.put("a", in: directory, replacing: true) { file throws(StorageError) in
                let isWritten = file.write(bytes)
                #expect(isWritten)
                throw failure
            }
        }
        #expect(names(in: scratch("cache")) == [] && temporaries(of: store.path) == [])
    }

    // MARK: What directories and folders are called

    /// There is no room for the name of a folder beside it: files are written in the directory then.
    @Test(arguments: [250, 251, 255])
    func aDirectoryMayHaveTheLongestNames(length: Int) throws {
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
