// The account as a value: overlapping changes, scans that run meanwhile, another directory.

import CKFLinux
import Foundation
import Glibc
import Testing

@testable import KFStorage

/// An account that can be changed inside an expectation.
private final class Book {
    private var account = Account()

    var table: EntryTable { account.table }
    var isComplete: Bool { account.isComplete }
    var isQuiet: Bool { account.isQuiet }
    func isBusy(_ name: String) -> Bool { account.isBusy(name) }
    func begin(_ name: String) -> Account.Change { account.begin(name) }
    func end(_ change: Account.Change, _ outcome: Account.Outcome, ticket: Int = 0) -> Int? {
        account.end(change, outcome, ticket: ticket)
    }
    func beginScan() -> Int? { account.beginScan() }
    func cancelScan(_ number: Int) { account.cancelScan(number) }
    func endScan(_ number: Int, _ found: EntryTable) -> EntryTable? { account.endScan(number, found) }
    func forget() -> EntryTable { account.forget() }
    func markUsed(_ name: String, access: Int64, expiry: Int64) {
        account.markUsed(name, access: access, expiry: expiry)
    }
}

@Suite struct AccountTests {
    private func record(_ size: Int) -> EntryRecord {
        EntryRecord(size: size, access: timespec(tv_sec: 1, tv_nsec: 0), expiry: timespec(tv_sec: 9, tv_nsec: 0))
    }

    private func table(_ entries: [String: Int]) -> EntryTable {
        var table = EntryTable()
        for (name, size) in entries { table.set(record(size), for: name) }
        return table
    }

    /// An account that knows these entries.
    private func account(_ entries: [String: Int] = [:]) throws -> Book {
        let account = Book()
        let scan = try #require(account.beginScan())
        _ = account.endScan(scan, table(entries))
        return account
    }

    @Test func aChangeThatIsAloneIsBelieved() throws {
        let account = try account()
        let store = account.begin("a")
        #expect(account.end(store, .stored(record(5))) == nil)
        #expect(account.table.record(of: "a") == record(5))
        let removal = account.begin("a")
        #expect(account.end(removal, .removed(.asked)) == nil)
        #expect(!account.table.contains("a"))
    }

    /// Names are bytes, as in the file system: these two look the same, and are equal as texts.
    private let composed = "caf\u{E9}"
    private let decomposed = "cafe\u{301}"

    @Test func changesToNamesThatLookTheSameDoNotOverlap() throws {
        let account = try account()
        let (first, second) = (account.begin(composed), account.begin(decomposed))
        #expect(account.end(first, .stored(record(1))) == nil)
        #expect(!account.isBusy(composed) && account.isBusy(decomposed))
        #expect(account.end(second, .stored(record(2))) == nil)
        #expect(account.table.record(of: composed) == record(1))
        #expect(account.table.record(of: decomposed) == record(2))
        #expect(account.isQuiet)
    }

    @Test func aScanTakesOverNeitherOfTwoNamesThatLookTheSame() throws {
        let account = try account()
        let scan = try #require(account.beginScan())
        for (size, name) in [composed, decomposed].enumerated() {
            #expect(account.end(account.begin(name), .stored(record(size + 1))) == nil)
        }
        _ = account.endScan(scan, table([:]))
        #expect(account.table.record(of: composed) == record(1))
        #expect(account.table.record(of: decomposed) == record(2))
    }

    @Test func ofOverlappingChangesTheLastToEndLooks() throws {
        let account = try account()
        let (first, second) = (account.begin("a"), account.begin("a"))
        #expect(account.end(second, .stored(record(2))) == nil)
        #expect(account.isBusy("a"))
        let ticket = try #require(account.end(first, .stored(record(1))))
        #expect(account.isBusy("a"))
        #expect(account.end(first, .seen(record(2)), ticket: ticket) == nil)
        #expect(account.table.record(of: "a") == record(2))
        #expect(!account.isBusy("a"))
        #expect(account.isQuiet)
    }

    @Test func aLookDuringWhichAnotherChangeCameAndWentIsRepeated() throws {
        let account = try account()
        let (first, second) = (account.begin("a"), account.begin("a"))
        #expect(account.end(second, .stored(record(2))) == nil)
        let ticket = try #require(account.end(first, .stored(record(1))))
        let third = account.begin("a")
        #expect(account.end(third, .stored(record(3))) == nil)
        let again = try #require(account.end(first, .seen(record(2)), ticket: ticket))
        #expect(account.end(first, .seen(record(3)), ticket: again) == nil)
        #expect(account.table.record(of: "a") == record(3))
    }

    @Test func aLookLeavesTheRestToAChangeThatIsStillUnderWay() throws {
        let account = try account()
        let (first, second) = (account.begin("a"), account.begin("a"))
        #expect(account.end(second, .stored(record(2))) == nil)
        let ticket = try #require(account.end(first, .stored(record(1))))
        let third = account.begin("a")
        #expect(account.end(first, .seen(record(2)), ticket: ticket) == nil)
        let last = try #require(account.end(third, .removed(.asked)))
        #expect(account.end(third, .seen(nil), ticket: last) == nil)
        #expect(!account.table.contains("a"))
        #expect(account.isQuiet)
    }

    @Test func whoFailedLooks() throws {
        let account = try account(["a": 1])
        let change = account.begin("a")
        let ticket = try #require(account.end(change, .unknown()))
        #expect(account.end(change, .seen(nil), ticket: ticket) == nil)
        #expect(!account.table.contains("a"))
    }

    // MARK: Scans

    @Test func whatWasChangedWhileAScanRanIsNeitherLostNorRevived() throws {
        let account = Book()
        let under = account.begin("under way")
        let scan = try #require(account.beginScan())
        for (name, outcome) in [
            ("stored", Account.Outcome.stored(record(1))), ("removed", .removed(.asked)),
            ("replaced", .stored(record(7))),
        ] {
            #expect(account.end(account.begin(name), outcome) == nil)
        }
        #expect(account.end(under, .stored(record(2))) == nil)
        // The scan has passed some of these before they were changed, and some after.
        _ = account.endScan(scan, table(["removed": 4, "replaced": 3, "old": 5]))
        #expect(Set(account.table.names) == ["stored", "replaced", "under way", "old"])
        #expect(account.table.record(of: "replaced")?.size == 7)
        #expect(account.table.totalSize == 15)
        #expect(account.isComplete)
    }

    @Test func whatWasStoredWhileAScanRanGoesInTheOrderItCameIn() throws {
        let account = try account()
        let scan = try #require(account.beginScan())
        let names = (0..<50).map { "\($0)" }
        for (second, name) in names.enumerated() {
            let change = account.begin(name)
            let record = EntryRecord(
                size: 1,
                access: timespec(tv_sec: second, tv_nsec: 0),
                expiry: timespec(tv_sec: 99, tv_nsec: 0)
            )
            #expect(account.end(change, .stored(record)) == nil)
        }
        _ = account.endScan(scan, table([:]))
        #expect(account.table.leastRecent(downTo: 0, limit: .max).map(\.name) == names)
    }

    @Test func whatWasUsedAfterAScanHadSeenItIsUsed() throws {
        let account = try account(["a": 1, "b": 2])
        let scan = try #require(account.beginScan())
        account.markUsed("a", access: 3_000_000_000, expiry: 8_000_000_000)
        account.markUsed("unknown", access: 3_000_000_000, expiry: 8_000_000_000)
        account.markUsed("removed", access: 3_000_000_000, expiry: 8_000_000_000)
        #expect(account.end(account.begin("removed"), .removed(.asked)) == nil)
        _ = account.endScan(scan, table(["a": 1, "b": 2, "removed": 3]))
        #expect(account.table.leastRecent(downTo: 0, limit: .max).map(\.name) == ["b", "a"])
        #expect(account.table.record(of: "a")?.lastAccess == 3_000_000_000)
        #expect(account.table.record(of: "a")?.expiry == 8_000_000_000)
    }

    /// The time of a file is set before the use is told of, so a scan may have seen it.
    @Test func whatWasUsedBeforeAScanSawItStaysBehindWhatWasStoredBefore() throws {
        let account = try account(["a": 1])
        let scan = try #require(account.beginScan())
        #expect(account.end(account.begin("b"), .stored(record(2))) == nil)
        account.markUsed("a", access: 2_000_000_000, expiry: 9_000_000_000)
        var found = EntryTable()
        let seen = EntryRecord(
            size: 1,
            access: timespec(tv_sec: 2, tv_nsec: 0),
            expiry: timespec(tv_sec: 9, tv_nsec: 0)
        )
        found.set(seen, for: "a")
        _ = account.endScan(scan, found)
        #expect(account.table.leastRecent(downTo: 0, limit: .max).map(\.name) == ["b", "a"])
    }

    @Test func whatAnotherHasUsedSinceStaysAsTheScanHasSeenIt() throws {
        let account = try account(["a": 1])
        let scan = try #require(account.beginScan())
        account.markUsed("a", access: 900_000_000, expiry: 99_000_000_000)
        _ = account.endScan(scan, table(["a": 1]))
        #expect(account.table.record(of: "a") == record(1))
    }

    @Test func aChangeThatOutlivesTheScanIsEnteredWhenItEnds() throws {
        let account = Book()
        let scan = try #require(account.beginScan())
        let change = account.begin("a")
        _ = account.endScan(scan, table(["a": 1]))
        #expect(account.isBusy("a"))
        #expect(account.end(change, .stored(record(3))) == nil)
        #expect(account.table.record(of: "a")?.size == 3)
    }

    @Test func onlyOneScanAtATime() throws {
        let account = Book()
        let scan = try #require(account.beginScan())
        #expect(account.beginScan() == nil)
        account.cancelScan(scan)
        #expect(!account.isComplete)
        #expect(account.beginScan() != nil)
    }

    @Test func aSecondScanKeepsWhatIsKnownUntilItEnds() throws {
        let account = try account(["a": 1, "b": 2])
        let scan = try #require(account.beginScan())
        #expect(account.table.totalSize == 3)
        account.cancelScan(scan)
        #expect(account.table.totalSize == 3)
        #expect(account.isComplete)
    }

    // MARK: Another directory

    @Test func aScanOfAnotherDirectoryCountsForNothing() throws {
        let account = Book()
        let scan = try #require(account.beginScan())
        _ = account.forget()
        #expect(account.endScan(scan, table(["a": 1]))?.count == nil)
        #expect(!account.isComplete)
        #expect(account.table.count == 0)
    }

    @Test func aChangeThatBeganInAnotherDirectoryIsNotBelieved() throws {
        let account = try account(["a": 1])
        let change = account.begin("a")
        _ = account.forget()
        let scan = try #require(account.beginScan())
        let ticket = try #require(account.end(change, .stored(record(3))))
        #expect(account.end(change, .seen(nil), ticket: ticket) == nil)
        _ = account.endScan(scan, table([:]))
        #expect(account.table.count == 0)
    }
}
