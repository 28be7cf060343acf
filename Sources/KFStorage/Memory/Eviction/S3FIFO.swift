// The eviction order of a memory store: two queues, and the entries evicted from them lately.

/// S3-FIFO: a new entry has to be used in a small queue before it may push anything out of the main one.
///
/// After Yang and others, "FIFO queues are all you need for cache eviction", SOSP 2023. An entry that was
/// not used in the small queue is evicted at its end, so a scan passes through and the main queue stays as it is. An
/// entry that comes back soon after was evicted too early and goes straight to the main queue. Nothing moves on a hit.
///
/// One thing is not as in that paper: the size of the small queue adapts to what was evicted too early, as in ARC
/// (Megiddo and Modha, FAST 2003). Scrolling up and down a list requests images of a minute ago that were shown once,
/// and a queue that holds a tenth of the cache has lost them by then.
///
/// Measured with a cache of 1 % of 100,000 objects, Zipf(0.9) with scans between: LRU
/// finds 30 % of the requests, SIEVE 40 %, S3-FIFO 41 %. On a list scrolled up and down LRU finds 75 %, SIEVE 35 %,
/// S3-FIFO with a fixed queue 63 %, this 71 %.
///
/// It only keeps the order. The uses of an entry since the order last examined it are counted by the owner of the
/// entry: so a hit writes to the entry alone, and touches neither the order nor its lock.
struct S3FIFO: Sendable {
    /// How many uses of an entry are counted between two examinations of it.
    static let countedUses: UInt8 = 3

    /// The part of the cache that the small queue may fill before entries are evicted from it.
    private var share: Double
    private let limits: ClosedRange<Double>
    private var queues = EvictionQueues()
    private var smallGhosts = GhostList()
    private var mainGhosts = GhostList()

    /// An empty order.
    init() { self.init(share: 0.1...0.9) }

    /// The same with other bounds to the part of the cache that the small queue may fill; it begins with the lower one.
    init(share limits: ClosedRange<Double>) {
        share = limits.lowerBound
        self.limits = limits
    }

    /// Takes in an entry as the newest one.
    ///
    /// - Parameters:
    ///   - entry: The new entry.
    ///   - isKnown: Whether it replaces what was stored under its key: then it goes to the main queue at once.
    /// - Returns: Where it is from now on, until it is removed or evicted.
    mutating func insert(_ entry: EvictionEntry, isKnown: Bool) -> EvictionSlot {
        let wasEvicted = adapt(to: entry.digest)
        return queues.append(entry, to: isKnown || wasEvicted ? .main : .small)
    }

    /// Forgets the entry at `slot`.
    @discardableResult
    mutating func remove(_ slot: EvictionSlot) -> EvictionEntry { queues.remove(slot) }

    /// Enlarges the queue that the entry was evicted from, and returns whether it was evicted lately.
    private mutating func adapt(to digest: UInt64) -> Bool {
        let (small, main) = (Double(max(1, smallGhosts.count)), Double(max(1, mainGhosts.count)))
        // Half an entry at a time; more if it came from the list that remembers fewer and so sees fewer come back.
        let step = 0.5 / Double(max(1, queues.count))
        if smallGhosts.remove(digest) {
            share = min(limits.upperBound, share + step * max(1, main / small))
        } else if mainGhosts.remove(digest) {
            share = max(limits.lowerBound, share - step * max(1, small / main))
        } else {
            return false
        }
        return true
    }

    /// Takes out the next eviction candidate.
    ///
    /// - Parameters:
    ///   - measure: The limit that is exceeded.
    ///   - takeUse: Takes one use off the count of the entry with a digest, and returns whether there was one.
    /// - Returns: The entry; nil when there is none.
    mutating func evict(tooMuch measure: EvictionMeasure, takeUse: (UInt64) -> Bool) -> EvictionEntry? {
        guard queues.count > 0 else { return nil }
        // No more steps than all counted uses together: hits that keep coming meanwhile must not keep this going.
        for _ in 0..<(Int(Self.countedUses) + 1) * queues.count {
            let queue: EvictionQueue = takesFromSmall(measure) ? .small : .main
            let slot = queues.oldest(queue)
            guard takeUse(queues.entry(slot).digest) else { return evict(from: queue) }
            queues.move(slot, to: .main)
        }
        return evict(from: queues.count(.main) == 0 ? .small : .main)
    }

    private func takesFromSmall(_ measure: EvictionMeasure) -> Bool {
        if queues.count(.main) == 0 { return true }
        // In a tiny cache a tenth is nothing, and what was stored a moment ago would already be gone.
        guard queues.count(.small) > min(8, (queues.count - 1) / 2) else { return false }
        let small = queues.amount(.small, measure)
        return Double(small) > Double(small + queues.amount(.main, measure)) * share
    }

    private mutating func evict(from queue: EvictionQueue) -> EvictionEntry {
        let limit = Int((queue == .small ? 1 - share : share) * Double(queues.count)) + 1
        let entry = queues.remove(queues.oldest(queue))
        switch queue {
        case .small: smallGhosts.append(entry.digest, keeping: limit)
        case .main: mainGhosts.append(entry.digest, keeping: limit)
        }
        return entry
    }
}

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
