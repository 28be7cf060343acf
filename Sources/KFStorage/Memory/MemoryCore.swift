// The locks of a memory store, and the operations under each. For MemoryStore, which knows the type of the values.

import Foundation
import KFSupport

/// A memory store of objects.
///
/// There are two kinds of locks. A look-up takes that of its key's part only, so that look-ups of different keys
/// hardly contend. An operation that adds or removes entries takes the lock of the order first and then, one after the
/// other, those of the parts concerned: so the limits hold exactly, and eviction candidates are chosen among all
/// entries. Under a lock no other code is called and no value released: dropped values are returned, and released by
/// the caller.
///
/// Deliberately not generic: the compiler specialises across modules only what is public.
final class MemoryCore: Sendable {
    private let clock: (@Sendable () -> Date)?
    let order: Locked<MemoryOrder>
    /// A power of two; so many that two threads seldom meet in one.
    let parts = (0..<16).map { _ in MemoryPart() }

    init(configuration: MemoryConfiguration, clock: (@Sendable () -> Date)?) {
        self.clock = clock
        order = Locked(MemoryOrder(configuration: configuration))
    }

    @inline(__always)
    var now: TimeInterval { clock.map { $0().timeIntervalSinceReferenceDate } ?? coarseSeconds() }

    /// The part that keys of that digest belong to.
    func part(of digest: UInt64) -> MemoryPart { parts[Int(truncatingIfNeeded: digest) & (parts.count - 1)] }

    // MARK: Looking up

    func value(
        forKey text: String,
        extending: ExpirationExtending,
        countingMiss: Bool,
        mustBeFresh: Bool
    ) -> MemoryValue? {
        let key = MemoryKey(text)
        let now = now
        let hit = part(of: key.digest).state.withLock {
            $0.hit(key, extending: extending, countingMiss: countingMiss, mustBeFresh: mustBeFresh, at: now)
        }
        if let hit, hit.isShortened { recordExpiry(of: key.digest) }
        return hit?.value
    }

    /// An entry, expired or not; does not count as a use.
    func entry(of key: MemoryKey) -> MemoryEntry? { part(of: key.digest).state.withLock { $0.entry(of: key) } }

    func contains(_ key: MemoryKey, at now: TimeInterval) -> Bool { entry(of: key).map { $0.expiry > now } ?? false }

    /// Adds an earlier expiry item for an entry whose life was shortened.
    private func recordExpiry(of digest: UInt64) {
        order.withLock { order in
            let ticket = order.expiries.newTicket()
            guard let expiry = part(of: digest).state.withLock({ $0.setTicket(ticket, digest) }) else { return }
            pushExpiry(MemoryExpiries.Item(instant: expiry, digest: digest, ticket: ticket), in: &order)
        }
    }

    // MARK: Removing

    func remove(_ text: String) -> [MemoryValue] {
        let key = MemoryKey(text)
        return order.withLock { order in
            order.countChange(of: key.digest)
            return take(key, from: &order)
        }
    }

    /// Takes an entry out without counting a change.
    func take(_ key: MemoryKey, from order: inout MemoryOrder) -> [MemoryValue] {
        guard let entry = part(of: key.digest).state.withLock({ $0.take(key.digest) }) else { return [] }
        order.remove(entry.slot, because: \.removed)
        return [entry.value]
    }

    func removeExpired() -> [MemoryValue] {
        let now = now
        return order.withLock { dropExpired(in: &$0, at: now) }
    }

    func purge() -> [MemoryValue] {
        order.withLock { order in
            takeAll(where: { !$0.survivesPurge }, because: \.purged, from: &order).map(\.value)
        }
    }

    func removeAll(withPrefix prefix: String) -> [MemoryValue] {
        order.withLock { order in
            let hasPrefix = { (entry: MemoryEntry) in entry.key.text.utf8.starts(with: prefix.utf8) }
            let taken = takeAll(where: hasPrefix, because: \.removed, from: &order)
            for entry in taken { order.countChange(of: entry.key.digest) }
            return taken.map(\.value)
        }
    }

    private func takeAll(
        where isMeant: (MemoryEntry) -> Bool,
        because reason: MemoryOrder.Reason,
        from order: inout MemoryOrder
    ) -> [MemoryEntry] {
        let taken = parts.flatMap { part in part.state.withLock { $0.takeAll(where: isMeant) } }
        for entry in taken { order.remove(entry.slot, because: reason) }
        return taken
    }

    func removeAll(because reason: MemoryOrder.Reason) -> [[UInt64: MemoryEntry]] {
        order.withLock { order in
            order.clear(because: reason)
            return parts.map { part in part.state.withLock { $0.clear() } }
        }
    }

    // MARK: State

    func version(forKey key: String) -> MemoryVersion {
        let digest = MemoryKey(key).digest
        return order.withLock { $0.version(of: digest) }
    }

    func recordChangeOfAll() { order.withLock { $0.countChangeOfAll() } }

    func recordChange(forKey key: String) {
        let digest = MemoryKey(key).digest
        order.withLock { $0.countChange(of: digest) }
    }

    var counts: MemoryCounts {
        order.withLock { order in
            var counts = order.counts
            counts.cost = order.cost
            for part in parts {
                let (hits, misses) = part.state.withLock { ($0.hits, $0.misses) }
                counts.hits += hits
                counts.misses += misses
            }
            return counts
        }
    }
}
