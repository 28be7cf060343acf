// Eviction orders that the memory store's order is compared with.

@_spi(Eviction) import KFStorage

/// Decides which entry of a full cache is evicted next; the memory store's own order is described at `S3FIFO`.
protocol EvictionPolicy: Sendable {
    static var countedUses: UInt8 { get }
    mutating func insert(_ entry: EvictionEntry, isKnown: Bool) -> EvictionSlot
    /// The entry at `slot` was used; only an exact order of use needs this call.
    mutating func use(_ slot: EvictionSlot)
    mutating func evict(tooMuch measure: EvictionMeasure, takeUse: (_ tag: UInt64) -> Bool) -> EvictionEntry?
}

extension EvictionPolicy {
    mutating func use(_ slot: EvictionSlot) {}
}

extension S3FIFO: EvictionPolicy {}

/// The exact order of use (LRU): the least recently used entry is evicted.
///
/// Every hit has to move its entry, so hits need the lock of the order; and one long scan of objects that are used once
/// evicts everything else.
struct LRU: EvictionPolicy {
    static let countedUses: UInt8 = 0

    private var line = EvictionList()

    mutating func insert(_ entry: EvictionEntry, isKnown: Bool) -> EvictionSlot { line.append(entry) }
    mutating func use(_ slot: EvictionSlot) { line.moveToEnd(slot) }
    mutating func evict(tooMuch measure: EvictionMeasure, takeUse: (UInt64) -> Bool) -> EvictionEntry? {
        line.oldest.map { line.remove($0) }
    }
}

/// SIEVE: a hand moves from the oldest entry to the newest, spares those used since its last pass, and evicts the first
/// other one.
///
/// After Zhang and others, "SIEVE is Simpler than LRU", NSDI 2024. Nothing moves on a hit, nor when an entry is spared.
struct SIEVE: EvictionPolicy {
    static let countedUses: UInt8 = 1

    private var line = EvictionList()
    /// The next entry of the hand; nil means the oldest.
    private var hand: EvictionSlot?

    mutating func insert(_ entry: EvictionEntry, isKnown: Bool) -> EvictionSlot { line.append(entry) }
    mutating func evict(tooMuch measure: EvictionMeasure, takeUse: (UInt64) -> Bool) -> EvictionEntry? {
        while let slot = hand ?? line.oldest {
            hand = line.next(after: slot)
            if !takeUse(line.entry(slot).tag) { return line.remove(slot) }
        }
        return nil
    }
}

/// Entries from the oldest to the newest, linked by position.
private struct EvictionList: Sendable {
    private struct Node: Sendable {
        let entry: EvictionEntry
        var newer: EvictionSlot?
        var older: EvictionSlot?
    }

    private var nodes: [Node] = []
    private var free: [EvictionSlot] = []
    private(set) var oldest: EvictionSlot?
    private var newest: EvictionSlot?

    func entry(_ slot: EvictionSlot) -> EvictionEntry { nodes[Int(slot)].entry }
    func next(after slot: EvictionSlot) -> EvictionSlot? { nodes[Int(slot)].newer }

    mutating func append(_ entry: EvictionEntry) -> EvictionSlot {
        let slot = free.popLast() ?? EvictionSlot(nodes.count)
        if Int(slot) == nodes.count { nodes.append(Node(entry: entry)) } else { nodes[Int(slot)] = Node(entry: entry) }
        link(slot)
        return slot
    }

    mutating func remove(_ slot: EvictionSlot) -> EvictionEntry {
        unlink(slot)
        free.append(slot)
        return nodes[Int(slot)].entry
    }

    mutating func moveToEnd(_ slot: EvictionSlot) {
        unlink(slot)
        link(slot)
    }

    private mutating func link(_ slot: EvictionSlot) {
        nodes[Int(slot)].newer = nil
        nodes[Int(slot)].older = newest
        if let newest { nodes[Int(newest)].newer = slot } else { oldest = slot }
        newest = slot
    }

    private mutating func unlink(_ slot: EvictionSlot) {
        let (newer, older) = (nodes[Int(slot)].newer, nodes[Int(slot)].older)
        if let newer { nodes[Int(newer)].older = older } else { newest = older }
        if let older { nodes[Int(older)].newer = newer } else { oldest = newer }
    }
}
