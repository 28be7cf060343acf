// The entries evicted lately, by their digests. For S3FIFO.

/// The digests of the entries evicted last, without the entries.
///
/// Every operation takes constant time on average.
struct GhostList: Sendable {
    /// The digests in the order they came, with those that were removed since or came again.
    private var queue: ContiguousArray<UInt64> = []
    /// The index of the oldest digest in the queue.
    private var start = 0
    /// The number of each digest's latest position in the queue, counted from the first digest that ever came.
    private var positions: [UInt64: Int] = [:]
    private var firstPosition = 0

    /// How many are remembered.
    var count: Int { positions.count }

    /// Remembers `digest`, and forgets the oldest until no more than `limit` are in the queue.
    mutating func append(_ digest: UInt64, keeping limit: Int) {
        positions[digest] = firstPosition + queue.count - start
        queue.append(digest)
        while queue.count - start > limit {
            if positions[queue[start]] == firstPosition { positions[queue[start]] = nil }
            start += 1
            firstPosition += 1
        }
        if start > 64, start * 2 > queue.count {
            queue.removeSubrange(..<start)
            start = 0
        }
    }

    /// Forgets `digest` and returns whether it was remembered.
    mutating func remove(_ digest: UInt64) -> Bool { positions.removeValue(forKey: digest) != nil }
}
