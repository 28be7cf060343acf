// The ledger: one for all, made by exactly one, replaced when it makes no sense, never in the way.

import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct LedgerTests {
    let ticks = TestTicks()
    let scratch: Scratch
    let store: FileStore

    init() throws {
        scratch = try Scratch()
        store = FileStore(path: scratch("cache"), ticks: ticks.read)
    }

    private var file: String { scratch(".cache.tmp/ledger") }

    private func anotherStore() -> FileStore { FileStore(path: scratch("cache"), ticks: ticks.read) }

    private func write(_ name: String, to store: FileStore) throws {
        try store.write(Data(count: 10), to: name, expiration: .days(1))
    }

    /// Unlocks a folder, not just by closing it: another test may be starting a child, which has a copy of it for a moment.
    private func letGo(_ holder: Int32) {
        flock(holder, LOCK_UN)
        close(holder)
    }

    @Test func allSeeTheSameNumbers() throws {
        let folder = try Directory.create(scratch("folder"))
        let (one, other) = (try #require(Ledger.of(folder)), try #require(Ledger.of(folder)))
        #expect(one.generation == 0)
        one.noteChange()
        other.add(5, to: 3)
        other.add(-2, to: 3)
        #expect(other.generation == 1)
        #expect(one.count(3) == 3)
        #expect(names(in: scratch("folder")) == ["ledger"])
        #expect(one.isAt(scratch("folder/ledger")))
    }

    @Test func ofManyThatMakeItAtOnceOneWins() async throws {
        for round in 0..<20 {
            let folder = try Directory.create(scratch("folder \(round)"))
            let ledgers = await withTaskGroup(of: Ledger?.self) { group in
                for _ in 0..<8 { group.addTask { ledger(of: folder) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for ledger in ledgers { try #require(ledger).noteChange() }
            #expect(ledgers.allSatisfy { $0?.generation == 8 })
            #expect(names(in: scratch("folder \(round)")) == ["ledger"])
        }
    }

    /// The ledger, tried for as long as others are making it: on a slow disk they take longer than anybody waits.
    private func ledger(of folder: Directory) -> Ledger? {
        for _ in 0..<100 { if let ledger = Ledger.of(folder) { return ledger } }
        return nil
    }

    @Test func whoClearsLeftoversDoesNotTakeItFromWhoMakesIt() async throws {
        for round in 0..<20 {
            let folder = try Directory.create(scratch(".cache \(round).tmp"))
            let directory = try Directory.create(scratch("cache \(round)"))
            let ledger = await withTaskGroup(of: Ledger?.self) { group in
                group.addTask {
                    for _ in 0..<20 { try? Temporaries.removeLeftovers(of: directory) }
                    return nil
                }
                group.addTask { Ledger.of(folder) }
                return await group.reduce(nil) { $0 ?? $1 }
            }
            #expect(ledger != nil)
        }
    }

    @Test func whatSomebodyLeftWhoDiedMakingOneIsNotInTheWay() throws {
        let folder = try Directory.create(scratch("folder"))
        try Data("half".utf8).write(to: URL(fileURLWithPath: scratch("folder/ledger.new")))
        #expect(Ledger.of(folder) != nil)
        #expect(names(in: scratch("folder")) == ["ledger"])
    }

    @Test func aLedgerThatCannotBeOpenedJustNowIsNotReplaced() throws {
        let folder = try Directory.create(scratch("folder"))
        let ledger = try #require(Ledger.of(folder))
        try #require(chmod(scratch("folder"), 0o777) == 0 && chmod(scratch("folder/ledger"), 0) == 0)
        #expect(withoutPrivileges { Ledger.of(folder) } == nil)
        #expect(ledger.isAt(scratch("folder/ledger")))
    }

    @Test func aLedgerThatCannotBeLookedAtIsNotGone() throws {
        let ledger = try #require(Ledger.of(try Directory.create(scratch("folder"))))
        try #require(chmod(scratch("folder"), 0) == 0)
        #expect(withoutPrivileges { ledger.isAt(scratch("folder/ledger")) })
        try #require(chmod(scratch("folder"), 0o755) == 0)
        #expect(!ledger.isAt(scratch("folder/other")) && !ledger.isAt(scratch("folder/ledger/deep")))
        try Data().write(to: URL(fileURLWithPath: scratch("folder/other")))
        #expect(!ledger.isAt(scratch("folder/other")))
    }

    @Test func nobodyWaitsForWhoHoldsTheFolder() throws {
        let folder = try Directory.create(scratch("folder"))
        let holder = open(scratch("folder"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(flock(holder, LOCK_EX | LOCK_NB) == 0)
        #expect(Ledger.of(folder) == nil)
        letGo(holder)
        #expect(Ledger.of(folder) != nil)
    }

    @Test func aChildProcessDoesNotInheritIt() throws {
        let folder = try Directory.create(scratch("folder"))
        let ledger = try #require(Ledger.of(folder))
        let open = names(in: "/proc/self/fd").compactMap { Int32($0) }.filter { number in
            var status = stat()
            return fstat(number, &status) == 0 && FileIdentity(status) == ledger.identity
        }
        #expect(!open.isEmpty)
        for number in open { #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0) }
    }

    /// There a full disk ends whoever writes to mapped memory.
    @Test(arguments: [0x9123_683E, 0xCA45_1A4E, 0x2FC1_2FC1] as [UInt64])
    func aFileSystemThatCopiesOnEveryWriteHasNone(kind: UInt64) {
        #expect(!kind.isFitForLedgers)
        #expect((0xEF53 as UInt64).isFitForLedgers)
    }

    @Test(arguments: [0, 1, 4_095, 4_096, 10_000])
    func nonsenseIsReplacedAndNotChanged(size: Int) throws {
        let folder = try Directory.create(scratch("folder"))
        let nonsense = Data(repeating: 0xAB, count: size)
        try nonsense.write(to: URL(fileURLWithPath: scratch("folder/ledger")))
        let old = open(scratch("folder/ledger"), O_RDONLY)
        defer { close(old) }
        let ledger = try #require(Ledger.of(folder))
        #expect(ledger.isAt(scratch("folder/ledger")))
        // Whoever has the old file mapped still has it.
        var status = stat()
        #expect(fstat(old, &status) == 0 && Int(status.st_size) == size && status.st_nlink == 0)
    }

    @Test func theLedgerOfANewerProgramIsToldOfChangesAndOtherwiseLeftAlone() throws {
        let folder = try Directory.create(scratch("folder"))
        try #require(Ledger.of(folder)).add(7, to: 0)
        let file = open(scratch("folder/ledger"), O_RDWR)
        defer { close(file) }
        var newer: UInt64 = 99
        try #require(pwrite(file, &newer, 8, 8) == 8)
        let ledger = try #require(Ledger.of(folder))
        ledger.noteChange()
        ledger.add(5, to: 0)
        #expect(ledger.generation == 1)
        #expect(ledger.count(0) == 0)
        var count: UInt64 = 0
        #expect(pread(file, &count, 8, 256) == 8 && count == 7)
    }

    @Test func aLinkInItsPlaceIsNotFollowed() throws {
        let folder = try Directory.create(scratch("folder"))
        try Data("secret".utf8).write(to: URL(fileURLWithPath: scratch("secret")))
        try #require(symlink(scratch("secret"), scratch("folder/ledger")) == 0)
        #expect(Ledger.of(folder) != nil)
        #expect(try String(contentsOfFile: scratch("secret"), encoding: .utf8) == "secret")
    }

    @Test func aFolderInItsPlaceMeansThereIsNone() throws {
        let folder = try Directory.create(scratch("folder"))
        _ = try Directory.create(scratch("folder/ledger/deep"))
        #expect(Ledger.of(folder) == nil)
        #expect(names(in: scratch("folder")) == ["ledger"])
    }

    @Test func aFileSystemThatSharesNoMemoryHasNone() throws {
        let folder = try #require(try Directory.open("/proc"))
        #expect(Ledger.of(folder) == nil)
    }

    @Test func whoMayChangeTheDirectoryMustBeAbleToSaySo() throws {
        let (folder, directory) = (try Directory.create(scratch("folder")), try Directory.create(scratch("directory")))
        #expect(Ledger.of(folder, beside: directory) != nil)
        try #require(chmod(scratch("directory"), 0o775) == 0)
        #expect(Ledger.of(folder, beside: directory) == nil)
        try #require(chmod(scratch("folder"), 0o777) == 0)
        #expect(Ledger.of(folder, beside: directory) != nil)
        // For root only: that of another user.
        guard geteuid() == 0 else { return }
        try #require(chown(scratch("directory"), 12_345, 0) == 0)
        #expect(Ledger.of(folder, beside: directory) == nil)
    }

    @Test func oneAtATime() throws {
        let folder = try Directory.create(scratch("folder"))
        let (one, other) = (try #require(Ledger.of(folder)), try #require(Ledger.of(folder)))
        var ran: [String] = []
        let first = one.exclusively {
            ran.append("one")
            let second = other.exclusively { ran.append("other") }
            ran.append("\(second)")
        }
        let third = other.exclusively { ran.append("other") }
        #expect(first && third)
        #expect(ran == ["one", "false", "other"])
    }

    // MARK: In a store

    @Test func aDeletedLedgerIsMissedWithinASecond() throws {
        let other = anotherStore()
        store.startScan()
        other.startScan()
        try FileManager.default.removeItem(atPath: scratch(".cache.tmp"))
        // The other one finds its place to write gone, and makes everything anew.
        try write("a", to: other)
        ticks.advance(1_000)
        #expect(store.contains("a"))
        store.startScan()
        try write("b", to: other)
        #expect(store.contains("b"))
    }

    @Test func aReplacedLedgerIsMissedWithinASecond() throws {
        let other = anotherStore()
        store.startScan()
        try write("a", to: other)
        store.startScan()
        try FileManager.default.removeItem(atPath: file)
        let third = anotherStore()
        try write("b", to: third)
        ticks.advance(1_000)
        #expect(store.contains("b"))
    }

    @Test func whoGotNoLedgerTriesAgainASecondLater() throws {
        let folder = try Directory.create(scratch(".cache.tmp"))
        let holder = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(flock(holder, LOCK_EX | LOCK_NB) == 0)
        try write("a", to: store)
        #expect(store.state.withLock { $0.ledger } == nil)
        letGo(holder)
        try write("b", to: store)
        #expect(store.state.withLock { $0.ledger } == nil)
        ticks.advance(1_000)
        try write("c", to: store)
        #expect(store.state.withLock { $0.ledger } != nil)
        #expect(names(in: folder.path) == ["ledger"])
    }

    @Test func whoGotNoLedgerTellsOthersWhoHaveGotOneSince() throws {
        let folder = try Directory.create(scratch(".cache.tmp"))
        let holder = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(flock(holder, LOCK_EX | LOCK_NB) == 0)
        let writer = anotherStore()
        try write("a", to: writer)
        letGo(holder)
        store.startScan()
        #expect(!store.contains("b"))
        // Within the same second.
        try write("b", to: writer)
        #expect(store.contains("b"))
        #expect(try store.read("b") != nil)
    }

    @Test func whoCouldNotMakeTheFolderTellsOthersWhoHaveMadeItSince() throws {
        let writer = anotherStore()
        try writer.prepare()
        try Data("in the way".utf8).write(to: URL(fileURLWithPath: scratch(".cache.tmp")))
        try write("a", to: writer)
        try FileManager.default.removeItem(atPath: scratch(".cache.tmp"))
        store.startScan()
        for name in ["b", "c"] {
            #expect(!store.contains(name))
            try write(name, to: writer)
            #expect(store.contains(name))
            store.startScan()
        }
        try writer.remove("c")
        #expect(try store.totalSize() == 20)
    }

    @Test func whoLetsGoOfTheLedgerWhileHeChangesSomethingTellsOfItAllTheSame() throws {
        let writer = anotherStore()
        try write("a", to: writer)
        store.startScan()
        let path = scratch("cache")
        let entry = EntryRecord(size: 10, access: Date.now.entryTime, expiry: Date.distantFuture.entryTime)
        try writer.changing("b") { () throws(StorageError) in
            let isMoved = rename(path + "/a", path + "/b") == 0
            #expect(isMoved)
            // Another thread has found something gone, and thinks it is the directory.
            writer.forgetDirectory()
            return .stored(entry)
        }
        #expect(store.contains("b"))
        #expect(try store.read("b") != nil)
    }

    @Test func whoOnlyWritesNoticesThatTheLedgerIsAnotherOne() throws {
        let writer = anotherStore()
        try write("a", to: writer)
        try FileManager.default.removeItem(atPath: file)
        store.startScan()
        // Changes of our own that overlap: the time of the directory tells nothing then.
        try store.changing("c") { () throws(StorageError) in
            try store.remove("d")
            return .seen(nil)
        }
        ticks.advance(1_000)
        try write("b", to: writer)
        #expect(store.contains("b"))
        #expect(try store.read("b") != nil)
    }

    @Test(arguments: ["remove", "remove all", "remove expired", "discard"])
    func whoHasNotWrittenTellsOfWhatHeRemovesToo(_ operation: String) throws {
        let clock = TestClock()
        let remover = FileStore(path: scratch("cache"), clock: clock.read, ticks: ticks.read)
        clock.advance(Date.now.timeIntervalSince(clock.now) + 200_000)
        try write("a", to: store)
        store.startScan()
        #expect(store.state.withLock { $0.isAccountTrue })
        switch operation {
        case "remove": try remover.remove("a")
        case "remove all": try remover.removeAll()
        case "remove expired": try remover.removeExpired()
        default: try remover.discard("a", try #require(try remover.read("a", at: .distantPast)))
        }
        #expect(names(in: scratch("cache")) == [])
        #expect(!store.state.withLock { $0.isAccountTrue })
        #expect(try store.totalSize() == 0)
    }

    @Test func whoHasJustLookedForALedgerLooksAgainBeforeHeRemoves() throws {
        let remover = anotherStore()
        try remover.prepare()
        #expect(try remover.read("a") == nil)
        try write("a", to: store)
        store.startScan()
        try remover.remove("a")
        #expect(!store.state.withLock { $0.isAccountTrue })
    }

    @Test(
        .enabled(if: SmallFileSystem.isPossible, "only root can mount"),
        arguments: [(files: 1_000, isFit: true), (files: 0, isFit: false)]
    )
    func anOverlayIsJudgedByWhatLiesBelow(files: Int, isFit: Bool) throws {
        // Like Btrfs, a file system in memory without a limit of files does not say how many there may be.
        let disk = try SmallFileSystem(at: scratch("disk"), kilobytes: 256, files: files)
        let paths = ["lower", "upper", "work"].map { disk.path + "/" + $0 } + [scratch("overlay")]
        for path in paths { try #require(mkdir(path, 0o755) == 0) }
        let options = "lowerdir=\(paths[0]),upperdir=\(paths[1]),workdir=\(paths[2])"
        try #require(mount("overlay", paths[3], "overlay", 0, options) == 0)
        defer { umount2(paths[3], Int32(MNT_DETACH)) }
        let store = FileStore(path: paths[3] + "/cache", ticks: ticks.read)
        try write("a", to: store)
        #expect((store.state.withLock { $0.ledger } != nil) == isFit)
        #expect(try store.read("a") != nil)
    }

    // MARK: Several paths

    @Test(arguments: ["alias", "elsewhere/deep", "linked/cache", "cache/../cache"])
    func byWhateverPathADirectoryIsFoundItHasOneLedger(_ other: String) throws {
        try FileManager.default.createDirectory(atPath: scratch("elsewhere"), withIntermediateDirectories: false)
        for link in ["alias", "elsewhere/deep"] { try #require(symlink(scratch("cache"), scratch(link)) == 0) }
        try #require(symlink(".", scratch("linked")) == 0)
        store.startScan(making: true)
        let alias = FileStore(path: scratch(other), ticks: ticks.read)
        #expect(try store.read("a") == nil)
        try write("a", to: alias)
        #expect(try store.read("a") != nil)
        #expect(store.state.withLock { $0.ledger?.identity } == alias.state.withLock { $0.ledger?.identity })
        #expect(names(in: scratch.path) == [".cache.tmp", "alias", "cache", "elsewhere", "linked"])
        #expect(names(in: scratch("elsewhere")) == ["deep"])
        // It is found in its place later, too.
        alias.startScan()
        ticks.advance(1_000)
        #expect(alias.isKnownMissing("b"))
        #expect(alias.state.withLock { $0.ledger } != nil)
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "only root can mount"))
    func whoFindsADirectoryWhereItIsMountedOnceMoreHasNoLedger() throws {
        try store.prepare()
        try FileManager.default.createDirectory(atPath: scratch("mounted"), withIntermediateDirectories: false)
        try #require(mount(scratch("cache"), scratch("mounted"), nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(scratch("mounted"), Int32(MNT_DETACH)) }
        let other = FileStore(path: scratch("mounted"), ticks: ticks.read)
        try write("a", to: store)
        try write("b", to: other)
        #expect(names(in: scratch("cache")) == ["a", "b"])
        #expect(store.state.withLock { $0.ledger } != nil)
        #expect(other.state.withLock { $0.ledger } == nil)
        #expect(other.lifetimeCounts() == nil)
    }
}
