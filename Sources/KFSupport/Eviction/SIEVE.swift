// One queue and a hand that sieves it. Knows nothing of keys, values, limits or threads.

/// SIEVE: a hand walks from the oldest entry to the newest, spares what was used since it last came by, and takes the
/// first that was not.
///
/// After Zhang and others, "SIEVE is Simpler than LRU", NSDI 2024. Nothing moves on a hit, nor when an entry is spared.
public struct SIEVE: EvictionPolicy {
    /// How many uses it looks at.
    @inlinable public static var countedUses: UInt8 { 1 }

    private var nodes = EvictionNodes()
    private var queue = EvictionQueue()
    /// What the hand looks at next; none means the oldest.
    private var hand = EvictionQueue.none

    /// An empty order.
    public init() {}

    /// Takes in an entry as the newest one.
    public mutating func insert(_ entry: EvictionEntry, isKnown: Bool) -> EvictionSlot {
        nodes.append(entry, to: &queue)
    }

    /// Forgets the entry at `slot`.
    @discardableResult
    public mutating func remove(_ slot: EvictionSlot) -> EvictionEntry {
        if slot == hand { hand = nodes.newer(than: slot) }
        return nodes.remove(slot, from: &queue)
    }

    /// Takes out the entry that should go next.
    public mutating func evict(tooMuch measure: EvictionMeasure, takeUse: (UInt64) -> Bool) -> EvictionEntry? {
        guard !queue.isEmpty else { return nil }
        // Twice around at most: hits that keep coming meanwhile must not keep the hand going for ever.
        for _ in 0..<2 * queue.count {
            if hand == EvictionQueue.none { hand = queue.oldest }
            guard takeUse(nodes.entry(hand).tag) else { return remove(hand) }
            hand = nodes.newer(than: hand)
        }
        return remove(queue.oldest)
    }
}
