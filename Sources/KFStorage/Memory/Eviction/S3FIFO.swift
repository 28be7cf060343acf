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
/// It only keeps the order. The uses of an entry since the order last examined it are counted by the owner of the
/// entry: so a hit writes to the entry alone, and touches neither the order nor its lock.
@_spi(Eviction) public struct S3FIFO: Sendable {
    /// How many uses of an entry are counted between two examinations of it.
    public static let countedUses: UInt8 = 3

    private static let (small, main): (UInt8, UInt8) = (0, 1)

    /// The part of the cache that the small queue may fill before entries are evicted from it.
    private var share: Double
    private let limits: ClosedRange<Double>
    private var nodes = EvictionNodes()
    private var smallQueue = EvictionQueue()
    private var mainQueue = EvictionQueue()
    private var smallGhosts = GhostList()
    private var mainGhosts = GhostList()

    /// An empty order.
    public init() { self.init(share: 0.1...0.9) }

    /// The same with other bounds to the part of the cache that the small queue may fill; it begins with the lower one.
    public init(share limits: ClosedRange<Double>) {
        share = limits.lowerBound
        self.limits = limits
    }

    private var count: Int { smallQueue.count + mainQueue.count }

    /// Takes in an entry as the newest one.
    ///
    /// - Parameters:
    ///   - entry: The new entry.
    ///   - isKnown: Whether it replaces what was stored under its key: then it goes to the main queue at once.
    /// - Returns: Where it is from now on, until it is removed or evicted.
    public mutating func insert(_ entry: EvictionEntry, isKnown: Bool) -> EvictionSlot {
        let wasEvicted = adapt(to: entry.digest)
        return isKnown || wasEvicted
            ? nodes.append(entry, to: &mainQueue, number: Self.main)
            : nodes.append(entry, to: &smallQueue, number: Self.small)
    }

    /// Forgets the entry at `slot`.
    @discardableResult
    public mutating func remove(_ slot: EvictionSlot) -> EvictionEntry {
        nodes.queue(of: slot) == Self.small
            ? nodes.remove(slot, from: &smallQueue) : nodes.remove(slot, from: &mainQueue)
    }

    /// Enlarges the queue that the entry was evicted from, and returns whether it was evicted lately.
    private mutating func adapt(to digest: UInt64) -> Bool {
        let (small, main) = (Double(max(1, smallGhosts.count)), Double(max(1, mainGhosts.count)))
        // Half an entry at a time; more if it came from the list that remembers fewer and so sees fewer come back.
        let step = 0.5 / Double(max(1, count))
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
    ///   - takeUse: Takes one use off the count of the entry with a tag, and returns whether there was one.
    /// - Returns: The entry; nil when there is none.
    public mutating func evict(tooMuch measure: EvictionMeasure, takeUse: (UInt64) -> Bool) -> EvictionEntry? {
        guard count > 0 else { return nil }
        // No more steps than all counted uses together: hits that keep coming meanwhile must not keep this going.
        for _ in 0..<(Int(Self.countedUses) + 1) * count {
            if takesFromSmall(measure) {
                let slot = smallQueue.oldest
                guard takeUse(nodes.entry(slot).tag) else { return evictFromSmall() }
                nodes.move(slot, from: &smallQueue, to: &mainQueue, number: Self.main)
            } else {
                let slot = mainQueue.oldest
                guard takeUse(nodes.entry(slot).tag) else { return evictFromMain() }
                nodes.renew(slot, in: &mainQueue)
            }
        }
        return mainQueue.isEmpty ? evictFromSmall() : evictFromMain()
    }

    private func takesFromSmall(_ measure: EvictionMeasure) -> Bool {
        if mainQueue.isEmpty { return true }
        // In a tiny cache a tenth is nothing, and what was stored a moment ago would already be gone.
        guard smallQueue.count > min(8, (count - 1) / 2) else { return false }
        let small = smallQueue.amount(measure)
        return Double(small) > Double(small + mainQueue.amount(measure)) * share
    }

    private mutating func evictFromSmall() -> EvictionEntry {
        let limit = Int((1 - share) * Double(count)) + 1
        let entry = nodes.remove(smallQueue.oldest, from: &smallQueue)
        smallGhosts.append(entry.digest, keeping: limit)
        return entry
    }

    private mutating func evictFromMain() -> EvictionEntry {
        let limit = Int(share * Double(count)) + 1
        let entry = nodes.remove(mainQueue.oldest, from: &mainQueue)
        mainGhosts.append(entry.digest, keeping: limit)
        return entry
    }
}
