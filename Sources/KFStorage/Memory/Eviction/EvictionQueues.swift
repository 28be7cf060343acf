// The two queues of S3FIFO, linked by position, and an entry as they see it: without key, value and limits.

/// Where an order keeps an entry.
typealias EvictionSlot = Int32

/// A limit of a cache that can be exceeded.
enum EvictionMeasure: Sendable {
    /// The sum of the costs is above its limit.
    case cost
    /// There are more entries than allowed.
    case count
}

/// An entry as an order knows it.
struct EvictionEntry: Sendable, Equatable {
    /// A hash of the key, by which its owner finds the entry: the same whenever the key comes back.
    let digest: UInt64
    let cost: Int
}

/// A queue of S3FIFO.
enum EvictionQueue: Int, Sendable {
    case small, main
}

/// Entries in two queues, each from the oldest to the newest.
///
/// All nodes lie in one array, and a node stays where it is until it is freed: no object per entry. Everything takes
/// constant time.
struct EvictionQueues: Sendable {
    /// The position that stands for "there is none".
    private static let none: EvictionSlot = -1

    private struct Node: Sendable {
        var entry: EvictionEntry
        var queue: EvictionQueue
        var newer = none
        var older = none
    }

    private struct Queue: Sendable {
        var newest = none
        var oldest = none
        var count = 0
        /// Exact, however much the entries cost.
        var cost: Int128 = 0
    }

    private var nodes: ContiguousArray<Node> = []
    private var free: ContiguousArray<EvictionSlot> = []
    private var queues: ContiguousArray<Queue> = [Queue(), Queue()]

    /// How many entries there are.
    var count: Int { queues[0].count + queues[1].count }

    func count(_ queue: EvictionQueue) -> Int { queues[queue.rawValue].count }

    /// How much a queue holds by a measure.
    func amount(_ queue: EvictionQueue, _ measure: EvictionMeasure) -> Int128 {
        measure == .cost ? queues[queue.rawValue].cost : Int128(count(queue))
    }

    /// Where the oldest entry of a queue is, which must not be empty.
    func oldest(_ queue: EvictionQueue) -> EvictionSlot { queues[queue.rawValue].oldest }

    func entry(_ slot: EvictionSlot) -> EvictionEntry { nodes[Int(slot)].entry }

    /// Puts a new entry at the newer end of `queue`.
    mutating func append(_ entry: EvictionEntry, to queue: EvictionQueue) -> EvictionSlot {
        let node = Node(entry: entry, queue: queue)
        let slot: EvictionSlot
        if let reused = free.popLast() {
            slot = reused
            nodes[Int(slot)] = node
        } else {
            slot = EvictionSlot(nodes.count)
            nodes.append(node)
        }
        link(slot)
        return slot
    }

    /// Takes the entry at `slot` out of its queue and frees the slot.
    mutating func remove(_ slot: EvictionSlot) -> EvictionEntry {
        unlink(slot)
        free.append(slot)
        return nodes[Int(slot)].entry
    }

    /// Moves the entry at `slot` to the newer end of `queue`, which may be its own.
    mutating func move(_ slot: EvictionSlot, to queue: EvictionQueue) {
        unlink(slot)
        nodes[Int(slot)].queue = queue
        link(slot)
    }

    private mutating func link(_ slot: EvictionSlot) {
        let queue = nodes[Int(slot)].queue.rawValue
        let newest = queues[queue].newest
        (nodes[Int(slot)].newer, nodes[Int(slot)].older) = (Self.none, newest)
        if newest == Self.none { queues[queue].oldest = slot } else { nodes[Int(newest)].newer = slot }
        queues[queue].newest = slot
        queues[queue].count += 1
        queues[queue].cost += Int128(nodes[Int(slot)].entry.cost)
    }

    private mutating func unlink(_ slot: EvictionSlot) {
        let node = nodes[Int(slot)]
        let (queue, newer, older) = (node.queue.rawValue, node.newer, node.older)
        if newer == Self.none { queues[queue].newest = older } else { nodes[Int(newer)].older = older }
        if older == Self.none { queues[queue].oldest = newer } else { nodes[Int(older)].newer = newer }
        queues[queue].count -= 1
        queues[queue].cost -= Int128(node.entry.cost)
    }
}
