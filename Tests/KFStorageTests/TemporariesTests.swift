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

    /// Leaves behind what a process does that dies at `point`.
    private func crash(at point: CrashPoint, in folder: String) throws {
        let number = open(folder + "/" + Temporaries.prefix + "dead", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        try #require(number >= 0)
        let file = Descriptor(number)
        // Not by closing the file: another test may be starting a child, which has a copy of it for a moment.
        defer { flock(number, LOCK_UN) }
        guard point != .opened else { return }
        let isLocked = flock(number, LOCK_EX | LOCK_NB) == 0
        let isWritten = file.write(point == .half ? bytes.prefix(7_000) : bytes)
        try #require(isLocked && isWritten)
        guard point == .attributed || point == .timed else { return }
        file.attach(EntryMetadata(of: bytes, lifetime: .never), attachment: [1], key: "key")
        guard point == .timed else { return }
        let isTimed = file.setTimes(access: Date.now.entryTime, modification: Date.distantFuture.entryTime)
        try #require(isTimed)
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
        try FileStore(path: scratch("cache")).prepare()
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

    @Test(.enabled(if: ProjectDisk.isPossible, "mounting takes root, making a file system its tools"))
    func aDirectoryIntoWhichNothingCanBeMovedHasItsTemporariesInside() throws {
        let disk = try ProjectDisk(in: scratch)
        let stores = (0..<2).map { _ in FileStore(path: disk.cache) }
        for (name, store) in zip(["a", "b"], stores) {
            try store.write(bytes, to: name, expiration: .days(1))
            store.startScan()
        }
        try stores[1].write(bytes, to: "a", expiration: .days(1))
        #expect(try stores[0].read("b")?.data == bytes)
        #expect(names(in: disk.cache) == ["a", "b"])
        #expect(temporaries(of: disk.cache) == [])
        for store in stores { #expect(try store.totalSize() == 2 * bytes.count) }
        #expect(try stores[0].remove("b"))
        #expect(try stores[1].removeExpired(at: .now + 90_000) == ["a"])
        #expect(names(in: disk.cache) == [])
        for store in stores { #expect(try store.totalSize() == 0) }
    }

    private func names(in scratch: Scratch) -> [String] { KFStorageTests.names(in: scratch.path) }
    private func names(in path: String) -> [String] { KFStorageTests.names(in: path) }

    /// Every new store looks for leftovers, as every new process does, and locks do not know whether two are in one process.
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

    @Test func nobodyGetsTheLockOfAFileThatIsBeingWritten() throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        let directory = try #require(try Directory.open(scratch("cache")))
        try Temporaries.of(directory).put("b", in: directory) { file, _ throws(StorageError) in
            // What a process does that starts now: it must not get the lock of a file that is being written.
            for name in temporaries(of: store.path) {
                let other = Glibc.open(scratch(".cache.tmp/" + name), O_RDONLY | O_CLOEXEC)
                #expect(other >= 0 && flock(other, LOCK_EX | LOCK_NB) != 0)
                close(other)
            }
            guard file.write(bytes) else { throw StorageError(.write, "b", errno) }
        }
        #expect(names(in: scratch("cache")) == ["a", "b"])
    }

    @Test func namesOfTemporariesAreNoTwiceTheSame() {
        let names = (0..<10_000).map { _ in Temporaries.freshName() }
        #expect(Set(names).count == names.count)
        #expect(
            names.allSatisfy { $0.hasPrefix(Temporaries.prefix) && FileNaming.isSafe("a" + $0) && $0.utf8.count == 15 }
        )
    }

    /// What can happen to a file between being made and being locked.
    @Test func aFileIsSafeOnceItIsLockedUnlessSomebodyHasTakenItForALeftover() throws {
        let path = scratch("file")
        func make() -> Descriptor { Descriptor(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)) }
        let undisturbed = Temporaries.secure(make()) != nil
        #expect(undisturbed)

        let removed = make()
        try #require(unlink(path) == 0)
        let isRemovedSafe = Temporaries.secure(removed) != nil
        #expect(!isRemovedSafe)

        let aboutToBeRemoved = make()
        let starting = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(starting) }
        try #require(flock(starting, LOCK_EX | LOCK_NB) == 0)
        let isThatSafe = Temporaries.secure(aboutToBeRemoved) != nil
        #expect(!isThatSafe)
    }

    @Test func aFailureWhileWritingLeavesNothing() throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        let directory = try #require(try Directory.open(scratch("cache")))
        let failure = StorageError(.write, "a", EIO)
        #expect(throws: failure) {
            try Temporaries.of(directory).put("a", in: directory) { _, _ throws(StorageError) in throw failure }
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
        let directory = try #require(try Directory.open(scratch("cache")))
        #expect(try Temporaries.of(directory).folder === directory)
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
        let directory = try Directory.create(scratch("cache"))
        let places = try Temporaries.of(directory)
        #expect(places.isBeside == isBeside)
        let failure = StorageError(.setTimes, store.path, EIO)
        #expect(throws: failure) {
            try places.put("a", in: directory) { file, _ throws(StorageError) in
                let isWritten = file.write(bytes)
                #expect(isWritten)
                throw failure
            }
        }
        #expect(names(in: scratch("cache")) == [] && temporaries(of: store.path) == [])
    }

    // MARK: What directories and folders are called

    @Test(arguments: ["cache.tmp", ".cache", "cache.tmp.tmp"])
    func aDirectoryCalledLikeAFolderHasNothingOfOthersInIt(name: String) throws {
        let other = FileStore(path: scratch(name))
        for store in [store, other] { try store.write(bytes, to: "a", expiration: .days(1)) }
        #expect(names(in: scratch("cache")) == ["a"] && names(in: scratch(name)) == ["a"])
        #expect(store.state.withLock { $0.temporaries?.isBeside } == true)
        #expect(other.state.withLock { $0.temporaries?.isBeside } == true)
        try other.removeAll()
        try FileStore(path: other.path).prepare()
        #expect(names(in: scratch("cache")) == ["a"])
        #expect(try store.read("a")?.data.count == bytes.count)
    }

    @Test(arguments: [".cache.tmp", ".cache.tmp/", ".cache.tmp.tmp", ".tmp"])
    func aDirectoryWhoseNameIsThatOfAFolderIsRefused(name: String) throws {
        try store.write(bytes, to: "a", expiration: .days(1))
        let before = names(in: scratch)
        let other = FileStore(path: scratch(name))
        let expected = StorageError(.useDirectory, other.path, EINVAL)
        #expect(throws: expected) { try other.prepare() }
        #expect(throws: expected) { try other.write(bytes, to: "a", expiration: .days(1)) }
        #expect(throws: expected) { try other.read("a") }
        #expect(throws: expected) { try other.removeAll() }
        #expect(!other.contains("a"))
        #expect(names(in: scratch) == before)
        #expect(expected.isAboutTheDirectory && "\(expected)".hasPrefix("could not use as a directory of entries"))
    }

    /// There is no room for the name of a folder beside it: files are written in the directory then.
    @Test func aNameMayBeginWithAnAccent() {
        #expect(FolderName.path(besideDirectoryAt: "/a/\u{301}x") == "/a/.\u{301}x.tmp")
        #expect(FolderName.isTaken(byDirectoryAt: "/a/.\u{301}x.tmp"))
        #expect(!FolderName.isTaken(byDirectoryAt: "/a/\u{301}.x.tmp"))
    }

    @Test(arguments: [250, 251, 255])
    func aDirectoryMayHaveTheLongestNames(length: Int) throws {
        let name = String(repeating: "c", count: length)
        let store = FileStore(path: scratch(name))
        try store.write(bytes, to: "a", expiration: .days(1))
        if length > 250 { try crash(at: .half, in: scratch(name)) }
        let later = FileStore(path: scratch(name))
        try later.prepare()
        #expect(try later.read("a")?.data.count == bytes.count)
        #expect(names(in: scratch(name)) == ["a"])
        #expect(names(in: scratch).count == (length > 250 ? 1 : 2))
    }
}
