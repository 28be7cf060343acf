// The memory store: look-ups, expiry, removal and versions.

import Foundation
import KFStorage
import KFSupport
import Testing

@Suite struct MemoryStoreTests {
    let clock = TestClock()

    private func store(_ configuration: MemoryConfiguration = MemoryConfiguration()) -> MemoryStore<Int> {
        MemoryStore(configuration: configuration, clock: clock.read)
    }

    @Test("A stored value is read, and replaced under the same key")
    func storeAndReplace() {
        let store = store()
        store.store(1, forKey: "a", cost: 1)
        #expect(store.value(forKey: "a") == 1)
        store.store(2, forKey: "a", cost: 5)
        #expect(store.value(forKey: "a") == 2)
        #expect(store.totalCost == 5)
        #expect(store.count == 1)
    }

    @Test("Objects are returned as the same instance and released when they are removed") func objectIdentity() {
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

    @Test("The expiration is the given one, or the one configured when the value was stored")
    func defaultExpiration() {
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

    @Test("Storing an expired value leaves the entry, and a value that is being made may still come after it")
    func storeExpired() {
        let store = store()
        store.store(1, forKey: "a", cost: 1)
        let before = store.version(forKey: "b")
        for expiration in [StorageExpiration.expired, .seconds(0), .days(-1), .date(.distantPast), .seconds(.nan)] {
            store.store(2, forKey: "a", cost: 1, expiration: expiration)
            store.store(2, forKey: "b", cost: 1, expiration: expiration)
            #expect(store.value(forKey: "a") == 1 && store.count == 1)
        }
        store.store(3, forKey: "b", cost: 1, ifVersion: before)
        #expect(store.value(forKey: "b") == 3)
    }

    @Test("If asked for, storing an expired value removes the entry") func removeIfExpired() {
        let store = store()
        store.store(1, forKey: "a", cost: 1)
        store.store(2, forKey: "a", cost: 1, expiration: .expired, removingIfExpired: true)
        #expect(store.value(forKey: "a") == nil && store.count == 0)
    }

    @Test("An expired entry is not found, but stays until expired entries are removed")
    func expiredEntryStays() {
        let store = store()
        store.store(1, forKey: "a", cost: 7, expiration: .seconds(10))
        clock.advance(10)
        #expect(store.value(forKey: "a") == nil)
        #expect(store.totalCost == 7)
        store.removeExpired()
        #expect(store.totalCost == 0)
        #expect(store.count == 0)
    }

    @Test("Reading extends the life of an entry as the caller says")
    func readingExtends() {
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

    @Test("`isCached` does not extend the life of an entry")
    func probeExpiry() {
        let store = store()
        store.store(1, forKey: "a", cost: 1, expiration: .seconds(10))
        clock.advance(6)
        #expect(store.isCached(forKey: "a"))
        clock.advance(6)
        #expect(!store.isCached(forKey: "a"))
    }

    @Test("An expiry given as a date stays, however often it is read")
    func absoluteDateStays() {
        let store = store()
        store.store(1, forKey: "a", cost: 1, expiration: .date(clock.now + 10))
        clock.advance(9)
        #expect(store.value(forKey: "a") == 1)
        clock.advance(1)
        #expect(store.value(forKey: "a") == nil)
    }

    @Test("A purge keeps only the entries that were stored to survive it")
    func purgeSparesSurvivors() {
        let store = store()
        store.store(1, forKey: "before", cost: 1)
        store.configure { $0.survivesPurge = true }
        store.store(2, forKey: "after", cost: 1)
        store.purge()
        #expect(!store.isCached(forKey: "before"))
        #expect(store.isCached(forKey: "after"))
    }

    @Test("Removing one entry keeps the others, and removing all keeps none") func removeOneAndAll() {
        let store = store()
        for key in ["a", "b", "c"] { store.store(1, forKey: key, cost: 1) }
        store.remove(forKey: "b")
        store.remove(forKey: "absent")
        #expect(store.count == 2)
        store.removeAll()
        #expect(store.count == 0)
        #expect(store.totalCost == 0)
    }

    @Test("A store with an outdated version does not bring back a removed or replaced value") func staleVersion() {
        let store = store()
        let beforeRemoval = store.version(forKey: "a")
        store.remove(forKey: "a")
        store.store(1, forKey: "a", cost: 1, ifVersion: beforeRemoval)
        #expect(store.value(forKey: "a") == nil)

        let beforeClearing = store.version(forKey: "a")
        store.removeAll()
        store.store(1, forKey: "a", cost: 1, ifVersion: beforeClearing)
        #expect(store.value(forKey: "a") == nil)

        let beforeChange = store.version(forKey: "a")
        store.recordChangeOfAll()
        store.store(1, forKey: "a", cost: 1, ifVersion: beforeChange)
        #expect(store.value(forKey: "a") == nil)

        let beforeStore = store.version(forKey: "a")
        store.store(2, forKey: "a", cost: 1)
        store.store(1, forKey: "a", cost: 1, ifVersion: beforeStore)
        #expect(store.value(forKey: "a") == 2)

        store.remove(forKey: "a")
        store.store(3, forKey: "a", cost: 1, ifVersion: store.version(forKey: "a"))
        #expect(store.value(forKey: "a") == 3)
    }

    @Test("A store with a version that may replace does so, unless the entry has been removed since")
    func replacingWithVersion() {
        let store = store()
        store.store(1, forKey: "a", cost: 1)
        let before = store.version(forKey: "a")
        store.store(2, forKey: "a", cost: 1, ifVersion: before, replacing: true)
        #expect(store.value(forKey: "a") == 2)
        store.remove(forKey: "a")
        store.store(3, forKey: "a", cost: 1, ifVersion: before, replacing: true)
        #expect(store.value(forKey: "a") == nil)
    }

    @Test("A store with a version does not change the versions of other keys") func independentVersions() {
        let store = store()
        let keys = (0..<1_000).map(String.init)
        let versions = keys.map { store.version(forKey: $0) }
        for (key, version) in zip(keys, versions) {
            store.store(1, forKey: key, cost: 0, ifVersion: version)
        }
        #expect(keys.allSatisfy { store.isCached(forKey: $0) })
    }

    @Test("A store with a version replaces no valid value") func keptValidValue() {
        let store = store()
        let before = store.version(forKey: "a")
        store.store(2, forKey: "a", cost: 1, expiration: .seconds(10), ifVersion: before)
        store.store(1, forKey: "a", cost: 1, ifVersion: before)
        store.store(1, forKey: "a", cost: 1, expiration: .expired, ifVersion: before)
        #expect(store.value(forKey: "a", extending: .none) == 2)
        clock.advance(10)
        store.store(3, forKey: "a", cost: 1, ifVersion: before)
        #expect(store.value(forKey: "a") == 3)
    }

    @Test("A recorded change outdates the version and keeps the entry") func notedChange() {
        let store = store()
        store.store(1, forKey: "b", cost: 1)
        let before = store.version(forKey: "a")
        store.recordChange(forKey: "a")
        store.recordChange(forKey: "b")
        store.store(1, forKey: "a", cost: 1, ifVersion: before)
        #expect(store.value(forKey: "a") == nil && store.value(forKey: "b") == 1)
    }

    @Test("Keys are compared by their bytes") func keyBytes() {
        let store = store()
        let keys = ["", "a", "a\u{0}", "é", "e\u{301}", "12345678", "123456789", String(repeating: "x", count: 10_000)]
        for (number, key) in keys.enumerated() { store.store(number, forKey: key, cost: 1) }
        #expect(keys.map { store.value(forKey: $0) } == Array(keys.indices))
    }

}
