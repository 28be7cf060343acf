// The hit ratio of a memory cache, by eviction order.

@_spi(Eviction) import KFStorage

let hitRatioBenchmarks = [
    Workload(
        name: "Zipf(0.9) with scans, cache 1 %",
        share: 0.01,
        leastOfLRU: 1
    ) { .zipf(0.9, count: 100_000, length: 500_000, scan: 2_000, every: 20_000) },
    // Here only an exact order of use helps.
    Workload(
        name: "scrolling, cache 5 %",
        share: 0.05,
        leastOfLRU: 0.9
    ) { .scrolling(rows: 20_000, window: 20, pinned: 8, moves: 3_000) },
].flatMap(\.benchmarks)

/// Requests, and a cache for them.
private struct Workload {
    let name: String
    /// The size of the cache, as a part of all objects.
    let share: Double
    /// The least hit ratio of the memory store's own order, as a part of that of LRU.
    let leastOfLRU: Double
    let trace: @Sendable () -> Trace

    /// Every order against LRU, with objects that cost the same and with objects of all sizes.
    var benchmarks: [Benchmark] {
        [false, true].flatMap { mixed in
            [
                row(SIEVE(), named: "SIEVE", mixed, .shown),
                row(S3FIFO(share: 0.1...0.1), named: "plain S3-FIFO", mixed, .shown),
                row(S3FIFO(), named: "the store's S3-FIFO", mixed, .atLeastTimes(leastOfLRU)),
            ]
        }
    }

    private func row<Policy: EvictionPolicy>(
        _ policy: Policy,
        named policyName: String,
        _ mixed: Bool,
        _ goal: Goal
    ) -> Benchmark {
        let (trace, share) = (trace, share)
        let name = "hit ratio, \(name), \(mixed ? "mixed" : "equal") sizes: \(policyName) against LRU"
        return Benchmark(name: name) {
            let trace = trace()
            let ours = PolicyCache.hitRatio(policy, on: trace, share: share, mixedCosts: mixed)
            let baseline = PolicyCache.hitRatio(LRU(), on: trace, share: share, mixedCosts: mixed)
            return Figure(.fraction(ours), baseline: .fraction(baseline), goal)
        }
    }
}
