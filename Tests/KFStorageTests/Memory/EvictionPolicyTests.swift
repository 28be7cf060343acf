// The eviction order, without a cache around it.

import KingfisherTestSupport
import Testing

@testable import KFStorage

/// A cache that holds keys only.
private struct Harness {
    var policy: S3FIFO
    let limit: Int
    private(set) var slots: [Int: EvictionSlot] = [:]
    private(set) var costs: [Int: Int] = [:]
    private var uses: [Int: UInt8] = [:]

    init(_ policy: S3FIFO = S3FIFO(), limit: Int) {
        self.policy = policy
        self.limit = limit
    }

    var keys: [Int] { slots.keys.sorted() }
    var cost: Int { costs.values.reduce(0, +) }

    mutating func store(_ key: Int, cost: Int = 1) {
        let isKnown = slots[key] != nil
        remove(key)
        while self.cost + cost > limit, evict() != nil {}
        slots[key] = policy.insert(.init(digest: UInt64(key), cost: cost), isKnown: isKnown)
        costs[key] = cost
        uses[key] = 0
    }

    mutating func use(_ key: Int) {
        if slots[key] != nil { uses[key] = min(S3FIFO.countedUses, (uses[key] ?? 0) + 1) }
    }

    mutating func remove(_ key: Int) {
        guard let slot = slots.removeValue(forKey: key) else { return }
        costs[key] = nil
        #expect(policy.remove(slot).digest == UInt64(key))
    }

    mutating func evict() -> Int? {
        let evicted = policy.evict(tooMuch: .cost) { digest in
            let left = uses[Int(digest)] ?? 0
            if left > 0 { uses[Int(digest)] = left - 1 }
            return left > 0
        }
        guard let evicted else { return nil }
        let key = Int(evicted.digest)
        #expect(slots.removeValue(forKey: key) != nil)
        #expect(costs.removeValue(forKey: key) == evicted.cost)
        return key
    }
}

@Suite struct EvictionPolicyTests {
    @Test("A scan evicts nothing from the main queue") func scanResistance() {
        var cache = Harness(limit: 100)
        for key in 0..<100 { cache.store(key) }
        for key in 0..<60 { cache.use(key) }
        for key in 1_000..<5_000 { cache.store(key) }
        #expect(cache.keys.filter { $0 < 60 } == Array(0..<60))
    }

    @Test("An entry that comes back soon after its eviction goes to the main queue") func ghostHit() {
        var cache = Harness(limit: 100)
        for key in 0..<150 { cache.store(key) }
        #expect(!cache.keys.contains(40))
        cache.store(40)
        for key in 1_000..<2_000 { cache.store(key) }
        #expect(cache.keys.contains(40))
    }

    @Test("The small queue grows when entries evicted from it come back") func adaptiveSmallQueue() {
        // A list is scrolled up and down; it is longer than the small queue is at first, and shorter than the cache.
        func hits(_ policy: S3FIFO) -> Int {
            var cache = Harness(policy, limit: 200)
            for key in 10_000..<10_200 { cache.store(key) }
            for _ in 0..<3 { for key in 10_000..<10_200 { cache.use(key) } }
            var hits = 0
            for round in 0..<60 {
                // Each round looks through a new part of the list, forwards and back.
                let part = Array(round * 60..<round * 60 + 60)
                for key in part + part.reversed() {
                    if cache.slots[key] == nil {
                        cache.store(key)
                    } else {
                        cache.use(key)
                        hits += 1
                    }
                }
            }
            return hits
        }
        #expect(hits(S3FIFO()) > hits(S3FIFO(share: 0.1...0.1)) * 3 / 2)
    }

    @Test("An eviction ends even if every entry is used again during it") func boundedEviction() {
        var fifo = S3FIFO()
        for key in 0..<10 {
            _ = fifo.insert(EvictionEntry(digest: UInt64(key), cost: 1), isKnown: false)
        }
        for _ in 0..<10 { #expect(fifo.evict(tooMuch: .count) { _ in true } != nil) }
        #expect(fifo.evict(tooMuch: .count) { _ in true } == nil)
    }

    @Test("Every entry that was inserted and not removed is evicted exactly once") func tracksEntries() {
        var random = SeededGenerator(state: 42)
        var cache = Harness(limit: 200)
        for _ in 0..<20_000 {
            let key = Int(random.next() % 60)
            switch random.next() % 8 {
            case 0...2: cache.store(key, cost: Int(random.next() % 30))
            case 3: cache.remove(key)
            case 4 where random.next() % 10 == 0: _ = cache.evict()
            default: cache.use(key)
            }
            #expect(cache.cost <= 200)
        }
        let expected = cache.keys
        var evicted: [Int] = []
        while let key = cache.evict() { evicted.append(key) }
        #expect(evicted.sorted() == expected)
    }

    @Test("Ghosts are forgotten in the order they came") func ghostOrder() {
        var ghosts = GhostList()
        for digest in 0..<1_000 as Range<UInt64> { ghosts.append(digest, keeping: 10) }
        #expect(ghosts.count == 10)
        func forget(_ digests: UInt64...) -> [Bool] { digests.map { ghosts.remove($0) } }
        #expect(forget(989, 990, 990) == [false, true, false])
        // The age of a digest that comes again counts from then on.
        ghosts.append(991, keeping: 10)
        for digest in 2_000..<2_009 as Range<UInt64> { ghosts.append(digest, keeping: 10) }
        #expect(forget(991, 992, 2_000) == [true, false, true])
    }
}
