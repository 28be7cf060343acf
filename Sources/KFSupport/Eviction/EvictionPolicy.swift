// What every order of eviction can do. Knows nothing of keys, values, limits or threads.

/// Decides which entry of a full cache goes next.
///
/// A policy only keeps the order. How often an entry was used since it was last asked about is counted by whoever
/// holds the entry: so a hit writes to the entry alone and never comes near the policy, nor near its lock.
///
/// Public, although for our own modules only: the benchmark that compares the policies lives in another package.
public protocol EvictionPolicy: Sendable {
    /// How many uses of an entry are worth counting between two looks of the policy at it.
    static var countedUses: UInt8 { get }

    /// An empty order.
    init()

    /// Takes in an entry as the newest one.
    ///
    /// - Parameters:
    ///   - entry: What to take in.
    ///   - isKnown: Whether it replaces what was stored under its key: it is no stranger then.
    /// - Returns: Where it is from now on, until it is removed or evicted.
    mutating func insert(_ entry: EvictionEntry, isKnown: Bool) -> EvictionSlot

    /// Forgets the entry at `slot`.
    ///
    /// - Returns: What was inserted.
    @discardableResult
    mutating func remove(_ slot: EvictionSlot) -> EvictionEntry

    /// Tells that the entry at `slot` was used; only an exact order of use wants to know.
    mutating func use(_ slot: EvictionSlot)

    /// Takes out the entry that should go next.
    ///
    /// - Parameters:
    ///   - measure: Of what there is too much.
    ///   - takeUse: Takes one use off the count of the entry with a tag, and answers whether there was one.
    /// - Returns: The entry; nil when there is none.
    mutating func evict(tooMuch measure: EvictionMeasure, takeUse: (_ tag: UInt64) -> Bool) -> EvictionEntry?
}

extension EvictionPolicy {
    /// Ignored: the count with the entry is enough.
    public mutating func use(_ slot: EvictionSlot) {}
}

/// Where a policy keeps an entry.
public typealias EvictionSlot = Int32

/// What a cache can have too much of.
public enum EvictionMeasure: Sendable {
    /// The sum of the costs is above its limit.
    case cost
    /// There are more entries than allowed.
    case count
}

/// What a policy knows of an entry.
public struct EvictionEntry: Sendable, Equatable {
    /// What the owner finds the entry by.
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
