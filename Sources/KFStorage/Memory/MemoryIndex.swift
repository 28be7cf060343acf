// Positions by digest. Knows nothing of keys or of what lies at the positions.

/// A hash table from digests to positions, which leaves comparing keys to its owner.
///
/// A bucket is eight bytes and next to its neighbours, so that a look-up goes to one place in memory before it goes to
/// the entry; a `Dictionary` goes to three. Constant time on average.
struct MemoryIndex: Sendable {
    /// The upper half holds part of the digest, the lower half a position plus one; 0 is an empty bucket.
    private var buckets: ContiguousArray<UInt64> = [0, 0, 0, 0]
    private(set) var count = 0

    /// The position put in under `digest` that `isMatch` accepts.
    @inline(__always)
    func find(_ digest: UInt64, where isMatch: (Int) -> Bool) -> Int? {
        let mark = digest >> 32
        var place = home(mark)
        while buckets[place] != 0 {
            let bucket = buckets[place]
            if bucket >> 32 == mark, isMatch(Self.position(bucket)) { return Self.position(bucket) }
            place = next(place)
        }
        return nil
    }

    /// Puts in a position that is not there yet.
    mutating func insert(_ digest: UInt64, position: Int) {
        // Linear probing stays short while a third is empty.
        if (count + 1) * 3 > buckets.count * 2 { grow() }
        put(Self.bucket(digest, position))
        count += 1
    }

    /// Takes out a position put in under `digest`.
    mutating func remove(_ digest: UInt64, position: Int) {
        let bucket = Self.bucket(digest, position)
        var gap = home(digest >> 32)
        while buckets[gap] != bucket {
            guard buckets[gap] != 0 else { return }
            gap = next(gap)
        }
        count -= 1
        // What follows moves up unless that would put it before its home: a search must not meet a gap on its way.
        var place = next(gap)
        while buckets[place] != 0 {
            let distance = (place &- home(buckets[place] >> 32)) & mask
            if distance >= (place &- gap) & mask {
                buckets[gap] = buckets[place]
                gap = place
            }
            place = next(place)
        }
        buckets[gap] = 0
    }

    private var mask: Int { buckets.count - 1 }
    private func home(_ mark: UInt64) -> Int { Int(truncatingIfNeeded: mark) & mask }
    private func next(_ place: Int) -> Int { (place &+ 1) & mask }
    private static func bucket(_ digest: UInt64, _ position: Int) -> UInt64 {
        (digest >> 32) << 32 | UInt64(position + 1)
    }
    private static func position(_ bucket: UInt64) -> Int { Int(bucket & 0xFFFF_FFFF) - 1 }

    private mutating func put(_ bucket: UInt64) {
        var place = home(bucket >> 32)
        while buckets[place] != 0 { place = next(place) }
        buckets[place] = bucket
    }

    private mutating func grow() {
        let old = buckets
        buckets = ContiguousArray(repeating: 0, count: old.count * 2)
        for bucket in old where bucket != 0 { put(bucket) }
    }
}
