// The limit of a file store when others use the same directory, or the same store: threads, stores, processes.

import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct LimitOfManyTests {
    let clock = TestClock()
    let ticks = TestTicks()
    let scratch: Scratch
    let store: FileStore

    init() throws {
        scratch = try Scratch()
        store = FileStore(path: scratch("cache"), clock: clock.read, ticks: ticks.read)
    }

    private func anotherStore() -> FileStore { FileStore(path: scratch("cache"), clock: clock.read, ticks: ticks.read) }

    private func write(_ count: Int, _ name: String, to store: FileStore? = nil, for seconds: Double = 10_000) throws {
        try (store ?? self.store).write(Data(count: count), to: name, expiration: .seconds(seconds))
        clock.advance(1)
    }

    private var entries: [String] { names(in: scratch("cache")) }

    @Test func whatAnotherStoreHasReadStays() throws {
        let other = anotherStore()
        store.configure(sizeLimit: 30)
        store.startScan()
        for name in ["a", "b", "c"] { try write(10, name) }
        try other.touch("a", try #require(try other.read("a")), extending: .cacheTime)
        try write(10, "d")
        #expect(entries == ["a", "c", "d"])
    }

    @Test func whatAnotherStoreHasWrittenCounts() throws {
        let other = anotherStore()
        for store in [store, other] {
            store.configure(sizeLimit: 40)
            store.startScan()
        }
        for number in 0..<10 { try write(10, "\(number)", to: number.isMultiple(of: 2) ? store : other) }
        #expect(entries == ["6", "7", "8", "9"])
    }

    @Test func whatAnotherStoreHasWrittenCountsAtOnce() throws {
        let other = anotherStore()
        store.configure(sizeLimit: 40)
        store.startScan()
        // Just scanned, and it took long: it is not the time to look again.
        store.state.withLock { state in state.scanTook = 1_000_000 }
        for number in 0..<4 { try write(10, "\(number)", to: other) }
        #expect(store.knownSize == 0)
        try write(5, "4")
        #expect(entries == ["1", "2", "3", "4"])
    }

    @Test func whoWritesFarMoreThanAllowedWaitsForWhoMakesRoom() async throws {
        let store = store
        store.configure(sizeLimit: 40)
        store.startScan()
        for number in 0..<4 { try write(10, "\(number)") }
        let executor = WorkExecutor("kf.limit", threads: 2)
        let (isAtIt, mayGoOn) = (Promise<Void>(), DispatchSemaphore(value: 0))
        let hasWritten = Locked(false)
        async let other: Void = executor.run {
            store.turn.withLock { _ in
                store.state.withLock { $0.isTrimming = true }
                isAtIt.keep(())
                mayGoOn.wait()
                store.state.withLock { $0.isTrimming = false }
            }
        }
        await isAtIt.value
        async let writer: Void = executor.run { () async throws in
            // A little too much, and then far too much.
            try store.write(Data(count: 5), to: "4", expiration: .seconds(10_000))
            try store.write(Data(count: 10), to: "5", expiration: .seconds(10_000))
            hasWritten.withLock { $0 = true }
        }
        while !FileManager.default.fileExists(atPath: scratch("cache/5")) { await Task.yield() }
        // It has written by now, and may not have returned.
        for _ in 0..<100 { await Task.yield() }
        #expect(!hasWritten.withLock { $0 })
        mayGoOn.signal()
        _ = try await (other, writer)
        #expect(try store.totalSize() <= 40)
    }

    @Test func whoWritesMuchBeforeTheScanThatWasAnnouncedMakesIt() throws {
        for number in 0..<5 { try write(10, "\(number)") }
        let restarted = anotherStore()
        restarted.configure(sizeLimit: 40)
        restarted.announceScan()
        try write(5, "5", to: restarted)
        #expect(!restarted.isScanned)
        #expect(entries.count == 6)
        try write(1, "6", to: restarted)
        #expect(restarted.isScanned)
        #expect(entries == ["2", "3", "4", "5", "6"])
    }

    @Test func whatAnotherStoreHasRemovedDoesNotCount() throws {
        let other = anotherStore()
        store.configure(sizeLimit: 30)
        store.startScan()
        for name in ["a", "b", "c"] { try write(10, name) }
        try other.remove("c")
        try write(10, "d")
        #expect(entries == ["a", "b", "d"])
    }

    /// Whoever may write to the ledger may write anything.
    @Test(arguments: [Int.min, .min + 1, .max, -1], [Int.min, .max, 0])
    func noNumberOfOthersEndsTheProcess(added: Int, taken: Int) throws {
        store.configure(sizeLimit: 30)
        store.startScan()
        try write(10, "a")
        let ledger = try #require(Ledger.of(try Directory.create(scratch(".cache.tmp"))))
        ledger.noteBytes(ByteCounts(added: added, taken: taken))
        ledger.noteChange()
        for name in ["b", "c", "d"] { try write(10, name) }
        #expect(entries == ["b", "c", "d"])
    }

    @Test func whileAnotherMakesRoomNobodyElseDoes() throws {
        store.configure(sizeLimit: 30)
        store.startScan()
        for name in ["a", "b", "c"] { try write(10, name) }
        let ledger = try #require(Ledger.of(try Directory.create(scratch(".cache.tmp"))))
        let ran = try ledger.exclusively { () throws in
            try write(3, "d")
            #expect(entries == ["a", "b", "c", "d"])
        }
        #expect(ran)
        try write(10, "e")
        #expect(entries == ["c", "d", "e"])
    }

    /// It may have been stopped over it.
    @Test func theLimitHoldsAlsoWhileAnotherNeverEndsMakingRoom() throws {
        store.configure(sizeLimit: 80)
        store.startScan()
        let ledger = try #require(Ledger.of(try Directory.create(scratch(".cache.tmp"))))
        let ran = try ledger.exclusively { () throws in
            for number in 0..<14 { try write(10, "\(number)") }
        }
        #expect(ran)
        #expect(entries.count <= 9)
        #expect(entries.contains("13"))
    }

    /// Then only the time of the directory tells of what others do, and of overlapping changes not even that.
    @Test func withoutALedgerTheLimitHoldsAlsoWhenItIsNotTheTimeToLookAgain() throws {
        try Data("in the way".utf8).write(to: URL(fileURLWithPath: scratch(".cache.tmp")))
        store.configure(sizeLimit: 80)
        store.startScan()
        try store.changing("a") { () throws(StorageError) in
            try store.remove("b")
            return .seen(nil)
        }
        for number in 0..<20 {
            store.state.withLock { $0.scanTook = 1_000_000 }
            try write(10, "\(number)")
        }
        #expect(entries.count <= 9)
        #expect(entries.contains("19"))
    }

    #if DEBUG
    /// Who has not scanned looks at what he replaces before he tells of what he has added.
    @Test func whatOthersOnlyReplaceDoesNotMakeUsLook() throws {
        let other = anotherStore()
        store.configure(sizeLimit: 1_000)
        store.startScan()
        for number in 0..<98 { try write(10, "\(number)") }
        var looks = 0
        for number in 0..<10 {
            for _ in 0..<4 { try write(10, "0", to: other) }
            store.state.withLock { $0.scanTook = 1_000_000 }
            let calls = try BlockingGuard.violations { try write(1, "new \(number)") }
            looks += calls.count { $0.hasPrefix("forEachFile") }
        }
        #expect(looks == 0)
        #expect(entries.count == 108)
        store.state.withLock { $0.scanTook = 0 }
        for number in 0..<20 { try write(10, "\(number + 98)", to: other) }
        try write(1, "last")
        #expect(try store.totalSize() <= 1_000)
    }

    @Test func whatOthersSayAndIsNotSoDoesNotMakeUsLookAllTheTime() throws {
        store.configure(sizeLimit: 1_000)
        store.startScan()
        for number in 0..<98 { try write(10, "\(number)") }
        let ledger = try #require(Ledger.of(try Directory.create(scratch(".cache.tmp"))))
        var looks = 0
        for number in 0..<20 {
            ledger.noteBytes(ByteCounts(added: 40))
            ledger.noteChange()
            store.state.withLock { $0.scanTook = 1_000_000 }
            let calls = try BlockingGuard.violations { try write(1, "new \(number)") }
            looks += calls.count { $0.hasPrefix("forEachFile") }
        }
        // Four times, and whenever there would be an eighth too much if it were true: about each third time.
        #expect((4...12).contains(looks))
        #expect(entries.count == 118)
    }
    #endif

    @Test func byAnAccountKnownToBeUntrueNothingGoes() throws {
        let other = anotherStore()
        store.configure(sizeLimit: 30)
        store.startScan()
        for name in ["a", "b", "c"] { try write(10, name) }
        for name in ["b", "c"] { try write(1, name, to: other) }
        // Another thread is at it, so none can be begun to learn of that.
        let scan = try #require(store.state.withLock { $0.account.beginScan() })
        try write(10, "d")
        #expect(entries == ["a", "b", "c", "d"])
        store.state.withLock { $0.account.cancelScan(scan) }
        try write(10, "e")
        #expect(entries == ["b", "c", "d", "e"])
    }

    @Test func whatVanishedBehindOurBackIsNoVictim() throws {
        store.configure(sizeLimit: 30)
        store.startScan()
        for name in ["a", "b", "c"] { try write(10, name) }
        try FileManager.default.removeItem(atPath: scratch("cache/a"))
        try write(10, "d")
        #expect(entries == ["b", "c", "d"])
    }

    @Test func whatCannotBeRemovedDoesNotHoldUpTheRest() throws {
        store.configure(sizeLimit: 30)
        store.startScan()
        for name in ["a", "b", "c"] { try write(10, name) }
        try FileManager.default.removeItem(atPath: scratch("cache/a"))
        try FileManager.default.createDirectory(atPath: scratch("cache/a"), withIntermediateDirectories: false)
        try write(15, "d")
        #expect(entries == ["a", "c", "d"])
    }

    @Test func whatIsToldOfBytesIsTrueAlsoOfWhoKeepsNoAccount() throws {
        let stores = [store, anotherStore(), anotherStore()]
        stores[0].startScan()
        var random = SystemRandomNumberGenerator()
        try write(10, "0")
        for step in 0..<300 {
            let store = stores[step % 3]
            let name = "\(Int.random(in: 0..<8, using: &random))"
            switch Int.random(in: 0..<4, using: &random) {
            case 0: try store.remove(name)
            default: try write(Int.random(in: 1..<100, using: &random), name, to: store)
            }
        }
        let ledger = try #require(store.state.withLock { $0.ledger })
        #expect(try ledger.bytes.balance == store.walk().totalSize)
    }

    /// Nobody knows whether the scan has seen what was changed meanwhile: that there is too much must not be missed.
    @Test func whatOthersChangeDuringAScanIsTakenForMoreRatherThanLess() throws {
        store.configure(sizeLimit: 100)
        store.startScan()
        for number in 0..<9 { try write(10, "\(number)") }
        let other = anotherStore()
        // Not seen by the scan: one that is removed before it comes by, one that is added after it has.
        let (directory, news) = (
            try #require(try store.directory(making: false)), store.state.withLock { $0.link.news }
        )
        let scan = try #require(store.state.withLock { $0.account.beginScan() })
        try other.remove("8")
        var table = EntryTable(capacity: 0)
        try directory.forEachFile { name, status in table.set(EntryRecord(status), for: name) }
        try write(10, "9", to: other)
        let old = store.state.withLock { $0.endScan(scan, table, news: news, stamp: nil) }
        #expect(old != nil)
        #expect(store.knownSize == 80)
        #expect(store.state.withLock { $0.link.unaccountedBytes } == 10)
    }

    @Test func manyThreadsStayWithinTheLimit() async throws {
        let stores = [store, anotherStore()]
        for store in stores {
            store.configure(sizeLimit: 2_000)
            store.startScan()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    for step in 0..<200 {
                        let store = stores[thread % 2]
                        let name = "\((step &* 13 &+ thread &* 29) % 120)"
                        switch step % 4 {
                        case 0, 1: try store.write(Data(count: 50 + step), to: name, expiration: .days(1))
                        case 2: try store.remove(name)
                        default:
                            guard let entry = try store.read(name) else { continue }
                            try store.touch(name, entry, extending: .cacheTime)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for store in stores { store.startScan() }
        try store.write(Data(count: 1), to: "last", expiration: .days(1))
        let total = try FileManager.default.contentsOfDirectory(atPath: scratch("cache"))
            .reduce(0) { try $0 + Data(contentsOf: URL(fileURLWithPath: scratch("cache/" + $1))).count }
        #expect(total <= 2_000)
        #expect(try store.totalSize() == total)
        #expect(temporaries(of: scratch("cache")) == [])
    }
}
