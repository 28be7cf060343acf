// What a memory store keeps and decides under its lock. Knows nothing of the lock, the clock or the type of the values.

import Foundation
import KFSupport

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

    /// Limits that are not given are none; the lifetime that is not given is five minutes.
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

/// Tells whether a key was stored or removed in between; see ``MemoryStore/generation(forKey:)``.
package struct MemoryGeneration: Sendable, Equatable {
    let number: UInt64
}

/// The state of a ``MemoryStore``.
///
/// Functions answer what they dropped, so that it is released outside the lock.
///
/// Deliberately not generic: the compiler specialises across modules only what is public.
struct MemoryStoreState: Sendable {
    typealias Value = any AnyObject & Sendable

    struct Entry: Sendable {
        let value: Value
        /// In seconds since the reference date: comparing two numbers is all a hit has to do.
        var expiry: TimeInterval
        let expiration: StorageExpiration
        let survivesPurge: Bool
    }

    var configuration: MemoryConfiguration
    private(set) var entries = LRU<MemoryKey, Entry>()

    /// Nothing expires before this.
    private var earliestExpiry = TimeInterval.infinity
    private var lastSweep = -TimeInterval.infinity

    /// Changes are counted per group of keys: the count needs no entry per key and outlives the entries.
    private var changes = [UInt64](repeating: 0, count: 256)
    private var clears: UInt64 = 0

    init(configuration: MemoryConfiguration) { self.configuration = configuration }

    // MARK: Looking up

    mutating func value(forKey key: String, extending: ExpirationExtending, at now: Date) -> Value? {
        guard let slot = entries.slot(forKey: MemoryKey(text: key)),
            entries[slot].expiry > now.timeIntervalSinceReferenceDate
        else { return nil }
        entries.markUsed(slot)
        if let expiry = extending.expiry(readAt: now, original: entries[slot].expiration) {
            let seconds = expiry.timeIntervalSinceReferenceDate
            entries[slot].expiry = seconds
            earliestExpiry = min(earliestExpiry, seconds)
        }
        return entries[slot].value
    }

    func contains(_ key: String, at now: Date) -> Bool {
        guard let slot = entries.slot(forKey: MemoryKey(text: key)) else { return false }
        return entries[slot].expiry > now.timeIntervalSinceReferenceDate
    }

    func generation(forKey key: String) -> MemoryGeneration {
        // Both only grow, so their sum tells about either.
        MemoryGeneration(number: changes[group(of: key)] &+ clears)
    }

    private func group(of key: String) -> Int { MemoryKey(text: key).digest & 255 }

    // MARK: Changing

    mutating func store(
        _ value: Value,
        forKey key: String,
        cost: Int,
        expiration given: StorageExpiration?,
        at now: Date
    ) -> Value? {
        let expiration = given ?? configuration.expiration
        let isTooCostly = configuration.costLimit > 0 && cost > configuration.costLimit
        guard !isTooCostly, !expiration.isExpired(at: now) else { return remove(key) }

        changes[group(of: key)] &+= 1
        let expiry = expiration.estimatedExpiration(since: now).timeIntervalSinceReferenceDate
        earliestExpiry = min(earliestExpiry, expiry)
        let entry = Entry(
            value: value,
            expiry: expiry,
            expiration: expiration,
            survivesPurge: configuration.survivesPurge
        )
        return entries.insert(entry, forKey: MemoryKey(text: key), cost: cost)?.value
    }

    mutating func remove(_ key: String) -> Value? {
        changes[group(of: key)] &+= 1
        return entries.slot(forKey: MemoryKey(text: key)).map { entries.remove(at: $0).value }
    }

    mutating func removeAll() -> LRU<MemoryKey, Entry> {
        clears &+= 1
        earliestExpiry = .infinity
        return exchange(&entries, with: LRU())
    }

    mutating func purge() -> [Entry] {
        entries.removeAll { !$0.survivesPurge }
    }

    mutating func removeExpired(at now: Date) -> [Entry] {
        let seconds = now.timeIntervalSinceReferenceDate
        var earliest = TimeInterval.infinity
        let removed = entries.removeAll { entry in
            if entry.expiry <= seconds { return true }
            earliest = min(earliest, entry.expiry)
            return false
        }
        earliestExpiry = earliest
        lastSweep = seconds
        return removed
    }

    /// Brings the store back within its limits.
    mutating func evict(at now: Date) -> [Entry] {
        guard exceedsLimits else { return [] }
        var evicted: [Entry] = []
        // Looking for expired entries takes a walk over all of them. Not every store of a full cache may do that:
        // only when something can have expired, and at most once a second.
        let seconds = now.timeIntervalSinceReferenceDate
        if earliestExpiry <= seconds, lastSweep + 1 <= seconds { evicted = removeExpired(at: now) }
        while exceedsLimits, let slot = entries.leastRecent { evicted.append(entries.remove(at: slot)) }
        return evicted
    }

    private var exceedsLimits: Bool {
        (configuration.countLimit > 0 && entries.count > configuration.countLimit)
            || (configuration.costLimit > 0 && entries.totalCost > configuration.costLimit)
    }
}
