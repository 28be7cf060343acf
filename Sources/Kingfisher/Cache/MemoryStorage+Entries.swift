// What lies in a memory storage, entry by entry, expired or not. Changes nothing except by removing an entry.

import Foundation
import KFStorage
import KFSupport

extension MemoryStorage {
    /// A value with its lifetime, apart from any storage.
    final class StorageObject<T: Sendable>: Sendable {
        /// The value.
        let value: T
        /// How long it is valid from the moment of storing, and again from an access that extends it.
        let expiration: StorageExpiration

        private let expiry: Locked<Date>

        /// A value that is valid from now on.
        convenience init(_ value: T, expiration: StorageExpiration) {
            self.init(value, expiration: expiration, estimatedExpiration: expiration.estimatedExpirationSinceNow)
        }

        init(_ value: T, expiration: StorageExpiration, estimatedExpiration: Date) {
            self.value = value
            self.expiration = expiration
            expiry = Locked(estimatedExpiration)
        }

        /// The instant at which the value stops being valid.
        var estimatedExpiration: Date { expiry.withLock { $0 } }

        /// Whether that instant is over.
        var isExpired: Bool { estimatedExpiration.isPast }

        /// Does to the expiry what an access does.
        func extendExpiration(_ extending: ExpirationExtending = .cacheTime) {
            guard let extended = extending.expiry(readAt: Date(), original: expiration) else { return }
            expiry.withLock { $0 = extended }
        }
    }

    /// The entries of a backend, as they lie there.
    struct Entries<T: CacheCostCalculable & Sendable>: Sendable {
        fileprivate let store: MemoryStore<T>

        /// The bytes all entries together may take.
        var totalCostLimit: Int { store.configuration.costLimit }

        /// How many entries there may be.
        var countLimit: Int { store.configuration.countLimit }

        /// A copy of what is stored under a key, expired or not; no access.
        func object(forKey key: String) -> StorageObject<T>? {
            store.entry(forKey: key).map { value, expiration, expiry in
                StorageObject(value, expiration: expiration, estimatedExpiration: expiry)
            }
        }

        /// Removes what is stored under a key.
        func removeObject(forKey key: String) { store.remove(forKey: key) }
    }
}

extension MemoryStorage.Backend {
    /// The entries, expired or not.
    var storage: MemoryStorage.Entries<T> { MemoryStorage.Entries(store: store) }

    /// The keys of the entries, as many as there are.
    var keys: Range<Int> { 0..<store.count }
}
