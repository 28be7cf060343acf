// The memory store against a simple model, over many random steps.

import Foundation
import KFStorage
import KingfisherTestSupport
import Testing

@Suite struct MemoryModelTests {
    /// The entries there may be: the last value of every key, unless it was removed since.
    private struct Model {
        struct Entry {
            let value: Int
            let cost: Int
            var expiry: Double
            let lifetime: Double
        }
        var entries: [String: Entry] = [:]
        var lookups = 0
        var now = 0.0
    }

    private struct World {
        let clock = TestClock()
        let store: MemoryStore<Int>
        var model = Model()
        var random: SeededGenerator

        init(seed: UInt64) {
            random = SeededGenerator(state: seed)
            store = MemoryStore(configuration: .init(costLimit: 500, countLimit: 40), clock: clock.read)
        }

        mutating func step(_ number: Int) throws {
            let key = "key \(random.next() % 80)"
            switch random.next() % 100 {
            case 0..<35: put(number, key)
            case 35..<80: try look(key)
            case 80..<86:
                store.remove(forKey: key)
                model.entries[key] = nil
            case 86..<90:
                let seconds = Double(random.next() % 5)
                clock.advance(seconds)
                model.now += seconds
            case 90..<94: clean()
            case 94..<97: reconfigure()
            case 97: store.shrink(toCost: Int(random.next() % 500))
            case 98:
                store.purge()
                model.entries = [:]
            default:
                store.removeAll()
                model.entries = [:]
            }
        }

        private mutating func put(_ value: Int, _ key: String) {
            let cost = Int(random.next() % 60)
            let lifetime = Double(1 + random.next() % 40)
            store.store(value, forKey: key, cost: cost, expiration: .seconds(lifetime))
            let limit = store.configuration.costLimit
            let fits = limit == 0 || cost <= limit
            #expect(store.isCached(forKey: key) == fits)
            model.entries[key] =
                fits ? .init(value: value, cost: cost, expiry: model.now + lifetime, lifetime: lifetime) : nil
        }

        private mutating func look(_ key: String) throws {
            model.lookups += 1
            let isExtended = random.next() % 2 == 0
            guard let value = store.value(forKey: key, extending: isExtended ? .cacheTime : .none) else { return }
            let entry = try #require(model.entries[key])
            #expect(entry.value == value)
            #expect(entry.expiry > model.now)
            if isExtended { model.entries[key]?.expiry = model.now + entry.lifetime }
        }

        private mutating func clean() {
            store.removeExpired()
            let now = model.now
            model.entries = model.entries.filter { $0.value.expiry > now }
            for number in 0..<80 where store.entry(forKey: "key \(number)") != nil {
                #expect(model.entries["key \(number)"] != nil)
            }
        }

        private mutating func reconfigure() {
            let (cost, count) = (Int(random.next() % 600), Int(random.next() % 50))
            store.configure {
                $0.costLimit = cost
                $0.countLimit = count
            }
        }

        /// Checks the conditions that hold after every step.
        func check() throws {
            let (counts, limits) = (store.counts, store.configuration)
            try #require(limits.costLimit == 0 || counts.cost <= limits.costLimit)
            try #require(limits.countLimit == 0 || counts.entries <= limits.countLimit)
            try #require(counts.hits + counts.misses == model.lookups)
            try #require(counts.stores - counts.gone == counts.entries)
            let resident = model.entries.filter { store.entry(forKey: $0.key) != nil }
            try #require(counts.entries == resident.count)
            try #require(counts.cost == resident.values.reduce(0) { $0 + $1.cost })
        }
    }

    @Test("Limits, values and sums hold after every random step", arguments: 1...4)
    func randomSteps(seed: UInt64) throws {
        var world = World(seed: seed)
        for number in 0..<4_000 {
            try world.step(number)
            try world.check()
        }
        // The conditions did not hold merely because no entry was ever found.
        #expect(world.store.counts.hits > 100)
        #expect(world.store.counts.evictedByCost + world.store.counts.evictedByCount > 100)
    }
}
