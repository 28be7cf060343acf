// The memory part of a cache as users see it. The work is done in KFStorage.

public import Foundation
import KFStorage
import KFSupport

/// A value that knows what it takes in memory.
public protocol CacheCostCalculable {
    /// The bytes the value takes in memory.
    var cacheCost: Int { get }
}

extension Image: CacheCostCalculable {
    /// The bytes of the image's pixels.
    public var cacheCost: Int { cost }
}

/// What belongs to the memory part of a cache.
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
        /// - Parameters:
        ///   - totalCostLimit: The bytes all entries together may take; 0 means no limit.
        ///   - cleanInterval: The seconds between two removals of expired entries; 0 means never.
        public init(totalCostLimit: Int, cleanInterval: TimeInterval = 120) {
            self.totalCostLimit = totalCostLimit
            self.cleanInterval = cleanInterval
        }
    }

    /// Values in memory, by key.
    ///
    /// The least recently used goes first.
    ///
    /// Safe to use from any thread. Nothing blocks.
    public final class Backend<T: CacheCostCalculable & Sendable>: Sendable {
        private struct State: Sendable {
            var config: Config
            var cleaning: Task<Void, Never>?
        }

        let store: MemoryStore<T>
        private let state: Locked<State>

        /// Creates a storage.
        /// - Parameter config: Its limits.
        public convenience init(config: Config) { self.init(config: config, clock: coarseWallClock) }

        init(config: Config, clock: @escaping @Sendable () -> Date) {
            store = MemoryStore(clock: clock)
            state = Locked(State(config: config))
            apply(config)
        }

        deinit { state.withLock { $0.cleaning }?.cancel() }

        /// The limits; what is assigned holds at once.
        public var config: Config {
            get { state.withLock { $0.config } }
            set {
                state.withLock { $0.config = newValue }
                apply(newValue)
            }
        }

        private func apply(_ config: Config) {
            store.configure { engine in
                engine.costLimit = config.totalCostLimit
                engine.countLimit = config.countLimit
                engine.expiration = config.expiration
                engine.survivesPurge = config.keepWhenEnteringBackground
            }
            let cleaning = Self.cleaning(of: store, every: config.cleanInterval)
            let previous = state.withLock { exchange(&$0.cleaning, with: cleaning) }
            previous?.cancel()
        }

        /// Removes expired entries now and then, as long as the store exists.
        private static func cleaning(of store: MemoryStore<T>, every seconds: TimeInterval) -> Task<Void, Never>? {
            guard seconds > 0, seconds.isFinite else { return nil }
            return Task(priority: .utility) { [weak store] in
                while (try? await Task.sleep(for: .seconds(min(seconds, 1e9)))) != nil {
                    guard let store else { return }
                    store.removeExpired()
                }
            }
        }

        /// Stores a value, and removes others if a limit is exceeded.
        ///
        /// - Parameters:
        ///   - value: The value. One that alone exceeds the limit is not stored.
        ///   - key: Its key.
        ///   - expiration: How long it is valid; nil means what the configuration says. With one that is over
        ///     already, the key's entry is removed.
        public func store(value: T, forKey key: String, expiration: StorageExpiration? = nil) {
            store.store(value, forKey: key, cost: value.cacheCost, expiration: expiration)
        }

        /// The value of a key, unless it has expired.
        ///
        /// - Parameters:
        ///   - key: The key.
        ///   - extendingExpiration: What the access does to the expiry.
        /// - Returns: The value, or nil.
        public func value(forKey key: String, extendingExpiration: ExpirationExtending = .cacheTime) -> T? {
            store.value(forKey: key, extending: extendingExpiration)
        }

        /// Whether a key has a value that has not expired; prolongs nothing.
        public func isCached(forKey key: String) -> Bool { store.isCached(forKey: key) }

        /// Removes the value of a key.
        public func remove(forKey key: String) { store.remove(forKey: key) }

        /// Removes all values.
        public func removeAll() { store.removeAll() }

        /// Removes the values that have expired.
        public func removeExpired() { store.removeExpired() }

        /// The bytes all entries take, with those that have expired and are not removed yet.
        public func totalCacheCost() -> Int { store.totalCost }
    }
}
