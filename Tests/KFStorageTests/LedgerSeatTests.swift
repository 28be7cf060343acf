// Who dies while changing an entry, with nobody told: others must find out, and soon.

import CKFLinux
import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct LedgerSeatTests {
    let ticks = TestTicks()
    let scratch: Scratch
    let store: FileStore

    init() throws {
        scratch = try Scratch()
        store = FileStore(path: scratch("cache"), ticks: ticks.read)
        try store.write(Data(count: 10), to: "a", expiration: .days(1))
        store.startScan()
    }

    private func anotherStore() -> FileStore { FileStore(path: scratch("cache"), ticks: ticks.read) }

    /// The ledger as another process has it.
    private func anotherLedger() throws -> Ledger {
        let folder = try #require(try Directory.open(scratch(".cache.tmp")))
        return try #require(Ledger.of(folder, making: false))
    }

    /// What another process does first and last when it stores an entry, and never gets to tell.
    private func putBehindEverybodysBack(_ name: String) throws {
        let file = scratch(name)
        try Data(count: 20).write(to: URL(fileURLWithPath: file))
        utimensat(
            AT_FDCWD,
            file,
            [timespec(tv_sec: time(nil), tv_nsec: 0), timespec(tv_sec: time(nil) + 9_000, tv_nsec: 0)],
            0
        )
        try #require(rename(file, scratch("cache/" + name)) == 0)
    }

    private var isAccountTrue: Bool { store.state.withLock { $0.isAccountTrue } }

    @Test func whileAnotherIsAtItNothingIsTakenForMissing() throws {
        #expect(store.isKnownMissing("b"))
        let other = try anotherLedger()
        other.noteUnderWay(1)
        #expect(!store.isKnownMissing("b"))
        try putBehindEverybodysBack("b")
        #expect(try store.read("b") != nil)
        other.noteUnderWay(-1)
        #expect(store.isKnownMissing("c"))
    }

    @Test func aScanThatBeginsWhileAnotherIsAtItProvesNothing() throws {
        let other = try anotherLedger()
        other.noteUnderWay(1)
        other.noteChange()
        store.startScan()
        // What it changes now the scan may have missed.
        other.noteUnderWay(-1)
        #expect(!isAccountTrue)
        store.startScan()
        #expect(isAccountTrue)
    }

    @Test func whatWasStoredByWhoDiedBeforeHeCouldSaySoIsFound() throws {
        do {
            let dying = try anotherLedger()
            dying.noteUnderWay(1)
            try putBehindEverybodysBack("b")
        }
        #expect(!store.isKnownMissing("b"))
        #expect(try store.read("b") != nil)
        #expect(try store.totalSize() == 30)
        #expect(isAccountTrue)
        #expect(store.isKnownMissing("c"))
    }

    @Test func whatWasRemovedByWhoDiedDoesNotCount() throws {
        do {
            let dying = try anotherLedger()
            dying.noteUnderWay(2)
            try #require(unlink(scratch("cache/a")) == 0)
        }
        #expect(try store.totalSize() == 0)
    }

    @Test func oneProcessAloneFindsOutForAll() throws {
        let other = anotherStore()
        other.startScan()
        do {
            let dying = try anotherLedger()
            dying.noteUnderWay(1)
            try putBehindEverybodysBack("b")
        }
        other.startScan()
        #expect(try anotherLedger().underWay == 0)
        // It did not see the change itself: it has to hear of it from who found out.
        #expect(!isAccountTrue)
        #expect(try store.read("b") != nil)
    }

    @Test func whoTakesTheSeatOfADeadOneSpeaksForHim() throws {
        let number: Int
        do {
            let dying = try anotherLedger()
            dying.noteUnderWay(1)
            number = dying.seat.number
            try putBehindEverybodysBack("b")
        }
        let heir = try anotherLedger()
        #expect(heir.seat.number == number)
        #expect(heir.underWay == 0)
        #expect(!isAccountTrue)
        #expect(try store.read("b") != nil)
    }

    /// As a child has them from when it is made until it becomes another program.
    @Test func aCopyOfItsFileDoesNotKeepASeatTaken() throws {
        let (number, copy): (Int, Int32)
        do {
            let leaving = try anotherLedger()
            (number, copy) = (leaving.seat.number, fcntl(leaving.file, F_DUPFD_CLOEXEC, 0))
        }
        defer { close(copy) }
        try #require(copy >= 0)
        #expect(try anotherLedger().seat.number == number)
    }

    @Test func allWhoFindNoSeatShareTheLast() throws {
        let others = try (0..<LedgerSeat.count + 3).map { _ in try anotherLedger() }
        #expect(Set(others.map(\.seat.number)).count == LedgerSeat.count - 1)
        #expect(others.filter { $0.seat.isShared }.count == 5)
        others[others.count - 1].noteUnderWay(1)
        // One of those who share it lives: it may be the one that is at it.
        store.startScan()
        #expect(!isAccountTrue)
        #expect(try store.totalSize() == 10)
    }

    @Test func whenAllWhoShareASeatAreGoneNobodyWaitsForThem() throws {
        do {
            let others = try (0..<LedgerSeat.count + 3).map { _ in try anotherLedger() }
            others[others.count - 1].noteUnderWay(1)
        }
        store.startScan()
        #expect(isAccountTrue)
    }

    @Test func aStoreAnnouncesWhatItIsDoingUntilItIsDone() throws {
        let ledger = try anotherLedger()
        let seen = Locked<[Int]>([])
        store.state.withLock { $0.afterLook = { seen.withLock { $0.append(ledger.underWay) } } }
        #expect(try store.trim(above: 0, to: 0) == ["a"])
        #expect(seen.withLock { $0 } == [1])
        #expect(ledger.underWay == 0)
        // The same when it fails.
        try FileManager.default.createDirectory(atPath: scratch("cache/d"), withIntermediateDirectories: false)
        #expect(throws: StorageError.self) { try store.write(Data(count: 1), to: "d", expiration: .days(1)) }
        #expect(ledger.underWay == 0)
    }

    /// Otherwise somebody would seem to be at it for ever.
    @Test(arguments: [UInt8(0), 1, 255]) func aLedgerThatIsOverwrittenIsReplaced(byte: UInt8) throws {
        let other = anotherStore()
        for store in [store, other] {
            try store.write(Data(count: 10), to: "a", expiration: .days(1))
            store.startScan()
        }
        let file = open(scratch(".cache.tmp/ledger"), O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        let garbage = [UInt8](repeating: byte, count: Ledger.size)
        try #require(pwrite(file, garbage, garbage.count, 0) == garbage.count)
        for _ in 0..<2 {
            ticks.advance(1_000)
            for store in [store, other] {
                try store.write(Data(count: 10), to: "a", expiration: .days(1))
                store.startScan()
            }
        }
        ticks.advance(1_000)
        for store in [store, other] { store.startScan() }
        #expect(store.isKnownMissing("b") && other.isKnownMissing("b"))
        try store.write(Data(count: 10), to: "b", expiration: .days(1))
        #expect(try other.read("b") != nil)
        #expect(try other.totalSize() == 20)
    }
}
