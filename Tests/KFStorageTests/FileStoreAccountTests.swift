// What a file store knows of its entries without asking: true after every operation, corrected when others meddle.

import CKFLinux
import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct FileStoreAccountTests {
    let clock = TestClock()
    let ticks = TestTicks()
    let scratch: Scratch
    let store: FileStore

    init() throws {
        scratch = try Scratch()
        store = FileStore(path: scratch("cache"), clock: clock.read, ticks: ticks.read)
    }

    private func anotherStore() -> FileStore { FileStore(path: scratch("cache"), clock: clock.read, ticks: ticks.read) }

    private func write(_ count: Int, _ name: String, to store: FileStore? = nil) throws {
        try (store ?? self.store).write(Data(count: count), to: name, expiration: .days(1))
    }

    /// What the account says, without asking the disk.
    private var account: [String: Int] {
        store.state.withLock { state in
            let table = state.account.table
            return Dictionary(uniqueKeysWithValues: table.nodes.map { (table.name($0), $0.record.size) })
        }
    }

    // MARK: The account

    @Test func aScanFindsWhatThereIsAndNothingElse() throws {
        let names = [FileNaming.hash("a"), FileNaming.hash("b") + ".png", "plain", "ünïcode", "trailing "]
        for (size, name) in names.enumerated() { try write(size, name) }
        try Data("hidden".utf8).write(to: URL(fileURLWithPath: scratch("cache/.hidden")))
        try FileManager.default.createDirectory(atPath: scratch("cache/folder"), withIntermediateDirectories: true)
        try #require(symlink(scratch("cache/plain"), scratch("cache/link")) == 0)
        try #require(mkfifo(scratch("cache/pipe"), 0o600) == 0)
        #expect(!store.isScanned)
        store.startScan()
        #expect(store.isScanned)
        #expect(account == Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) }))
        #expect(store.knownNames == Set(names))
    }

    @Test func everyOperationKeepsTheAccountTrue() throws {
        store.startScan()
        try write(10, "a")
        try write(20, "b")
        try write(5, "a")
        #expect(account == ["a": 5, "b": 20])
        #expect(try store.totalSize() == 25)
        try store.remove("b")
        try store.write(Data(count: 1), to: "c", expiration: .seconds(5))
        #expect(account == ["a": 5, "c": 1])
        clock.advance(5)
        #expect(try store.removeExpired() == ["c"])
        #expect(account == ["a": 5])
        try write(7, "d")
        #expect(try store.trim(above: 11, to: 7) == ["a"])
        #expect(account == ["d": 7])
        try store.write(Data(count: 1), to: "d", expiration: .expired)
        #expect(account == [:])
        try write(7, "e")
        try store.discard("e", try #require(try store.read("e")))
        #expect(account == [:])
        try write(7, "f")
        try store.removeAll()
        #expect(account == [:])
        #expect(try store.totalSize() == 0)
    }

    @Test func whatIsChangedDuringScansIsAccountedFor() async throws {
        for number in 0..<300 { try write(number, "old \(number)") }
        let store = store
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 0..<40 { try store.scan(making: true) } }
            for thread in 0..<3 {
                group.addTask {
                    for step in 0..<300 {
                        let name = "old \((step &* 7 &+ thread) % 300)"
                        if step.isMultiple(of: 3) {
                            try store.remove(name)
                        } else {
                            try store.write(Data(count: step + thread), to: name, expiration: .days(1))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(store.isScanned)
        let account = account
        let onDisk = Dictionary(uniqueKeysWithValues: try store.entries().map { ($0.name, $0.size) })
        #expect(account == onDisk)
    }

    // MARK: Others meddle

    @Test func whatVanishedIsNoticedWhenItIsMissed() throws {
        store.startScan()
        try write(10, "a")
        try write(20, "b")
        try FileManager.default.removeItem(atPath: scratch("cache/a"))
        #expect(try store.read("a") == nil)
        #expect(account == ["b": 20])
    }

    @Test func whatAppearedIsNoticedWhenItIsRead() throws {
        store.startScan()
        ticks.advance(2_000)
        try letTimePass(at: scratch.path)
        try Data(count: 9).write(to: URL(fileURLWithPath: scratch("cache/a")))
        let times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 4_000_000_000, tv_nsec: 0)]
        try #require(utimensat(AT_FDCWD, scratch("cache/a"), times, 0) == 0)
        #expect(try store.read("a")?.data.count == 9)
        #expect(account == ["a": 9])
    }

    @Test func whoOnlyReadsTakesUpALedgerMadeSinceWithinASecond() throws {
        try write(10, "a")
        try FileManager.default.removeItem(atPath: try #require(store.state.withLock { $0.temporaries }).folder.path)
        let reader = anotherStore()
        #expect(try reader.read("a")?.data.count == 10)
        #expect(reader.state.withLock { $0.ledger == nil })
        try anotherStore().write(Data(count: 1), to: "b", expiration: .days(1))
        #expect(try reader.read("a")?.data.count == 10)
        #expect(reader.state.withLock { $0.ledger == nil }, "it has looked for one a moment ago")
        ticks.advance(1_000)
        #expect(try reader.read("a")?.data.count == 10)
        #expect(reader.state.withLock { $0.ledger != nil })
    }

    @Test func theTotalCountsWhatOthersDidBehindOurBack() throws {
        store.startScan()
        try write(10, "a")
        try write(20, "b")
        #expect(try store.totalSize() == 30)
        try letTimePass(at: scratch.path)
        try FileManager.default.removeItem(atPath: scratch("cache/a"))
        #expect(try store.totalSize() == 20)
        try letTimePass(at: scratch.path)
        try Data(count: 5).write(to: URL(fileURLWithPath: scratch("cache/c")))
        #expect(try store.totalSize() == 25)
        try letTimePass(at: scratch.path)
        // Also when something of our own came after it.
        try FileManager.default.removeItem(atPath: scratch("cache/b"))
        try write(1, "d")
        #expect(try store.totalSize() == 6)
    }

    /// Then only the time of the directory tells of what others do.
    @Test func withoutALedgerWhatOthersDidAmongOverlappingChangesIsSeen() throws {
        try Data("in the way".utf8).write(to: URL(fileURLWithPath: scratch(".cache.tmp")))
        store.startScan()
        try write(10, "a")
        try store.changing("b") { () throws(StorageError) in
            try store.remove("c")
            return .seen(nil)
        }
        try letTimePass(at: scratch.path)
        try FileManager.default.removeItem(atPath: scratch("cache/a"))
        #expect(try store.totalSize() == 0)
        // And if one of our own comes after it.
        try write(10, "a")
        try store.changing("b") { () throws(StorageError) in
            try store.remove("c")
            return .seen(nil)
        }
        try letTimePass(at: scratch.path)
        try FileManager.default.removeItem(atPath: scratch("cache/a"))
        try write(3, "d")
        #expect(try store.totalSize() == 3)
    }

    @Test("DSK-23: the folder deleted behind the store: probes miss, the total is 0, the next write works")
    func aDeletedFolderIsNoticed() throws {
        store.startScan()
        try write(10, "a")
        try FileManager.default.removeItem(atPath: scratch("cache"))
        #expect(!store.contains("a"))
        #expect(try store.read("a") == nil)
        #expect(try store.totalSize() == 0)
        try write(3, "b")
        #expect(try store.read("b")?.data.count == 3)
        #expect(try store.totalSize() == 3)
    }

    @Test func theTotalOfAFolderDeletedAMomentAgoIsZero() throws {
        store.startScan()
        try write(10, "a")
        try FileManager.default.removeItem(atPath: scratch("cache"))
        #expect(try store.totalSize() == 0)
    }

    @Test func afterTheFolderWasDeletedAScanMakesEverythingWorkAgain() throws {
        store.startScan()
        try write(10, "a")
        for name in ["cache", ".cache.tmp"] { try FileManager.default.removeItem(atPath: scratch(name)) }
        store.startScan()
        #expect(store.isScanned)
        try write(3, "b")
        #expect(account == ["b": 3])
        #expect(try store.read("a") == nil)
        #expect(store.counts.missesWithoutDisk == 1)
    }

    @Test func linksAndFoldersInThePlaceOfAnEntryAreNotRemoved() throws {
        try Data("secret".utf8).write(to: URL(fileURLWithPath: scratch("secret")))
        store.startScan()
        for name in ["a", "b", "c"] { try write(10, name) }
        try FileManager.default.removeItem(atPath: scratch("cache/a"))
        try #require(symlink(scratch("secret"), scratch("cache/a")) == 0)
        try FileManager.default.removeItem(atPath: scratch("cache/b"))
        try FileManager.default.createDirectory(atPath: scratch("cache/b"), withIntermediateDirectories: true)
        clock.advance(90_000)
        #expect(try store.removeExpired() == ["c"])
        #expect(names(in: scratch("cache")) == ["a", "b"])
        #expect(try String(contentsOfFile: scratch("secret"), encoding: .utf8) == "secret")
        #expect(try store.totalSize() == 0)
    }

    @Test func whereThereCanBeNoLedgerTheRestWorks() throws {
        try Data("in the way".utf8).write(to: URL(fileURLWithPath: scratch(".cache.tmp")))
        store.startScan()
        try write(10, "a")
        #expect(account == ["a": 10])
        #expect(try store.totalSize() == 10)
        #expect(try store.read("b") == nil)
        #expect(store.counts.missesWithoutDisk == 0)
        #expect(store.lifetimeCounts() == nil)
        store.configure(sizeLimit: 15)
        try write(10, "b")
        #expect(account == ["b": 10])
    }

    // MARK: The clock

    @Test func aClockThatJumpsDeletesNothingThatIsValid() throws {
        store.configure(sizeLimit: 1_000)
        store.startScan()
        try write(10, "a")
        clock.advance(-86_400 * 365)
        try write(10, "b")
        #expect(try store.removeExpired() == [])
        #expect(Set(account.keys) == ["a", "b"])
        clock.advance(86_400 * 365 + 3_600)
        #expect(try store.removeExpired() == ["b"])
        #expect(try store.read("a") != nil)
        clock.advance(-86_400 * 800)
        try write(980, "c")
        try write(20, "d")
        #expect(Set(account.keys) == ["c", "d"])
    }

    // MARK: Counts

    @Test func everythingIsCountedOnce() throws {
        store.startScan()
        try write(10, "a")
        try write(20, "b")
        _ = try store.read("a")
        _ = try store.read("missing")
        try store.remove("a")
        try store.remove("a")
        try store.discard("b", try #require(try store.read("b")))
        try store.write(Data(count: 1), to: "c", expiration: .seconds(1))
        clock.advance(1)
        #expect(try store.read("c") == nil)
        try store.removeExpired()
        try write(1, "d")
        try store.trim(above: 0, to: 0)
        var expected = FileCounts()
        (expected.hits, expected.misses, expected.missesWithoutDisk, expected.stores) = (2, 2, 1, 4)
        (expected.expired, expected.trimmed, expected.discarded, expected.removed) = (1, 1, 1, 1)
        (expected.bytesRead, expected.bytesWritten) = (30, 32)
        #expect(store.counts == expected)
    }

    @Test func aFailureIsCounted() throws {
        try store.prepare()
        try FileManager.default.createDirectory(atPath: scratch("cache/a"), withIntermediateDirectories: false)
        #expect(throws: StorageError.self) { try write(1, "a") }
        #expect(store.counts.failures == 1)
    }
}

/// Milliseconds that stand still until they are moved.
final class TestTicks: Sendable {
    private let state = Locked(Int64(1_000_000))

    var read: @Sendable () -> Int64 { { self.state.withLock { $0 } } }

    func advance(_ milliseconds: Int64) { state.withLock { $0 += milliseconds } }
}
