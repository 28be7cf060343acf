// A cache that holds nothing but counts its hits. Knows no locks, no values and no expiry.

@_spi(Eviction) import KFStorage

/// What a cache with a policy would have found.
struct PolicyCache<Policy: EvictionPolicy> {
    private struct Resident {
        var slot: EvictionSlot
        var uses: UInt8 = 0
    }

    private var policy: Policy
    private let limit: Int
    private let measure: EvictionMeasure
    private var residents: [Int: Resident] = [:]
    private var total = 0

    /// An empty cache that may hold so much.
    init(_ policy: Policy, limit: Int, measure: EvictionMeasure) {
        self.policy = policy
        self.limit = limit
        self.measure = measure
    }

    /// The share of requests that find their picture when every picture that is missing is stored.
    static func hitRatio(_ policy: Policy, on trace: Trace, share: Double, mixedCosts: Bool) -> Double {
        let all = (0..<trace.objects).reduce(0) { $0 + trace.cost(of: $1, mixed: mixedCosts) }
        let measure: EvictionMeasure = mixedCosts ? .cost : .count
        var cache = PolicyCache(policy, limit: Int(Double(all) * share), measure: measure)
        var hits = 0
        for picture in trace.requests
        where cache.request(picture, cost: { trace.cost(of: picture, mixed: mixedCosts) }) { hits += 1 }
        return Double(hits) / Double(trace.requests.count)
    }

    /// Returns whether `picture` is there, and stores it if not.
    private mutating func request(_ picture: Int, cost: () -> Int) -> Bool {
        if let resident = residents[picture] {
            residents[picture]?.uses = min(Policy.countedUses, resident.uses + 1)
            policy.use(resident.slot)
            return true
        }
        let cost = cost()
        guard cost <= limit else { return false }
        while total + cost > limit, let evicted = evict() {
            residents[Int(evicted.tag)] = nil
            total -= evicted.cost
        }
        let digest = UInt64(truncatingIfNeeded: picture) &* 0x9E37_79B9_7F4A_7C15
        let entry = EvictionEntry(tag: UInt64(picture), digest: digest, cost: cost)
        residents[picture] = Resident(slot: policy.insert(entry, isKnown: false))
        total += cost
        return false
    }

    private mutating func evict() -> EvictionEntry? {
        policy.evict(tooMuch: measure) { tag in
            let uses = residents[Int(tag)]?.uses ?? 0
            if uses > 0 { residents[Int(tag)]?.uses = uses - 1 }
            return uses > 0
        }
    }
}
