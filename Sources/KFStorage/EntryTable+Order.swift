// Which entries of a table were used when, and which have expired. Knows nothing of how they are found by name.

extension EntryTable {
    /// Orders all entries by their last access.
    mutating func orderByLastAccess() {
        let order = nodes.indices.map { (access: nodes[$0].record.lastAccess, position: $0) }
            .sorted { $0.access < $1.access }
        newest = Self.none
        oldest = Self.none
        for (_, position) in order { linkAsNewest(position) }
    }

    /// The size of the entry used last.
    var newestSize: Int { newest == Self.none ? 0 : nodes[Int(newest)].record.size }

    /// The entry used last, if it is larger than `size`.
    func newestEntry(largerThan size: Int) -> (name: String, record: EntryRecord)? {
        guard newestSize > size else { return nil }
        let node = nodes[Int(newest)]
        return (name(node), node.record)
    }

    /// The least recently used entries whose removal takes the total to `target` or less, but no more than `limit` of
    /// them.
    func leastRecent(downTo target: Int, limit: Int) -> [(name: String, record: EntryRecord)] {
        var chosen: [(name: String, record: EntryRecord)] = []
        var (total, next) = (total, oldest)
        while total > Int128(target), next != Self.none, chosen.count < limit {
            let node = nodes[Int(next)]
            chosen.append((name(node), node.record))
            total -= Int128(node.record.size)
            next = node.newer
        }
        return chosen
    }

    /// At most `limit` of the entries that have expired at an instant.
    ///
    /// Call it of one table with one `place`, which is `Int.max` at first, until it answers none: then all have been
    /// answered, whatever was entered, taken out or left in between. Takes no time if none has expired.
    mutating func expired(at instant: Int64, limit: Int, place: inout Int) -> [(name: String, record: EntryRecord)] {
        guard earliestExpiry <= instant else { return [] }
        var found: [(name: String, record: EntryRecord)] = []
        // From the end: the node that fills a gap comes from where one has been already.
        place = min(place, nodes.count)
        while place > 0, found.count < limit {
            place -= 1
            let node = nodes[place]
            if node.record.expiry <= instant { found.append((name(node), node.record)) }
        }
        if found.isEmpty { earliestExpiry = nodes.reduce(Int64.max) { min($0, $1.record.expiry) } }
        return found
    }

    mutating func unlink(_ position: Int) {
        let (newer, older) = (nodes[position].newer, nodes[position].older)
        if newer == Self.none { newest = older } else { nodes[Int(newer)].older = older }
        if older == Self.none { oldest = newer } else { nodes[Int(older)].newer = newer }
    }

    mutating func linkAsNewest(_ position: Int) {
        nodes[position].newer = Self.none
        nodes[position].older = newest
        if newest == Self.none { oldest = Int32(position) } else { nodes[Int(newest)].newer = Int32(position) }
        newest = Int32(position)
    }
}
