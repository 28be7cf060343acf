// Values by key in order of use, with costs. Knows nothing of limits, expiry or threads.

/// A dictionary that remembers the order of use and sums up costs; every operation takes constant time.
///
/// The nodes lie densely in one array and are linked by position: no object per entry, nothing to chase.
/// A ``Slot`` is such a position. It is good until the next insertion or removal, so a caller that looks at an entry
/// and then changes it hashes the key once.
///
/// Public and inlinable, although it is for our own modules only: the compiler specialises only public generics across
/// modules, and unspecialised this is ten times slower.
public struct LRU<Key: Hashable, Value> {
    /// Where an entry lies until the next insertion or removal.
    public typealias Slot = Int

    /// A slot as it is kept in the nodes: with short links a node of the memory store fills one cache line.
    @usableFromInline typealias Link = Int32

    @usableFromInline
    struct Node {
        @usableFromInline let key: Key
        @usableFromInline var value: Value
        @usableFromInline var cost: Int
        @usableFromInline var newer: Link
        @usableFromInline var older: Link

        @inlinable
        init(key: Key, value: Value, cost: Int) {
            self.key = key
            self.value = value
            self.cost = cost
            newer = LRU.none
            older = LRU.none
        }
    }

    /// The position that stands for "there is none".
    @inlinable static var none: Link { -1 }

    @usableFromInline var slots: [Key: Link] = [:]
    @usableFromInline var nodes: [Node] = []
    @usableFromInline var newest = LRU.none
    @usableFromInline var oldest = LRU.none
    @usableFromInline var costs = 0

    /// An empty list.
    @inlinable
    public init() {}

    /// The sum of the costs of all entries.
    ///
    /// Wraps around beyond `Int.max`, and back when entries go.
    @inlinable public var totalCost: Int { costs }

    /// How many entries there are.
    @inlinable public var count: Int { nodes.count }

    /// Every position that holds an entry, in no particular order.
    @inlinable public var allSlots: Range<Slot> { 0..<nodes.count }

    /// The entry used longest ago.
    @inlinable public var leastRecent: Slot? { oldest == LRU.none ? nil : Slot(oldest) }

    /// Where the entry of `key` lies; does not count as a use.
    @inlinable
    public func slot(forKey key: Key) -> Slot? {
        guard let link = slots[key] else { return nil }
        return Slot(link)
    }

    /// The value at `slot`, to look at or to change in place; does not count as a use.
    @inlinable
    public subscript(slot: Slot) -> Value {
        _read { yield nodes[slot].value }
        _modify { yield &nodes[slot].value }
    }

    /// The key of the entry at `slot`.
    @inlinable
    public func key(at slot: Slot) -> Key { nodes[slot].key }

    /// Makes the entry at `slot` the most recently used one.
    @inlinable
    public mutating func markUsed(_ slot: Slot) {
        guard slot != Slot(newest) else { return }
        unlink(slot)
        linkAsNewest(slot)
    }

    /// Puts `value` in as the most recently used entry and answers what it replaced.
    @inlinable
    @discardableResult
    public mutating func insert(_ value: Value, forKey key: Key, cost: Int) -> Value? {
        costs &+= cost
        if let slot = slot(forKey: key) {
            let replaced = nodes[slot].value
            costs &-= nodes[slot].cost
            nodes[slot].value = value
            nodes[slot].cost = cost
            markUsed(slot)
            return replaced
        }
        slots[key] = Link(nodes.count)
        nodes.append(Node(key: key, value: value, cost: cost))
        linkAsNewest(nodes.count - 1)
        return nil
    }

    /// Takes the entry at `slot` out.
    ///
    /// The last entry moves into the gap, so no other slot is good afterwards.
    @inlinable
    @discardableResult
    public mutating func remove(at slot: Slot) -> Value {
        unlink(slot)
        slots[nodes[slot].key] = nil
        costs &-= nodes[slot].cost
        let last = nodes.removeLast()
        guard slot < nodes.count else { return last.value }

        let removed = nodes[slot].value
        nodes[slot] = last
        slots[last.key] = Link(slot)
        if last.newer == LRU.none { newest = Link(slot) } else { nodes[Slot(last.newer)].older = Link(slot) }
        if last.older == LRU.none { oldest = Link(slot) } else { nodes[Slot(last.older)].newer = Link(slot) }
        return removed
    }

    /// Takes out every entry that `isUnwanted` names, and answers their values.
    @inlinable
    public mutating func removeAll(where isUnwanted: (Value) -> Bool) -> [Value] {
        var removed: [Value] = []
        // Backwards: what moves into a gap has been looked at already.
        for slot in allSlots.reversed() where isUnwanted(nodes[slot].value) {
            removed.append(remove(at: slot))
        }
        return removed
    }

    @inlinable
    mutating func unlink(_ slot: Slot) {
        let (newer, older) = (nodes[slot].newer, nodes[slot].older)
        if newer == LRU.none { newest = older } else { nodes[Slot(newer)].older = older }
        if older == LRU.none { oldest = newer } else { nodes[Slot(older)].newer = newer }
    }

    @inlinable
    mutating func linkAsNewest(_ slot: Slot) {
        nodes[slot].newer = LRU.none
        nodes[slot].older = newest
        if newest == LRU.none { oldest = Link(slot) } else { nodes[Slot(newest)].newer = Link(slot) }
        newest = Link(slot)
    }
}

extension LRU.Node: Sendable where Key: Sendable, Value: Sendable {}
extension LRU: Sendable where Key: Sendable, Value: Sendable {}
