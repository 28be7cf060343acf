// The memory store: expiry, limits, order of eviction, generations. MEM-1 to MEM-15, MEM-20.

import Foundation
import KFStorage
import KFSupport
import Testing

@Suite struct MemoryStoreTests {
    let clock = TestClock()

    private func store(_ configuration: MemoryConfiguration = MemoryConfiguration()) -> MemoryStore<Int> {
        MemoryStore(configuration: configuration, clock: clock.read)
    }

    @Test func whatIsStoredIsReadAndReplaced() {
        let store = store()
        store.store(1, forKey: "a", cost: 1)
        #expect(store.value(forKey: "a") == 1)
        store.store(2, forKey: "a", cost: 5)
        #expect(store.value(forKey: "a") == 2)
        #expect(store.totalCost == 5)
        #expect(store.count == 1)
    }

    @Test func objectsComeBackAsTheyAreAndGoWithTheStore() {
        final class Token: Sendable {}
        let store = MemoryStore<Token>()
        var token: Token? = Token()
        weak let watched = token
        if let token { store.store(token, forKey: "a", cost: 1) }
        #expect(store.value(forKey: "a") === token)
        token = nil
        #expect(watched != nil)
        store.remove(forKey: "a")
        #expect(watched == nil)
    }

    @Test func theExpirationIsTheGivenOneOrTheConfiguredOneOfThatMoment() {
        let store = store(.init(expiration: .seconds(10)))
        store.store(1, forKey: "configured", cost: 1)
        store.store(2, forKey: "given", cost: 1, expiration: .seconds(30))
        store.configure { $0.expiration = .seconds(1) }
        clock.advance(9)
        #expect(store.isCached(forKey: "configured"))
        clock.advance(1)
        #expect(!store.isCached(forKey: "configured"))
        #expect(store.isCached(forKey: "given"))
    }

    @Test func storingWhatIsExpiredRemovesWhatWasThere() {
        let store = store()
        store.store(1, forKey: "a", cost: 1)
        store.store(2, forKey: "a", cost: 1, expiration: .expired)
        #expect(store.value(forKey: "a") == nil)
        #expect(store.count == 0)
    }

    @Test func anExpiredEntryIsNotFoundButStaysUntilItIsCleanedAway() {
        let store = store()
        store.store(1, forKey: "a", cost: 7, expiration: .seconds(10))
        clock.advance(10)
        #expect(store.value(forKey: "a") == nil)
        #expect(store.totalCost == 7)
        store.removeExpired()
        #expect(store.totalCost == 0)
        #expect(store.count == 0)
    }

    @Test func readingExtendsAsAsked() {
        let store = store()
        for key in ["default", "none", "longer"] { store.store(1, forKey: key, cost: 1, expiration: .seconds(10)) }
        clock.advance(6)
        _ = store.value(forKey: "default")
        _ = store.value(forKey: "none", extending: .none)
        _ = store.value(forKey: "longer", extending: .expirationTime(.seconds(100)))
        clock.advance(6)
        #expect(store.isCached(forKey: "default"))
        #expect(!store.isCached(forKey: "none"))
        clock.advance(90)
        #expect(!store.isCached(forKey: "default"))
        #expect(store.isCached(forKey: "longer"))
    }

    @Test func askingDoesNotExtend() {
        let store = store()
        store.store(1, forKey: "a", cost: 1, expiration: .seconds(10))
        clock.advance(6)
        #expect(store.isCached(forKey: "a"))
        clock.advance(6)
        #expect(!store.isCached(forKey: "a"))
    }

    @Test func anAbsoluteDateStaysHoweverOftenItIsRead() {
        let store = store()
        store.store(1, forKey: "a", cost: 1, expiration: .date(clock.now + 10))
        clock.advance(9)
        #expect(store.value(forKey: "a") == 1)
        clock.advance(1)
        #expect(store.value(forKey: "a") == nil)
    }

    @Test func theLeastRecentlyUsedGoesFirst() {
        let store = store(.init(costLimit: 3))
        for key in ["a", "b", "c"] { store.store(1, forKey: key, cost: 1) }
        #expect(store.count == 3)
        _ = store.value(forKey: "a")
        #expect(store.isCached(forKey: "b"))  // not a use
        store.store(1, forKey: "d", cost: 1)
        #expect(["a", "b", "c", "d"].filter { store.isCached(forKey: $0) } == ["a", "c", "d"])
    }

    @Test func expiredEntriesGoBeforeLivingOnes() {
        let store = store(.init(countLimit: 3))
        store.store(1, forKey: "old", cost: 1, expiration: .seconds(1_000))
        store.store(1, forKey: "short", cost: 1, expiration: .seconds(10))
        store.store(1, forKey: "new", cost: 1, expiration: .seconds(1_000))
        clock.advance(20)
        store.store(1, forKey: "newest", cost: 1, expiration: .seconds(1_000))
        #expect(["old", "short", "new", "newest"].filter { store.isCached(forKey: $0) } == ["old", "new", "newest"])
    }

    @Test func whatAloneExceedsTheLimitIsKeptOut() {
        let store = store(.init(costLimit: 10))
        store.store(1, forKey: "a", cost: 5)
        store.store(2, forKey: "big", cost: 11)
        #expect(store.value(forKey: "a") == 1)
        #expect(store.value(forKey: "big") == nil)
        store.store(3, forKey: "a", cost: 11)
        #expect(store.value(forKey: "a") == nil)
    }

    @Test func newLimitsHoldAtOnce() {
        let store = store()
        for number in 0..<10 { store.store(number, forKey: "\(number)", cost: 10) }
        store.configure { $0.costLimit = 50 }
        #expect(store.count == 5)
        store.configure { $0.countLimit = 2 }
        #expect(store.count == 2)
        #expect(store.isCached(forKey: "9"))
        #expect(store.configuration.costLimit == 50)
    }

    @Test func zeroMeansNoLimit() {
        let store = store(.init(costLimit: 0, countLimit: 0))
        for number in 0..<1_000 { store.store(number, forKey: "\(number)", cost: .max) }
        #expect(store.count == 1_000)
        store.removeAll()
        #expect(store.totalCost == 0)
    }

    @Test func aPurgeSparesWhatWasStoredToSurvive() {
        let store = store()
        store.store(1, forKey: "before", cost: 1)
        store.configure { $0.survivesPurge = true }
        store.store(2, forKey: "after", cost: 1)
        store.purge()
        #expect(!store.isCached(forKey: "before"))
        #expect(store.isCached(forKey: "after"))
    }

    @Test func removingOneAndAll() {
        let store = store()
        for key in ["a", "b", "c"] { store.store(1, forKey: key, cost: 1) }
        store.remove(forKey: "b")
        store.remove(forKey: "absent")
        #expect(store.count == 2)
        store.removeAll()
        #expect(store.count == 0)
        #expect(store.totalCost == 0)
    }

    @Test func aSlowReadDoesNotBringBackWhatWasRemovedMeanwhile() {
        let store = store()
        let beforeRemoval = store.generation(forKey: "a")
        store.remove(forKey: "a")
        store.store(1, forKey: "a", cost: 1, ifGeneration: beforeRemoval)
        #expect(store.value(forKey: "a") == nil)

        let beforeClearing = store.generation(forKey: "a")
        store.removeAll()
        store.store(1, forKey: "a", cost: 1, ifGeneration: beforeClearing)
        #expect(store.value(forKey: "a") == nil)

        let beforeStore = store.generation(forKey: "a")
        store.store(2, forKey: "a", cost: 1)
        store.store(1, forKey: "a", cost: 1, ifGeneration: beforeStore)
        #expect(store.value(forKey: "a") == 2)

        store.remove(forKey: "a")
        store.store(3, forKey: "a", cost: 1, ifGeneration: store.generation(forKey: "a"))
        #expect(store.value(forKey: "a") == 3)
    }

    @Test func keysAreBytes() {
        let store = store()
        let keys = ["", "a", "a\u{0}", "é", "e\u{301}", "12345678", "123456789", String(repeating: "x", count: 10_000)]
        for (number, key) in keys.enumerated() { store.store(number, forKey: key, cost: 1) }
        #expect(keys.map { store.value(forKey: $0) } == Array(keys.indices))
    }

    @Test func valuesMayCallBackWhenTheyGo() {
        final class Caller: Sendable {
            let store: MemoryStore<Caller>
            init(_ store: MemoryStore<Caller>) { self.store = store }
            deinit { store.remove(forKey: "other") }
        }
        let store = MemoryStore<Caller>(configuration: .init(countLimit: 1))
        store.store(Caller(store), forKey: "a", cost: 1)
        store.store(Caller(store), forKey: "a", cost: 1)
        store.store(Caller(store), forKey: "b", cost: 1)
        store.removeAll()
        #expect(store.count == 0)
    }

    @Test func manyThreadsMayUseItAtOnce() async {
        let store = MemoryStore<Int>(configuration: .init(countLimit: 50))
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for step in 0..<5_000 {
                        let key = "\((step &* 31 &+ thread) % 100)"
                        switch step % 7 {
                        case 0, 1: store.store(step, forKey: key, cost: 1)
                        case 2: store.remove(forKey: key)
                        case 3: store.removeExpired()
                        case 4: store.configure { $0.expiration = .seconds(Double(step % 3)) }
                        default: _ = store.value(forKey: key)
                        }
                    }
                }
            }
        }
        #expect(store.count <= 50)
        #expect(store.totalCost == store.count)
    }
}
