// What an eviction order knows of an entry. Knows nothing of keys, values, limits or threads.

/// Where an order keeps an entry.
public typealias EvictionSlot = Int32

/// What a cache can have too much of.
public enum EvictionMeasure: Sendable {
    /// The sum of the costs is above its limit.
    case cost
    /// There are more entries than allowed.
    case count
}

/// What an order knows of an entry.
///
/// Public, although for our own modules only: the benchmark that compares orders lives in another package.
public struct EvictionEntry: Sendable, Equatable {
    /// By what the owner finds the entry.
    public var tag: UInt64
    /// A hash of the key: the same whenever the key comes back.
    public var digest: UInt64
    /// What it costs.
    public var cost: Int

    /// An entry as its owner describes it.
    public init(tag: UInt64, digest: UInt64, cost: Int) {
        self.tag = tag
        self.digest = digest
        self.cost = cost
    }
}
