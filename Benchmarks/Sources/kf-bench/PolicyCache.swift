// A cache that stores no values and only counts its hits, for the comparison of eviction orders.

@_spi(Eviction) import KFStorage

/// Counts the hits of a cache with a policy.
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

    /// An empty cache with a limit.
    init(_ policy: Policy, limit: Int, measure: EvictionMeasure) {
        self.policy = policy
        self.limit = limit
        self.measure = measure
    }

    /// The share of requests that find their image when every missing image is stored.
    static func hitRatio(_ policy: Policy, on trace: Trace, share: Double, mixedCosts: Bool) -> Double {
        let all = (0..<trace.objects).reduce(0) { $0 + trace.cost(of: $1, mixed: mixedCosts) }
        let measure: EvictionMeasure = mixedCosts ? .cost : .count
        var cache = PolicyCache(policy, limit: Int(Double(all) * share), measure: measure)
        var hits = 0
        for image in trace.requests
        where cache.request(image, cost: { trace.cost(of: image, mixed: mixedCosts) }) { hits += 1 }
        return Double(hits) / Double(trace.requests.count)
    }

    /// Returns whether the image is stored, and stores it if not.
    private mutating func request(_ image: Int, cost: () -> Int) -> Bool {
        if let resident = residents[image] {
            residents[image]?.uses = min(Policy.countedUses, resident.uses + 1)
            policy.use(resident.slot)
            return true
        }
        let cost = cost()
        guard cost <= limit else { return false }
        while total + cost > limit, let evicted = evict() {
            residents[Int(evicted.tag)] = nil
            total -= evicted.cost
        }
        let digest = UInt64(truncatingIfNeeded: image) &* 0x9E37_79B9_7F4A_7C15
        let entry = EvictionEntry(tag: UInt64(image), digest: digest, cost: cost)
        residents[image] = Resident(slot: policy.insert(entry, isKnown: false))
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
