// Values in memory by key: least recently used goes first. Knows nothing of images, files or timers.

package import Foundation
import Glibc
import KFSupport

/// Values in memory, bounded by cost and count, each with an expiry.
///
/// Over a limit, expired entries go first, then the least recently used. Expired entries are not found but stay until
/// ``removeExpired()`` or an eviction. Every function may be called from any thread and takes constant time
/// unless it says otherwise. Values are released outside the lock: their deinitialisers may call back.
package final class MemoryStore<Value: Sendable>: Sendable {
    package typealias Configuration = MemoryConfiguration
    package typealias Generation = MemoryGeneration

    /// What a value that is no object lies in while it is stored.
    private final class Box: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    /// Objects are stored as they are: a box would be one more place in memory for every hit to go to.
    private let holdsObjects = Value.self is AnyClass
    private let clock: @Sendable () -> Date
    private let state: Locked<MemoryStoreState>

    /// An empty store.
    ///
    /// `clock` tells the time that expiry is measured by.
    package init(
        configuration: Configuration = Configuration(),
        clock: @escaping @Sendable () -> Date = coarseWallClock
    ) {
        self.clock = clock
        state = Locked(MemoryStoreState(configuration: configuration))
    }

    /// The limits in force.
    package var configuration: Configuration { state.withLock { $0.configuration } }

    /// Changes the limits, and evicts at once what exceeds them.
    package func configure(_ change: @Sendable (inout Configuration) -> Void) {
        let now = clock()
        _ = state.withLock { state in
            change(&state.configuration)
            return state.evict(at: now)
        }
    }

    /// Stores `value`, and evicts others if a limit is exceeded.
    ///
    /// A value that would be expired from the start, or that alone exceeds the cost limit, is not stored; what was there
    /// under the key is removed all the same.
    /// - Parameters:
    ///   - value: What to store.
    ///   - key: Its key; what is there under the key is replaced.
    ///   - cost: What the value counts against the cost limit; less than 0 counts as 0.
    ///   - expiration: How long it is valid; `nil` means as configured.
    ///   - generation: When given, nothing happens if the key was stored or removed since.
    package func store(
        _ value: Value,
        forKey key: String,
        cost: Int,
        expiration: StorageExpiration? = nil,
        ifGeneration generation: Generation? = nil
    ) {
        let now = clock()
        // SAFETY: an instance of a class is a reference, and that is all there is in a value of this existential type.
        let box = holdsObjects ? unsafeBitCast(value, to: MemoryStoreState.Value.self) : Box(value)
        _ = state.withLock { state -> (MemoryStoreState.Value?, [MemoryStoreState.Entry]) in
            if let generation, state.generation(forKey: key) != generation { return (nil, []) }
            let replaced = state.store(box, forKey: key, cost: max(0, cost), expiration: expiration, at: now)
            return (replaced, state.evict(at: now))
        }
    }

    /// The value of `key` unless it has expired.
    ///
    /// A hit counts as a use and extends the expiry as `extending` says.
    package func value(forKey key: String, extending: ExpirationExtending = .cacheTime) -> Value? {
        let now = clock()
        guard let box = state.withLock({ $0.value(forKey: key, extending: extending, at: now) }) else { return nil }
        // SAFETY: `store` is the only way in, and puts in nothing but objects of class `Value`, or boxes of this type.
        return holdsObjects ? unsafeBitCast(box, to: Value.self) : unsafeDowncast(box, to: Box.self).value
    }

    /// Whether a read would find `key`.
    ///
    /// Does not count as a use.
    package func isCached(forKey key: String) -> Bool {
        let now = clock()
        return state.withLock { $0.contains(key, at: now) }
    }

    /// Removes the entry of `key`, if there is one.
    package func remove(forKey key: String) {
        _ = state.withLock { $0.remove(key) }
    }

    /// Removes everything.
    package func removeAll() {
        _ = state.withLock { $0.removeAll() }
    }

    /// Removes the entries that have expired.
    ///
    /// Takes time in proportion to the number of entries.
    package func removeExpired() {
        let now = clock()
        _ = state.withLock { $0.removeExpired(at: now) }
    }

    /// Removes the entries stored while ``MemoryConfiguration/survivesPurge`` was false.
    ///
    /// Takes time in proportion to the number of entries.
    package func purge() {
        _ = state.withLock { $0.purge() }
    }

    /// The sum of the costs of all entries, expired ones included.
    package var totalCost: Int { state.withLock { $0.entries.totalCost } }

    /// How many entries there are, expired ones included.
    package var count: Int { state.withLock { $0.entries.count } }

    /// A mark to take before a slow read elsewhere whose result is to be stored with `ifGeneration:`.
    ///
    /// It changes when the key is stored or removed, and now and then when another key is; never by eviction or expiry.
    package func generation(forKey key: String) -> Generation {
        state.withLock { $0.generation(forKey: key) }
    }
}

/// The time of day as of the kernel's last tick: some milliseconds behind, for a quarter of the price of `Date()`, which
/// would be the dearest part of a hit.
@Sendable
package func coarseWallClock() -> Date {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9)
}
