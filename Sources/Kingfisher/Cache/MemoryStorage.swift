// The memory part of a cache: its public interface. The work is done in KFStorage.

public import Foundation
import KFStorage
import KFSupport

/// A value that knows its size in memory.
public protocol CacheCostCalculable {
    /// The bytes the value takes in memory.
    var cacheCost: Int { get }
}

extension Image: CacheCostCalculable {
    /// The bytes of the image's pixels.
    public var cacheCost: Int { cost }
}

/// The namespace of the memory part of a cache.
public enum MemoryStorage {
    /// The limits of a memory storage.
    public struct Config: Sendable {
        /// The bytes all entries together may take; 0 means no limit.
        public var totalCostLimit: Int
        /// How many entries there may be; 0 means no limit.
        public var countLimit: Int = .max
        /// How long entries are valid that are stored without an expiration.
        public var expiration: StorageExpiration = .seconds(300)
        /// The seconds between two removals of expired entries; 0 means never.
        public var cleanInterval: TimeInterval
        /// Whether entries stored from now on survive the program's going to the background.
        public var keepWhenEnteringBackground = false

        /// Creates a configuration.
        public init(totalCostLimit: Int, cleanInterval: TimeInterval = 120) {
            self.totalCostLimit = totalCostLimit
            self.cleanInterval = cleanInterval
        }
    }

    /// Values in memory, by key.
    ///
    /// Limits hold after every call. When one is exceeded, expired values are removed first, then values in the
    /// eviction order: those that were looked up repeatedly stay, however many others are looked up only once.
    ///
    /// Safe to use from any thread. No function blocks.
    public final class Backend<T: CacheCostCalculable & Sendable>: Sendable {
        private struct State: Sendable {
            var config: Config
            var cleaning: Task<Void, Never>?
        }

        let store: MemoryStore<T>
        private let timer: any Clock<Duration>
        private let state: Locked<State>

        /// Creates a storage.
        /// - Parameter config: Its limits.
        public convenience init(config: Config) { self.init(config: config, clock: nil) }

        /// Creates a storage with other clocks: one for the expiry, and one for the time between cleanings.
        init(
            config: Config,
            clock: (@Sendable () -> Date)?,
            timer: any Clock<Duration> = ContinuousClock()
        ) {
            store = MemoryStore(configuration: config.limits, clock: clock)
            self.timer = timer
            let cleaning = Self.cleaning(of: store, every: config.cleanInterval, on: timer)
            state = Locked(State(config: config, cleaning: cleaning))
        }

        deinit { state.withLock { $0.cleaning }?.cancel() }

        /// The limits; new ones hold at once, and the time to the next cleaning begins anew.
        public var config: Config {
            get { state.withLock { $0.config } }
            set {
                let previous = state.withLock { state in
                    state.config = newValue
                    let cleaning = Self.cleaning(of: store, every: newValue.cleanInterval, on: timer)
                    return exchange(&state.cleaning, with: cleaning)
                }
                previous?.cancel()
                // The thread that gets here last applies the value that was assigned last, whatever their order.
                store.configure { $0 = self.config.limits }
            }
        }

        /// Removes expired entries periodically, as long as the store exists.
        private static func cleaning(
            of store: MemoryStore<T>,
            every seconds: TimeInterval,
            on timer: some Clock<Duration>
        ) -> Task<Void, Never>? {
            guard seconds > 0, seconds.isFinite else { return nil }
            let interval = Duration(clampingSeconds: seconds)
            // Counted from now, not from when the task begins to run, and regardless of how long a cleaning takes.
            let first = timer.now.advanced(by: interval)
            return Task(priority: .utility) { [weak store] in
                var next = first
                while (try? await timer.sleep(until: next, tolerance: .zero)) != nil, let store {
                    store.removeExpired()
                    next = max(next.advanced(by: interval), timer.now)
                }
            }
        }

        /// Stores a value, and removes others if a limit is exceeded.
        ///
        /// - Parameters:
        ///   - value: The value. One that alone exceeds the limit is not stored.
        ///   - key: Its key.
        ///   - expiration: How long it is valid; nil means the value of the configuration. With one that is over
        ///     already, nothing is stored, and the key's entry stays.
        public func store(value: T, forKey key: String, expiration: StorageExpiration? = nil) {
            store.store(value, forKey: key, cost: value.cacheCost, expiration: expiration)
        }

        /// The value of a key, unless it has expired.
        ///
        /// - Parameters:
        ///   - key: The key.
        ///   - extendingExpiration: The effect of the access on the expiry.
        /// - Returns: The value, or nil.
        public func value(forKey key: String, extendingExpiration: ExpirationExtending = .cacheTime) -> T? {
            store.value(forKey: key, extending: extendingExpiration)
        }

        /// Whether a key has a value that has not expired; does not extend the expiry.
        public func isCached(forKey key: String) -> Bool { store.isCached(forKey: key) }

        /// Removes the value of a key.
        public func remove(forKey key: String) { store.remove(forKey: key) }

        /// Removes all values.
        public func removeAll() { store.removeAll() }

        /// Removes the values that have expired.
        public func removeExpired() { store.removeExpired() }

        /// The bytes all entries take, including those that have expired and are not removed yet.
        public func totalCacheCost() -> Int { store.totalCost }
    }
}

extension MemoryStorage.Config {
    /// The configuration of the store that does the work.
    fileprivate var limits: MemoryConfiguration {
        MemoryConfiguration(
            costLimit: totalCostLimit,
            countLimit: countLimit,
            expiration: expiration,
            survivesPurge: keepWhenEnteringBackground
        )
    }
}
