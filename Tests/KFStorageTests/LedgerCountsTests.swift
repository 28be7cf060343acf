// What has happened in a directory over its life, as its ledger tells it.

import Foundation
import Glibc
import KFSupport
import Testing

@testable import KFStorage

@Suite struct LedgerCountsTests {
    let ticks = TestTicks()
    let scratch: Scratch
    let store: FileStore

    init() throws {
        scratch = try Scratch()
        store = FileStore(path: scratch("cache"), ticks: ticks.read)
    }

    private func anotherStore() -> FileStore { FileStore(path: scratch("cache"), ticks: ticks.read) }

    private func write(_ name: String, to store: FileStore) throws {
        try store.write(Data(count: 10), to: name, expiration: .days(1))
    }

    @Test func theCountsOfWhoOnlyReadsReachTheLedger() throws {
        do {
            let reader = anotherStore()
            #expect(try reader.read("a") == nil)
            try write("a", to: store)
            ticks.advance(1_000)
            #expect(try reader.read("a") != nil)
        }
        let counts = try #require(store.lifetimeCounts())
        #expect(counts.files.hits == 1)
        #expect(counts.files.misses == 1)
    }

    @Test func noCountsAreShownFromALedgerThatCannotBeUsed() throws {
        try write("a", to: store)
        #expect(anotherStore().lifetimeCounts() != nil)
        try #require(chmod(scratch("cache"), 0o777) == 0)
        #expect(anotherStore().lifetimeCounts() == nil)
    }

    @Test func countsAddUpOverStoresAndRestarts() throws {
        do {
            let first = anotherStore()
            for name in ["a", "b"] { try write(name, to: first) }
            _ = try first.read("a")
            first.recordAbove { [5, 2] }
        }
        try write("c", to: store)
        _ = try store.read("missing")
        store.recordAbove { [1, 1] }
        let counts = try #require(anotherStore().lifetimeCounts())
        // What has not been reported yet is at most a second old.
        #expect(counts.files.stores == 3)
        #expect(counts.files.bytesWritten == 30)
        #expect(counts.above[0] == 6)
        #expect(counts.above[1] == 3)
        #expect(try #require(store.lifetimeCounts()).files.misses == 1)
        #expect(try #require(store.lifetimeCounts()).files.hits == 1)
    }

    @Test(arguments: [Int.min, .max]) func countsThatNobodyCanHaveReachedCanBeAddedUp(count: Int) throws {
        try write("a", to: store)
        let ledger = try #require(Ledger.of(try Directory.create(scratch(".cache.tmp"))))
        for place in 0..<64 { ledger.add(count &- ledger.count(place), to: place) }
        let counts = try #require(anotherStore().lifetimeCounts())
        for number in [counts.files.hits, counts.files.misses] + counts.above {
            #expect(number >= 0 && number &+ number >= 0)
        }
    }

    @Test func askingForCountsMakesNothing() {
        #expect(store.lifetimeCounts() == nil)
        #expect(names(in: scratch.path) == [])
    }
}
