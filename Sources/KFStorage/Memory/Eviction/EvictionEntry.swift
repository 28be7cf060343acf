// An entry as the eviction order of a memory store sees it: without key, value and limits.

/// Where an order keeps an entry.
@_spi(Eviction) public typealias EvictionSlot = Int32

/// A limit of a cache that can be exceeded.
@_spi(Eviction) public enum EvictionMeasure: Sendable {
    /// The sum of the costs is above its limit.
    case cost
    /// There are more entries than allowed.
    case count
}

/// An entry as an order knows it.
///
/// Everything about eviction is visible to the benchmark that compares orders, which lives in another package, and
/// not to users.
@_spi(Eviction) public struct EvictionEntry: Sendable, Equatable {
    /// The number by which its owner finds the entry.
    public var tag: UInt64
    /// A hash of the key: the same whenever the key comes back.
    public var digest: UInt64
    /// Its cost.
    public var cost: Int

    /// An entry as its owner describes it.
    public init(tag: UInt64, digest: UInt64, cost: Int) {
        (self.tag, self.digest, self.cost) = (tag, digest, cost)
    }
}
