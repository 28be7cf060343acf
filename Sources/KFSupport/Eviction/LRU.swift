// Least recently used goes first. Knows nothing of keys, values, limits or threads.

/// The exact order of use: what has not been used for longest goes.
///
/// Every hit has to move its entry, so hits need the lock of the order; and one long walk over things seen once drives
/// out everything else. It is here to compare the others with.
public struct LRU: EvictionPolicy {
    /// How many uses it looks at.
    @inlinable public static var countedUses: UInt8 { 0 }

    private var nodes = EvictionNodes()
    private var queue = EvictionQueue()

    /// An empty order.
    public init() {}

    /// Takes in an entry as the newest one.
    public mutating func insert(_ entry: EvictionEntry, isKnown: Bool) -> EvictionSlot {
        nodes.append(entry, to: &queue)
    }

    /// Forgets the entry at `slot`.
    @discardableResult
    public mutating func remove(_ slot: EvictionSlot) -> EvictionEntry { nodes.remove(slot, from: &queue) }

    /// Moves the entry at `slot` to the end that stays longest.
    public mutating func use(_ slot: EvictionSlot) { nodes.renew(slot, in: &queue) }

    /// Takes out the entry that should go next.
    public mutating func evict(tooMuch measure: EvictionMeasure, takeUse: (UInt64) -> Bool) -> EvictionEntry? {
        queue.isEmpty ? nil : nodes.remove(queue.oldest, from: &queue)
    }
}
