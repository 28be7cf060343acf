// The limits, the eviction order, the expiries and the versions of a memory store. For MemoryCore.

import Foundation

/// The state that every operation that adds or removes entries updates.
struct MemoryOrder: Sendable {
    /// Why an entry was evicted or removed: the count to increase.
    typealias Reason = WritableKeyPath<MemoryCounts, Int>

    var configuration: MemoryConfiguration
    /// Unlike with LRU, a hit does not need the lock of the order.
    private var policy = S3FIFO()
    var expiries = MemoryExpiries()
    /// The sum of costs; exact, however much the entries cost.
    private var totalCost: Int128 = 0
    /// All counts but those of hits and misses, the number of entries included.
    private(set) var counts = MemoryCounts()

    /// Changes are counted per group of keys: the count needs no entry per key and outlives the entries.
    private var changes = [UInt64](repeating: 0, count: 256)
    private var clears: UInt64 = 0

    init(configuration: MemoryConfiguration) { self.configuration = configuration }

    /// The sum of costs.
    var cost: Int { Int(clamping: totalCost) }

    // MARK: Versions

    func version(of digest: UInt64) -> MemoryVersion {
        // Both only grow, so their sum changes when either does.
        MemoryVersion(number: changes[group(of: digest)] &+ clears)
    }

    mutating func countChange(of digest: UInt64) { changes[group(of: digest)] &+= 1 }

    /// Counts a change of every key.
    mutating func countChangeOfAll() { clears &+= 1 }

    private func group(of digest: UInt64) -> Int { Int(digest >> 8 & 255) }

    // MARK: Entries

    /// The limit that another entry of that cost would exceed.
    func excess(with cost: Int? = nil) -> EvictionMeasure? {
        let (costLimit, countLimit) = (configuration.costLimit, configuration.countLimit)
        if costLimit > 0, totalCost + Int128(cost ?? 0) > Int128(costLimit) { return .cost }
        return countLimit > 0 && counts.entries + (cost == nil ? 0 : 1) > countLimit ? .count : nil
    }

    mutating func insert(_ entry: EvictionEntry, isKnown: Bool) -> EvictionSlot {
        counts.entries += 1
        counts.stores += 1
        totalCost += Int128(entry.cost)
        return policy.insert(entry, isKnown: isKnown)
    }

    mutating func remove(_ slot: EvictionSlot, because reason: Reason) {
        forget(policy.remove(slot), because: reason)
    }

    /// Takes the next eviction candidate out of the order, and returns the digest of its key.
    mutating func evict(
        tooMuch measure: EvictionMeasure,
        because reason: Reason?,
        takeUse: (UInt64) -> Bool
    ) -> UInt64? {
        guard let entry = policy.evict(tooMuch: measure, takeUse: takeUse) else { return nil }
        forget(entry, because: reason ?? (measure == .cost ? \.evictedByCost : \.evictedByCount))
        return entry.digest
    }

    /// Forgets all entries.
    mutating func clear(because reason: Reason) {
        clears &+= 1
        counts[keyPath: reason] += counts.entries
        counts.entries = 0
        totalCost = 0
        policy = S3FIFO()
        expiries.removeAll()
    }

    private mutating func forget(_ entry: EvictionEntry, because reason: Reason) {
        counts.entries -= 1
        counts[keyPath: reason] += 1
        totalCost -= Int128(entry.cost)
    }
}
