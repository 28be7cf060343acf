// What is known of the entries of a directory, small and in order of last use. Knows nothing of the directory.

/// The entries of a directory by name, in order of last use.
///
/// For a hundred thousand entries with hashed names it takes about 9 MB: names are packed, the nodes lie in one array,
/// and the hash table holds positions in it. What `LRU` offers would take twice as much, because a `Dictionary` holds
/// every key a second time.
struct EntryTable: Sendable {
    struct Node: Sendable {
        var name: PackedName
        var record: EntryRecord
        var newer: Int32
        var older: Int32
        /// 0: the name is its digits; up to `odd`: and this one of the known suffixes.
        var suffix: UInt32
    }

    static let none: Int32 = -1
    /// Stands in the place of a suffix for a name that is not made of digits: it lies among `oddNames`.
    static let odd = UInt32.max
    private static let mostSuffixes = 100

    var nodes: ContiguousArray<Node> = []
    /// Where a name may be: the upper half of its hash, and the position of its node plus one.
    ///
    /// 0 is free.
    private var buckets: ContiguousArray<UInt64>
    /// The ends of the order of use.
    var newest = EntryTable.none
    var oldest = EntryTable.none
    private var suffixes: [String] = []
    private var oddNames: [String] = []
    private var freeOddNames: [Int] = []
    /// Makes it impossible to choose names that collide.
    private let seed = UInt64.random(in: .min ... .max)

    /// The sum of the sizes of all entries, as far as it can be told.
    var totalSize: Int { Int(clamping: total) }
    /// The same exactly, for files may have any length: they have holes.
    private(set) var total: Int128 = 0
    /// No entry expires before this.
    var earliestExpiry = Int64.max

    /// A table with room for so many entries; it grows when they are more.
    init(capacity: Int = 0) {
        nodes.reserveCapacity(capacity)
        buckets = ContiguousArray(repeating: 0, count: Self.bucketCount(for: capacity))
    }

    var count: Int { nodes.count }

    /// What is known of the entry called `name`.
    func record(of name: String) -> EntryRecord? {
        withUTF8(name) { position(of: $0) }.map { nodes[$0].record }
    }

    func contains(_ name: String) -> Bool { withUTF8(name) { position(of: $0) } != nil }

    /// Enters what is known of an entry, as the most recently used one.
    mutating func set(_ record: EntryRecord, for name: String) {
        withUTF8(name) { set(record, for: $0) }
    }

    mutating func set(_ record: EntryRecord, for name: UnsafeBufferPointer<UInt8>) {
        total += Int128(record.size)
        earliestExpiry = min(earliestExpiry, record.expiry)
        if let position = position(of: name) {
            total -= Int128(nodes[position].record.size)
            nodes[position].record = record
            unlink(position)
            linkAsNewest(position)
            return
        }
        if (nodes.count + 1) * 4 > buckets.count * 3 { grow() }
        let (packed, suffix) = keep(name)
        nodes.append(Node(name: packed, record: record, newer: Self.none, older: Self.none, suffix: suffix))
        place(nodes.count - 1)
        linkAsNewest(nodes.count - 1)
    }

    /// Notes that the entry was used, if there is one.
    mutating func markUsed(_ name: String, access: Int64, expiry: Int64) {
        guard let position = withUTF8(name, { position(of: $0) }) else { return }
        nodes[position].record.lastAccess = access
        nodes[position].record.expiry = expiry
        earliestExpiry = min(earliestExpiry, expiry)
        unlink(position)
        linkAsNewest(position)
    }

    /// Takes an entry out and answers what was known of it.
    @discardableResult
    mutating func remove(_ name: String) -> EntryRecord? {
        guard let position = withUTF8(name, { position(of: $0) }) else { return nil }
        let node = nodes[position]
        total -= Int128(node.record.size)
        unlink(position)
        vacate(bucket(of: position))
        if node.suffix == Self.odd {
            oddNames[Int(node.name.second)] = ""
            freeOddNames.append(Int(node.name.second))
        }
        moveLast(to: position)
        return node.record
    }

    /// The bytes of memory in use, without those of names that are not made of digits.
    var usedBytes: Int { nodes.count * MemoryLayout<Node>.stride + buckets.count * MemoryLayout<UInt64>.stride }

    // MARK: Names

    /// All names, in no particular order.
    var names: [String] { nodes.map(name) }

    /// The name of an entry.
    func name(_ node: Node) -> String {
        switch node.suffix {
        case Self.odd: oddNames[Int(node.name.second)]
        case 0: node.name.text("")
        default: node.name.text(suffixes[Int(node.suffix) - 1])
        }
    }

    /// Puts a name where it takes least room.
    private mutating func keep(_ name: UnsafeBufferPointer<UInt8>) -> (PackedName, UInt32) {
        if let packed = PackedName(name) {
            if let suffix = number(ofSuffix: name) { return (packed, suffix) }
            if suffixes.count < Self.mostSuffixes {
                suffixes.append(String(decoding: name[PackedName.digits...], as: UTF8.self))
                return (packed, UInt32(suffixes.count))
            }
        }
        let text = String(decoding: name, as: UTF8.self)
        let place = freeOddNames.popLast() ?? oddNames.count
        if place == oddNames.count { oddNames.append(text) } else { oddNames[place] = text }
        return (PackedName(hash(ofOdd: name), UInt64(place), 0, 0), Self.odd)
    }

    private func number(ofSuffix name: UnsafeBufferPointer<UInt8>) -> UInt32? {
        guard name.count > PackedName.digits else { return 0 }
        let suffix = name[PackedName.digits...]
        return suffixes.firstIndex { $0.utf8.elementsEqual(suffix) }.map { UInt32($0 + 1) }
    }

    // MARK: The hash table

    private func hash(ofOdd name: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(name))
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private func hash(_ name: PackedName) -> UInt64 {
        // The words are hashes already; the seed keeps others from knowing where they go.
        let mixed = (name.first ^ seed).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return mixed.high ^ mixed.low
    }

    private func position(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        if let packed = PackedName(name) {
            if let suffix = number(ofSuffix: name) {
                let found = find(hash(packed)) { $0.name == packed && $0.suffix == suffix }
                if found != nil { return found }
            }
            // Suffixes are looked for among the odd names only when there were too many of them.
            guard suffixes.count == Self.mostSuffixes else { return nil }
        }
        guard !oddNames.isEmpty else { return nil }
        let key = PackedName(hash(ofOdd: name), 0, 0, 0)
        return find(hash(key)) {
            $0.suffix == Self.odd && $0.name.first == key.first
                && oddNames[Int($0.name.second)].utf8.elementsEqual(name)
        }
    }

    private func find(_ hash: UInt64, _ isWanted: (Node) -> Bool) -> Int? {
        var bucket = Int(truncatingIfNeeded: hash) & (buckets.count - 1)
        while buckets[bucket] != 0 {
            if buckets[bucket] >> 32 == hash >> 32 {
                let position = Int(truncatingIfNeeded: buckets[bucket] & 0xFFFF_FFFF) - 1
                if isWanted(nodes[position]) { return position }
            }
            bucket = (bucket + 1) & (buckets.count - 1)
        }
        return nil
    }

    private static func bucketCount(for entries: Int) -> Int {
        var count = 16
        while count * 3 < entries * 4 { count *= 2 }
        return count
    }

    private mutating func grow() {
        buckets = ContiguousArray(repeating: 0, count: buckets.count * 2)
        for position in nodes.indices { place(position) }
    }

    /// Enters the position of a node in the first free bucket.
    private mutating func place(_ position: Int) {
        let hash = hash(nodes[position].name)
        var bucket = Int(truncatingIfNeeded: hash) & (buckets.count - 1)
        while buckets[bucket] != 0 { bucket = (bucket + 1) & (buckets.count - 1) }
        buckets[bucket] = hash & 0xFFFF_FFFF_0000_0000 | UInt64(position + 1)
    }

    /// The bucket that holds the position of a node.
    private func bucket(of position: Int) -> Int {
        var bucket = Int(truncatingIfNeeded: hash(nodes[position].name)) & (buckets.count - 1)
        while buckets[bucket] & 0xFFFF_FFFF != UInt64(position + 1) { bucket = (bucket + 1) & (buckets.count - 1) }
        return bucket
    }

    /// Frees a bucket, and moves those behind it that would not be found any more.
    private mutating func vacate(_ bucket: Int) {
        let mask = buckets.count - 1
        var (gap, next) = (bucket, (bucket + 1) & mask)
        while buckets[next] != 0 {
            let position = Int(truncatingIfNeeded: buckets[next] & 0xFFFF_FFFF) - 1
            let home = Int(truncatingIfNeeded: hash(nodes[position].name)) & mask
            // It may move if the gap is not before its home.
            if (next &- home) & mask >= (next &- gap) & mask {
                buckets[gap] = buckets[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        buckets[gap] = 0
    }

    private mutating func moveLast(to position: Int) {
        let last = nodes.count - 1
        if position < last {
            buckets[bucket(of: last)] = hash(nodes[last].name) & 0xFFFF_FFFF_0000_0000 | UInt64(position + 1)
            let node = nodes[last]
            nodes[position] = node
            if node.newer == Self.none {
                newest = Int32(position)
            } else {
                nodes[Int(node.newer)].older = Int32(position)
            }
            if node.older == Self.none {
                oldest = Int32(position)
            } else {
                nodes[Int(node.older)].newer = Int32(position)
            }
        }
        nodes.removeLast()
    }
}

/// The bytes of a text, wherever it keeps them.
private func withUTF8<Result>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    var text = text
    return text.withUTF8(body)
}
