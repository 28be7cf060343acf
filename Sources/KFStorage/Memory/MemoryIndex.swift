// A hash table of positions by digest. For MemoryShard, which compares the keys.

/// A hash table from digests to positions, which leaves comparing keys to its owner.
///
/// A bucket is eight bytes and next to its neighbours, so that a look-up reads one cache line before it reads the
/// entry; with a `Dictionary` it reads three. Constant time on average.
struct MemoryIndex: Sendable {
    /// The upper half holds part of the digest, the lower half a position plus one; 0 is an empty bucket.
    private var buckets: ContiguousArray<UInt64> = [0, 0, 0, 0]
    private(set) var count = 0

    /// The position stored under `digest` that `isMatch` accepts.
    @inline(__always)
    func find(_ digest: UInt64, where isMatch: (Int) -> Bool) -> Int? {
        let mark = digest >> 32
        var slot = home(mark)
        while buckets[slot] != 0 {
            let bucket = buckets[slot]
            if bucket >> 32 == mark, isMatch(Self.position(bucket)) { return Self.position(bucket) }
            slot = next(slot)
        }
        return nil
    }

    /// Adds a position that is not in the table yet.
    mutating func insert(_ digest: UInt64, position: Int) {
        // Linear probing stays short while a third is empty.
        if (count + 1) * 3 > buckets.count * 2 { grow() }
        put(Self.bucket(digest, position))
        count += 1
    }

    /// Removes a position stored under `digest`.
    mutating func remove(_ digest: UInt64, position: Int) {
        let bucket = Self.bucket(digest, position)
        var gap = home(digest >> 32)
        while buckets[gap] != bucket {
            guard buckets[gap] != 0 else { return }
            gap = next(gap)
        }
        count -= 1
        // Buckets that follow move up unless that would put them before their home: a search must not meet a gap.
        var slot = next(gap)
        while buckets[slot] != 0 {
            let distance = (slot &- home(buckets[slot] >> 32)) & mask
            if distance >= (slot &- gap) & mask {
                buckets[gap] = buckets[slot]
                gap = slot
            }
            slot = next(slot)
        }
        buckets[gap] = 0
    }

    private var mask: Int { buckets.count - 1 }
    private func home(_ mark: UInt64) -> Int { Int(truncatingIfNeeded: mark) & mask }
    private func next(_ slot: Int) -> Int { (slot &+ 1) & mask }
    private static func bucket(_ digest: UInt64, _ position: Int) -> UInt64 {
        (digest >> 32) << 32 | UInt64(position + 1)
    }
    private static func position(_ bucket: UInt64) -> Int { Int(bucket & 0xFFFF_FFFF) - 1 }

    private mutating func put(_ bucket: UInt64) {
        var slot = home(bucket >> 32)
        while buckets[slot] != 0 { slot = next(slot) }
        buckets[slot] = bucket
    }

    private mutating func grow() {
        let old = buckets
        buckets = ContiguousArray(repeating: 0, count: old.count * 2)
        for bucket in old where bucket != 0 { put(bucket) }
    }
}
