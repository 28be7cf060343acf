// The limit that holds while a file store runs: what goes, what stays, and with whom one has to reckon.

import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct LimitTests {
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

    @Test func aWriteOverTheLimitMakesRoomForItself() throws {
        store.configure(sizeLimit: 50)
        store.startScan()
        for number in 0..<5 { try write(10, "\(number)") }
        #expect(entries == ["0", "1", "2", "3", "4"])
        try write(15, "5")
        #expect(entries == ["2", "3", "4", "5"])
        #expect(try store.totalSize() == 45)
        #expect(store.counts.trimmed == 2)
    }

    @Test func whatWasReadStays() throws {
        store.configure(sizeLimit: 30)
        store.startScan()
        for name in ["a", "b", "c"] { try write(10, name) }
        try store.touch("a", try #require(try store.read("a")), extending: .cacheTime)
        try write(10, "d")
        #expect(entries == ["a", "c", "d"])
    }

    @Test func whatHasExpiredGoesFirst() throws {
        store.configure(sizeLimit: 30)
        store.startScan()
        try write(10, "old")
        try write(10, "short", for: 2)
        try write(10, "c")
        try write(10, "d")
        #expect(entries == ["c", "d", "old"])
        #expect(store.counts.expired == 1)
        #expect(store.counts.trimmed == 0)
    }

    @Test func whatAloneExceedsTheLimitIsKeptOutAndDrivesNothingAway() throws {
        store.configure(sizeLimit: 30)
        store.startScan()
        for name in ["a", "b"] { try write(10, name) }
        try write(31, "huge")
        try write(31, "a")
        #expect(entries == ["b"])
        try write(30, "just")
        #expect(entries == ["just"])
        store.configure(sizeLimit: 0)
        try write(31, "huge")
        #expect(entries == ["huge", "just"])
    }

    @Test func whatHasJustBeenWrittenStaysHoweverLarge() throws {
        store.configure(sizeLimit: 2 << 20)
        store.startScan()
        try write(100_000, "a")
        try write((2 << 20) - 1_000, "b")
        #expect(entries == ["b"])
    }

    @Test func aLargeLimitIsTrimmedToALittleLess() {
        #expect(FileStore.target(5) == 5)
        #expect(FileStore.target(100 << 20) == 95 << 20)
        #expect(FileStore.target(100 << 30) == 100 << 30 - 16 << 20)
    }

    @Test func theLimitHoldsFromTheEndOfTheScanOn() throws {
        for number in 0..<5 { try write(10, "\(number)") }
        store.configure(sizeLimit: 20)
        try write(10, "5")
        #expect(entries.count == 6)
        store.startScan()
        #expect(entries == ["4", "5"])
    }

    @Test func whatAloneExceedsTheLimitGoesFirstAndNothingElseForIt() throws {
        for name in ["a", "b", "c"] { try write(10, name) }
        try write(40, "huge")
        let restarted = anotherStore()
        restarted.configure(sizeLimit: 30)
        restarted.startScan()
        #expect(entries == ["a", "b", "c"])
        try write(10, "d", to: restarted)
        #expect(entries == ["b", "c", "d"])
    }

    @Test func loweringTheLimitRemovesNothingByItself() throws {
        store.startScan()
        for number in 0..<10 { try write(1, "\(number)") }
        store.configure(sizeLimit: 5)
        #expect(entries.count == 10)
        #expect(try store.trim(above: 4, to: 2).sorted() == (0..<8).map { "\($0)" })
    }

    @Test func theOrderOfUseSurvivesARestart() throws {
        for name in ["a", "b", "c"] { try write(10, name) }
        try store.touch("a", try #require(try store.read("a")), extending: .cacheTime)
        clock.advance(1)
        let restarted = anotherStore()
        restarted.startScan()
        restarted.configure(sizeLimit: 30)
        try write(10, "d", to: restarted)
        #expect(entries == ["a", "c", "d"])
    }

    #if DEBUG
    @Test func aScanThatFailsIsNotMadeWithEveryWrite() throws {
        store.configure(sizeLimit: 8)
        store.announceScan()
        try write(1, "0")
        let folders = [scratch("cache"), scratch(".cache.tmp")]
        if geteuid() == 0 { for path in folders { try #require(chown(path, 65_534, 65_534) == 0) } }
        // Files may be made there, and not be listed.
        try #require(chmod(folders[0], 0o300) == 0)
        defer { chmod(folders[0], 0o755) }
        func looks(number: Int) throws -> Int {
            let calls = try BlockingGuard.violations {
                try withoutPrivileges { try write(1, "\(number)") }
            }
            return calls.count { $0.hasPrefix("forEachFile") }
        }
        for number in 1..<5 { _ = try looks(number: number) }
        // It has failed, and it took long.
        #expect(store.state.withLock { $0.scanEndedAt } == ticks.read())
        store.state.withLock { $0.scanTook = 1_000 }
        for number in 5..<15 { #expect(try looks(number: number) == 0) }
        ticks.advance(10_000)
        #expect(try looks(number: 15) == 1)
        #expect(!store.isScanned)
    }
    #endif

    /// In a folder where everybody may remove only what is his own.
    @Test(.enabled(if: geteuid() == 0, "only root can be somebody else"), arguments: [1, 300])
    func whatMayNotBeRemovedDoesNotKeepTheRest(count: Int) throws {
        for name in 0..<count { try store.write(Data(count: 60), to: "a\(name)", expiration: .days(1)) }
        clock.advance(1)
        for name in ["cache", ".cache.tmp"] { try #require(chmod(scratch(name), 0o1777) == 0) }
        withoutPrivileges {
            let store = FileStore(path: scratch("cache"), clock: clock.read, ticks: ticks.read)
            store.configure(sizeLimit: count * 60 + 40)
            store.startScan()
            for name in 0..<8 {
                #expect(throws: Never.self) { try store.write(Data(count: 10), to: "b\(name)", expiration: .days(1)) }
                clock.advance(1)
            }
        }
        #expect(try store.walk().totalSize <= count * 60 + 40)
        #expect(names(in: scratch("cache")).filter { $0.hasPrefix("a") }.count == count)
    }
}
