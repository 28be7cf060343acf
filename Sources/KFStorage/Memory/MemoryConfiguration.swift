// The configuration of a memory store, and its counts.

import Foundation

/// The limits of a memory store, and the lifetime of what is stored without one.
package struct MemoryConfiguration: Sendable {
    /// The sum of costs the entries may reach; 0 means no limit.
    package var costLimit: Int
    /// How many entries there may be; 0 means no limit.
    package var countLimit: Int
    /// How long entries stored without an expiration are valid.
    package var expiration: StorageExpiration
    /// Whether what is stored from now on survives ``MemoryStore/purge()``.
    package var survivesPurge: Bool

    /// Without a limit there is none; without an expiration entries are valid for five minutes.
    package init(
        costLimit: Int = 0,
        countLimit: Int = 0,
        expiration: StorageExpiration = .seconds(300),
        survivesPurge: Bool = false
    ) {
        self.costLimit = costLimit
        self.countLimit = countLimit
        self.expiration = expiration
        self.survivesPurge = survivesPurge
    }
}

/// Counts of the operations of a memory store since it was made, and of its entries.
///
/// `hits + misses` is the number of look-ups, and `stores - entries` the number of entries that were replaced, evicted
/// or removed in one of the ways that are counted here.
package struct MemoryCounts: Sendable, Equatable {
    /// Look-ups that found their value.
    package var hits = 0
    /// Look-ups that found no entry, or an expired one.
    package var misses = 0
    /// Values that were stored, those that replaced another included.
    package var stores = 0
    /// Entries evicted because the costs were above their limit.
    package var evictedByCost = 0
    /// Entries evicted because there were too many.
    package var evictedByCount = 0
    /// Entries removed because they had expired.
    package var expired = 0
    /// Entries removed to free memory: ``MemoryStore/purge()``, ``MemoryStore/shrink(toCost:)``.
    package var purged = 0
    /// Entries that a caller removed, one by one or all at once.
    package var removed = 0
    /// Entries replaced because another value was stored under their key.
    package var replaced = 0
    /// How many entries there are, expired ones included.
    package var entries = 0
    /// The sum of their costs.
    package var cost = 0

    package init() {}
}

/// Changes when a key is stored or removed; see ``MemoryStore/version(forKey:)``.
package struct MemoryVersion: Sendable, Equatable {
    let number: UInt64
}
