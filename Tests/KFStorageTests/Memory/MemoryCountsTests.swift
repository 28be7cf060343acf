// The counts of the memory store: look-ups, stores, removals, evictions.

import Foundation
import KFStorage
import Testing

@Suite struct MemoryCountsTests {
    let clock = TestClock()

    @Test("Every look-up, store and removal is counted once") func countsEveryChange() {
        let store = MemoryStore<Int>(configuration: .init(costLimit: 10, countLimit: 4), clock: clock.read)
        for number in 0..<4 { store.store(number, forKey: "\(number)", cost: 1) }
        store.store(9, forKey: "3", cost: 2)  // replaced
        store.store(4, forKey: "4", cost: 1)  // evicts by count
        store.store(5, forKey: "5", cost: 8)  // evicts by cost
        _ = store.value(forKey: "5")
        _ = store.value(forKey: "5", extending: .none)
        _ = store.value(forKey: "absent")
        _ = store.isCached(forKey: "absent")
        store.remove(forKey: "absent")
        store.remove(forKey: "5")
        store.store(6, forKey: "6", cost: 1, expiration: .seconds(1))
        clock.advance(1)
        _ = store.value(forKey: "6")
        store.removeExpired()
        let counts = store.counts
        #expect(counts.hits == 2)
        #expect(counts.misses == 2)
        #expect(counts.stores == 8)
        #expect(counts.replaced == 1)
        #expect(counts.evictedByCount == 1)
        #expect(counts.evictedByCost == 3)
        #expect(counts.removed == 1)
        #expect(counts.expired == 1)
        #expect(counts.entries == store.count)
        #expect(counts.cost == store.totalCost)
        #expect(counts.entries == counts.stores - counts.gone)
    }

    @Test("Entries removed and entries purged are counted separately") func removedAndPurged() {
        let store = MemoryStore<Int>()
        for number in 0..<5 { store.store(number, forKey: "\(number)", cost: 1) }
        store.purge()
        for number in 0..<7 { store.store(number, forKey: "\(number)", cost: 1) }
        store.removeAll()
        #expect(store.counts.purged == 5)
        #expect(store.counts.removed == 7)
        #expect(store.counts.entries == 0)
        for number in 0..<3 { store.store(number, forKey: "\(number)", cost: 1) }
        store.purgeAll()
        #expect(store.counts.purged == 8 && store.counts.removed == 7 && store.counts.entries == 0)
    }
}

extension MemoryCounts {
    /// The number of entries that were removed in any way.
    var gone: Int { evictedByCost + evictedByCount + expired + purged + removed + replaced }
}
