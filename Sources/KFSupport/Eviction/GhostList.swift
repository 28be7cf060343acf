// Who was thrown out lately. Knows nothing of queues.

/// The digests of the entries evicted last, without the entries.
///
/// Every operation takes constant time on average.
struct GhostList: Sendable {
    /// The digests in the order they came; those that were removed since, or came again, are still here.
    private var line: ContiguousArray<UInt64> = []
    /// Where the oldest in line is.
    private var start = 0
    /// The number of each digest's last place in line, counted from the very first that ever came.
    private var places: [UInt64: Int] = [:]
    private var firstPlace = 0

    /// How many are remembered.
    var count: Int { places.count }

    /// Remembers `digest`, and forgets the oldest until no more than `limit` are in line.
    mutating func append(_ digest: UInt64, keeping limit: Int) {
        places[digest] = firstPlace + line.count - start
        line.append(digest)
        while line.count - start > limit {
            if places[line[start]] == firstPlace { places[line[start]] = nil }
            start += 1
            firstPlace += 1
        }
        if start > 64, start * 2 > line.count {
            line.removeSubrange(..<start)
            start = 0
        }
    }

    /// Forgets `digest` and answers whether it was remembered.
    mutating func remove(_ digest: UInt64) -> Bool { places.removeValue(forKey: digest) != nil }
}
