// The limits of the memory store, and which entries are evicted when one is exceeded.

import Foundation
import KFStorage
import KFSupport
import Testing

@Suite struct MemoryEvictionTests {
    let clock = TestClock()

    private func store(_ configuration: MemoryConfiguration = MemoryConfiguration()) -> MemoryStore<Int> {
        MemoryStore(configuration: configuration, clock: clock.read)
    }

    private func present(_ keys: [String], in store: MemoryStore<Int>) -> [String] {
        keys.filter { store.isCached(forKey: $0) }
    }

    @Test("Three entries coexist under a limit of three, and an entry that was not read is evicted first")
    func readEntriesStay() {
        for configuration in [MemoryConfiguration(costLimit: 3), MemoryConfiguration(countLimit: 3)] {
            let store = store(configuration)
            for key in ["a", "b", "c"] { store.store(1, forKey: key, cost: 1) }
            #expect(store.count == 3)
            _ = store.value(forKey: "a")
            #expect(store.isCached(forKey: "b"))  // not a use
            store.store(1, forKey: "d", cost: 1)
            #expect(present(["a", "b", "c", "d"], in: store) == ["a", "c", "d"])
        }
    }

    @Test("A tiny cache holds the entry stored last and the one before", arguments: 3...20)
    func recentlyStoredStay(limit: Int) {
        let store = store(.init(countLimit: limit))
        // All entries have been used repeatedly.
        for number in 0..<limit { store.store(number, forKey: "old \(number)", cost: 1) }
        for _ in 0..<5 { for number in 0..<limit { _ = store.value(forKey: "old \(number)") } }
        for number in 0..<100 {
            store.store(number, forKey: "new \(number)", cost: 1)
            #expect(store.isCached(forKey: "new \(number)"))
            if number > 0, limit > 4 { #expect(store.isCached(forKey: "new \(number - 1)")) }
            #expect(store.count == limit)
        }
    }

    @Test("With a limit of one, the entry stored last is found")
    func limitOfOne() {
        let store = store(.init(countLimit: 1))
        for number in 0..<100 {
            store.store(number, forKey: "\(number)", cost: 1)
            #expect(store.value(forKey: "\(number)") == number)
            #expect(store.count == 1)
        }
    }

    @Test("Entries that were read again survive one long scan")
    func scanResistance() {
        let store = store(.init(costLimit: 1_000))
        let shown = (0..<50).map { "shown \($0)" }
        for key in shown { store.store(1, forKey: key, cost: 10) }
        for key in shown { _ = store.value(forKey: key) }
        for row in 0..<10_000 { store.store(row, forKey: "row \(row)", cost: 10) }
        #expect(present(shown, in: store) == shown)
        #expect(store.totalCost == 1_000)
    }

    @Test("Entries that have not been used for a long time are evicted")
    func unusedEntriesGo() {
        let store = store(.init(countLimit: 100))
        for number in 0..<100 { store.store(number, forKey: "old \(number)", cost: 1) }
        for _ in 0..<3 { for number in 0..<100 { _ = store.value(forKey: "old \(number)") } }
        for _ in 0..<50 {
            for number in 0..<90 where store.value(forKey: "new \(number)") == nil {
                store.store(number, forKey: "new \(number)", cost: 1)
            }
        }
        #expect(present((0..<90).map { "new \($0)" }, in: store).count == 90)
    }

    @Test("Expired entries are evicted before valid ones, however recently they were used")
    func expiredGoFirst() {
        let store = store(.init(countLimit: 3))
        store.store(1, forKey: "old", cost: 1, expiration: .seconds(1_000))
        store.store(1, forKey: "short", cost: 1, expiration: .seconds(10))
        store.store(1, forKey: "new", cost: 1, expiration: .seconds(1_000))
        _ = store.value(forKey: "short")
        clock.advance(20)
        store.store(1, forKey: "newest", cost: 1, expiration: .seconds(1_000))
        #expect(present(["old", "short", "new", "newest"], in: store) == ["old", "new", "newest"])
        #expect(store.counts.expired == 1)
        // The same again at once: it does not depend on how long ago the last one expired.
        store.store(1, forKey: "short", cost: 1, expiration: .seconds(0.001))
        clock.advance(0.001)
        let before = present(["old", "new", "newest"], in: store)
        store.store(1, forKey: "last", cost: 1)
        #expect(present(["old", "new", "newest", "last"], in: store) == before + ["last"])
    }

    @Test("An entry whose life a read has shortened is evicted when it has expired")
    func shortenedExpiry() {
        let store = store(.init(countLimit: 2))
        store.store(1, forKey: "a", cost: 1, expiration: .never)
        store.store(1, forKey: "b", cost: 1, expiration: .seconds(1_000))
        _ = store.value(forKey: "a", extending: .expirationTime(.seconds(5)))
        _ = store.value(forKey: "b", extending: .expirationTime(.seconds(5)))
        clock.advance(6)
        store.removeExpired()
        #expect(store.count == 0)
    }

    @Test("An entry whose life was extended stays, and is evicted when it has expired")
    func extendedExpiry() {
        let store = store()
        for number in 0..<100 { store.store(number, forKey: "\(number)", cost: 1, expiration: .seconds(10)) }
        clock.advance(6)
        for number in 0..<50 { _ = store.value(forKey: "\(number)") }
        clock.advance(6)
        store.removeExpired()
        #expect(store.count == 50)
        clock.advance(4)
        store.removeExpired()
        #expect(store.count == 0)
        #expect(store.counts.expired == 100)
    }

    @Test("A value that alone exceeds the limit is not stored, and removes the old value of its key")
    func tooCostly() {
        let store = store(.init(costLimit: 10))
        store.store(1, forKey: "a", cost: 5)
        store.store(2, forKey: "big", cost: 11)
        #expect(store.value(forKey: "a") == 1)
        #expect(store.value(forKey: "big") == nil)
        store.store(3, forKey: "a", cost: 11)
        #expect(store.value(forKey: "a") == nil)
        store.store(4, forKey: "b", cost: 10)
        #expect(store.value(forKey: "b") == 4)
    }

    @Test("A replaced value's cost does not count, and the new value does not evict itself")
    func replacingUnderALimit() {
        let store = store(.init(costLimit: 10))
        for (number, key) in ["a", "b"].enumerated() { store.store(number, forKey: key, cost: 5) }
        store.store(2, forKey: "a", cost: 3)
        #expect(present(["a", "b"], in: store) == ["a", "b"])
        store.store(3, forKey: "a", cost: 10)
        #expect(present(["a", "b"], in: store) == ["a"])
        #expect(store.value(forKey: "a") == 3)
        #expect(store.totalCost == 10)
    }

    @Test("New limits are enforced at once")
    func newLimits() {
        let store = store()
        for number in 0..<10 { store.store(number, forKey: "\(number)", cost: 10) }
        store.configure { $0.costLimit = 50 }
        #expect(store.count == 5)
        store.configure { $0.countLimit = 2 }
        #expect(store.count == 2)
        #expect(store.isCached(forKey: "9"))
        #expect(store.configuration.costLimit == 50)
        #expect(store.counts.evictedByCost == 5)
        #expect(store.counts.evictedByCount == 3)
    }

    @Test("Zero means no limit, and no sum of costs is too large")
    func zeroMeansNoLimit() {
        let store = store(.init(costLimit: 0, countLimit: 0))
        for number in 0..<1_000 { store.store(number, forKey: "\(number)", cost: .max) }
        #expect(store.count == 1_000)
        #expect(store.totalCost == .max)
        store.configure { $0.costLimit = .max }
        #expect(store.count == 1)
        store.store(1, forKey: "another", cost: .max)
        #expect(store.count == 1)
        store.removeAll()
        #expect(store.totalCost == 0)
    }

    @Test("Shrinking evicts in the usual order and does not change the limits") func shrink() {
        let store = store(.init(costLimit: 100))
        for number in 0..<10 { store.store(number, forKey: "\(number)", cost: 10) }
        for key in ["0", "5"] { _ = store.value(forKey: key) }
        store.shrink(toCost: 1_000)
        #expect(store.count == 10)
        store.shrink(toCost: 35)
        #expect(store.totalCost == 30)
        #expect(store.isCached(forKey: "0") && store.isCached(forKey: "5"))
        #expect(store.counts.purged == 7)
        #expect(store.configuration.costLimit == 100)
        store.shrink(toCost: -1)
        #expect(store.count == 0)
    }
}
