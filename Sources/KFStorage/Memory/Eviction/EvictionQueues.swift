// Entries in one or more queues, linked by position. For S3FIFO.

/// A queue of entries from the oldest to the newest, whose nodes lie in ``EvictionNodes``.
struct EvictionQueue: Sendable {
    /// The position that stands for "there is none".
    static let none: EvictionSlot = -1

    fileprivate(set) var newest = none
    fileprivate(set) var oldest = none
    fileprivate(set) var count = 0
    /// Exact, however much the entries cost.
    fileprivate(set) var cost: Int128 = 0

    var isEmpty: Bool { count == 0 }

    /// How much of it there is by a measure.
    func amount(_ measure: EvictionMeasure) -> Int128 { measure == .cost ? cost : Int128(count) }
}

/// The nodes of all queues of a policy.
///
/// They lie in one array, and a node stays where it is until it is freed: no object per entry. Everything takes
/// constant time.
struct EvictionNodes: Sendable {
    private struct Node: Sendable {
        var entry: EvictionEntry
        var queue: UInt8
        var newer = EvictionQueue.none
        var older = EvictionQueue.none
    }

    private var nodes: ContiguousArray<Node> = []
    private var free: ContiguousArray<EvictionSlot> = []

    /// The entry at `slot`.
    func entry(_ slot: EvictionSlot) -> EvictionEntry { nodes[Int(slot)].entry }

    /// The number of the queue that the entry at `slot` was put into.
    func queue(of slot: EvictionSlot) -> UInt8 { nodes[Int(slot)].queue }

    /// Puts a new entry at the newer end of `queue`, which has that number.
    mutating func append(_ entry: EvictionEntry, to queue: inout EvictionQueue, number: UInt8 = 0) -> EvictionSlot {
        let node = Node(entry: entry, queue: number)
        let slot: EvictionSlot
        if let reused = free.popLast() {
            slot = reused
            nodes[Int(slot)] = node
        } else {
            slot = EvictionSlot(nodes.count)
            nodes.append(node)
        }
        link(slot, to: &queue)
        return slot
    }

    /// Takes the entry at `slot` out of `queue` and frees the slot.
    mutating func remove(_ slot: EvictionSlot, from queue: inout EvictionQueue) -> EvictionEntry {
        unlink(slot, from: &queue)
        free.append(slot)
        return nodes[Int(slot)].entry
    }

    /// Moves the entry at `slot` to the newer end of its own queue.
    mutating func renew(_ slot: EvictionSlot, in queue: inout EvictionQueue) {
        guard slot != queue.newest else { return }
        unlink(slot, from: &queue)
        link(slot, to: &queue)
    }

    /// Moves the entry at `slot` to the newer end of another queue, which has that number.
    mutating func move(
        _ slot: EvictionSlot,
        from queue: inout EvictionQueue,
        to other: inout EvictionQueue,
        number: UInt8
    ) {
        unlink(slot, from: &queue)
        nodes[Int(slot)].queue = number
        link(slot, to: &other)
    }

    private mutating func link(_ slot: EvictionSlot, to queue: inout EvictionQueue) {
        nodes[Int(slot)].newer = EvictionQueue.none
        nodes[Int(slot)].older = queue.newest
        if queue.newest == EvictionQueue.none { queue.oldest = slot } else { nodes[Int(queue.newest)].newer = slot }
        queue.newest = slot
        queue.count += 1
        queue.cost += Int128(nodes[Int(slot)].entry.cost)
    }

    private mutating func unlink(_ slot: EvictionSlot, from queue: inout EvictionQueue) {
        let (newer, older) = (nodes[Int(slot)].newer, nodes[Int(slot)].older)
        if newer == EvictionQueue.none { queue.newest = older } else { nodes[Int(newer)].older = older }
        if older == EvictionQueue.none { queue.oldest = newer } else { nodes[Int(older)].newer = newer }
        queue.count -= 1
        queue.cost -= Int128(nodes[Int(slot)].entry.cost)
    }
}
