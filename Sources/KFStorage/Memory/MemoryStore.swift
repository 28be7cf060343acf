// Values in memory by key, bounded and with an expiry. For caches.

package import Foundation
import Glibc
import KFSupport

/// Values in memory, bounded by cost and count, each with an expiry.
///
/// When a limit is exceeded, expired entries go first, then the eviction candidates: entries used once go before
/// entries used repeatedly. Expired entries are not found but stay until ``removeExpired()`` or an eviction. Every
/// function may be called from any thread and takes constant time, or logarithmic where entries expire, unless it says
/// otherwise. Values are released outside the locks: their deinitialisers may call the store.
package final class MemoryStore<Value: Sendable>: Sendable {
    /// The box that holds a value that is no object while it is stored.
    private final class Box: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    /// Objects are stored as they are: a box would be one more memory access for every hit.
    private let holdsObjects = Value.self is AnyClass
    private let core: MemoryCore

    /// An empty store.
    ///
    /// `clock` is the time that expiry is measured by; nil means the time of day as of the kernel's last tick.
    package init(configuration: MemoryConfiguration = MemoryConfiguration(), clock: (@Sendable () -> Date)? = nil) {
        core = MemoryCore(configuration: configuration, clock: clock)
    }

    /// The limits in force.
    package var configuration: MemoryConfiguration { core.order.withLock { $0.configuration } }

    /// Changes the limits, and evicts at once what exceeds them.
    ///
    /// `change` runs under the lock of the store and must not call it.
    package func configure(_ change: @Sendable (inout MemoryConfiguration) -> Void) {
        _ = core.configure(change)
    }

    /// Stores `value`, and evicts others if a limit is exceeded.
    ///
    /// A value that would be expired from the start is not stored, and the old value of the key stays. A value that
    /// alone exceeds the cost limit is not stored either, but the old value is removed.
    /// - Parameters:
    ///   - value: The value.
    ///   - key: Its key, whose old value is replaced.
    ///   - cost: How much the value counts against the cost limit; less than 0 counts as 0.
    ///   - expiration: How long it is valid; `nil` means as configured.
    ///   - version: When given, nothing happens if the key was stored or removed since, or has a valid value:
    ///     another caller was faster, and its value is not older.
    ///   - replacing: With a version: whether a valid value is replaced, too.
    ///   - removingIfExpired: Whether a value that is expired from the start still has the old one removed.
    package func store(
        _ value: Value,
        forKey key: String,
        cost: Int,
        expiration: StorageExpiration? = nil,
        ifVersion version: MemoryVersion? = nil,
        replacing: Bool = false,
        removingIfExpired: Bool = false
    ) {
        // SAFETY: an instance of a class is a reference, and that is all there is in a value of this existential type.
        let box = holdsObjects ? unsafeBitCast(value, to: MemoryValue.self) : Box(value)
        _ = core.store(
            box,
            forKey: key,
            cost: max(0, cost),
            expiration: expiration,
            ifVersion: version,
            replacing: replacing,
            removingIfExpired: removingIfExpired
        )
    }

    /// The value of `key` unless it has expired.
    ///
    /// A hit counts as a use and extends the expiry as `extending` says. A caller that repeats
    /// a look-up that has just missed should not count the miss twice. With `mustBeFresh`, only a value counts that was
    /// stored until a date which is still to come; another one is left alone, and no miss.
    package func value(
        forKey key: String,
        extending: ExpirationExtending = .cacheTime,
        countingMiss: Bool = true,
        mustBeFresh: Bool = false
    ) -> Value? {
        let box = core.value(forKey: key, extending: extending, countingMiss: countingMiss, mustBeFresh: mustBeFresh)
        guard let box else { return nil }
        return unboxed(box)
    }

    @inline(__always)
    private func unboxed(_ box: MemoryValue) -> Value {
        // SAFETY: only `store` adds values, and only objects of class `Value`, or boxes of this type.
        holdsObjects ? unsafeBitCast(box, to: Value.self) : unsafeDowncast(box, to: Box.self).value
    }

    /// The entry of `key`, expired or not, with its lifetime and its expiry.
    ///
    /// Neither counts as a use nor extends anything.
    package func entry(forKey key: String) -> (value: Value, expiration: StorageExpiration, expiry: Date)? {
        guard let entry = core.entry(of: MemoryKey(key)) else { return nil }
        return (unboxed(entry.value), entry.expiration, Date(clampedSeconds: entry.expiry))
    }

    /// Whether a read would find `key`.
    ///
    /// Does not count as a use, nor as a look-up.
    package func isCached(forKey key: String) -> Bool { core.contains(MemoryKey(key), at: core.now) }

    /// Removes the entry of `key`, if there is one.
    package func remove(forKey key: String) { _ = core.remove(key) }

    /// Removes the entries whose keys begin with a text.
    ///
    /// Takes time in proportion to the number of entries.
    package func removeAll(withPrefix prefix: String) { _ = core.removeAll(withPrefix: prefix) }

    /// Removes everything.
    package func removeAll() { _ = core.removeAll(because: \.removed) }

    /// Removes everything because memory is short: the entries count as purged.
    package func purgeAll() { _ = core.removeAll(because: \.purged) }

    /// Removes the entries that have expired.
    ///
    /// Takes time in proportion to their number, not to that of all entries.
    package func removeExpired() { _ = core.removeExpired() }

    /// Removes the entries stored while ``MemoryConfiguration/survivesPurge`` was false.
    ///
    /// Takes time in proportion to the number of entries.
    package func purge() { _ = core.purge() }

    /// Evicts in the usual order until the costs are no more than `cost`; the limits do not change.
    package func shrink(toCost cost: Int) { _ = core.shrink(toCost: max(0, cost)) }

    /// The sum of the costs of all entries, expired ones included.
    package var totalCost: Int { core.order.withLock { $0.cost } }

    /// How many entries there are, expired ones included.
    package var count: Int { core.order.withLock { $0.counts.entries } }

    /// The counts of operations and of entries at one instant; look-ups that end meanwhile may be counted or not.
    package var counts: MemoryCounts { core.counts }

    /// A version to read before a slow read elsewhere whose result is to be stored with `ifVersion:`.
    ///
    /// It changes when the key is stored or removed, and sometimes when another key is; never by eviction or expiry,
    /// nor by a store with `ifVersion:`.
    package func version(forKey key: String) -> MemoryVersion { core.version(forKey: key) }

    /// Changes the version of `key`, because its value has changed elsewhere; its entry stays.
    package func recordChange(forKey key: String) { core.recordChange(forKey: key) }

    /// The same for every key: for removals of keys that are not all known.
    package func recordChangeOfAll() { core.recordChangeOfAll() }
}

/// The time of day as of the kernel's last tick, in seconds since the reference date: some milliseconds behind, for a
/// quarter of the time of `Date()`, which would take longer than the rest of a hit.
@inline(__always)
func coarseSeconds() -> TimeInterval {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return Double(time.tv_sec - 978_307_200) + Double(time.tv_nsec) * 1e-9
}
