// The locks of a memory store, and the operations under each. For MemoryStore, which knows the type of the values.

import Foundation
import KFSupport

/// A memory store of objects.
///
/// There are two kinds of locks. A look-up takes that of its key's shard only, so that look-ups of different keys
/// hardly contend. An operation that adds or removes entries takes the lock of the order first and then, one after the
/// other, those of the shards concerned: so the limits hold exactly, and eviction candidates are chosen among all
/// entries. Only ``counts`` and ``removeAll(because:)`` hold the locks of several shards at once, in rising order, and
/// always under that of the order. Under a lock no other code is called and no value released: dropped values are
/// returned, and released by the caller.
///
/// Deliberately not generic: the compiler specialises across modules only what is public.
final class MemoryCore: Sendable {
    private let clock: (@Sendable () -> Date)?
    let order: Locked<MemoryOrder>
    let shards: MemoryShards

    init(configuration: MemoryConfiguration, clock: (@Sendable () -> Date)?) {
        self.clock = clock
        order = Locked(MemoryOrder(configuration: configuration))
        shards = MemoryShards()
    }

    @inline(__always)
    var now: TimeInterval { clock.map { $0().timeIntervalSinceReferenceDate } ?? coarseSeconds() }

    /// The number of the shard that keys of that digest belong to.
    @inline(__always)
    func shard(of digest: UInt64) -> Int { Int(truncatingIfNeeded: digest) & (MemoryShards.count - 1) }

    // MARK: Looking up

    func value(
        forKey key: String,
        extending: ExpirationExtending,
        countingMiss: Bool,
        mustBeFresh: Bool
    ) -> MemoryValue? {
        MemoryKey.withDigest(of: key) { key in
            let number = shard(of: key.digest)
            // The clock is read while the cache line is fetched.
            shards.prefetch(number)
            let now = now
            let hit = shards[number].withLock {
                $0.hit(key, extending: extending, countingMiss: countingMiss, mustBeFresh: mustBeFresh, at: now)
            }
            if let hit, hit.isShortened { recordExpiry(of: key) }
            return hit?.value
        }
    }

    func contains(_ key: String, at now: TimeInterval) -> Bool {
        MemoryKey.withDigest(of: key) { key in
            shards[shard(of: key.digest)].withLock { $0.contains(key, at: now) }
        }
    }

    /// An entry, expired or not; does not count as a use.
    func entry(forKey key: String) -> MemoryShard.Entry? {
        MemoryKey.withDigest(of: key) { key in
            shards[shard(of: key.digest)].withLock { shard in
                shard.position(of: key).map { shard.entry($0) }
            }
        }
    }

    /// Adds an earlier expiry item for an entry whose life was shortened.
    private func recordExpiry(of key: MemoryKey.Query) {
        let number = shard(of: key.digest)
        order.withLock { order in
            let ticket = order.expiries.newTicket()
            let item = shards[number].withLock { shard -> MemoryExpiries.Item? in
                guard let position = shard.position(of: key) else { return nil }
                shard.setTicket(ticket, at: position)
                let tag = MemoryTag(shard: number, position: position)
                return MemoryExpiries.Item(instant: shard.entry(position).expiry, tag: tag, ticket: ticket)
            }
            if let item { pushExpiry(item, in: &order) }
        }
    }

    // MARK: Removing

    func remove(_ key: String) -> [MemoryValue] {
        let digest = MemoryKey.withDigest(of: key) { $0.digest }
        return order.withLock { order in
            order.countChange(of: digest)
            return take(key, from: &order)
        }
    }

    /// Takes an entry out without counting a change.
    func take(_ key: String, from order: inout MemoryOrder) -> [MemoryValue] {
        let entry = MemoryKey.withDigest(of: key) { key in
            shards[shard(of: key.digest)].withLock { shard in
                shard.position(of: key).flatMap { shard.take($0) }
            }
        }
        guard let entry, let value = entry.value else { return [] }
        order.remove(entry.slot, because: \.removed)
        return [value]
    }

    func removeExpired() -> [MemoryValue] {
        let now = now
        return order.withLock { dropExpired(in: &$0, at: now) }
    }

    func purge() -> [MemoryValue] {
        order.withLock { order in
            var dropped: [MemoryValue] = []
            for number in shards.indices {
                for entry in shards[number].withLock({ $0.takeAll { !$0.survivesPurge } }) {
                    order.remove(entry.slot, because: \.purged)
                    if let value = entry.value { dropped.append(value) }
                }
            }
            return dropped
        }
    }

    func removeAll(withPrefix prefix: String) -> [MemoryValue] {
        order.withLock { order in
            var dropped: [MemoryValue] = []
            for number in shards.indices {
                for entry in shards[number].withLock({ $0.takeAll { $0.key.text.utf8.starts(with: prefix.utf8) } }) {
                    order.countChange(of: entry.key.digest)
                    order.remove(entry.slot, because: \.removed)
                    if let value = entry.value { dropped.append(value) }
                }
            }
            return dropped
        }
    }

    func removeAll(because reason: MemoryOrder.Reason) -> [ContiguousArray<MemoryShard.Entry>] {
        order.withLock { order in
            order.clear(because: reason)
            return withEveryShard { $0.clear() }
        }
    }

    // MARK: State

    func generation(forKey key: String) -> MemoryGeneration {
        let digest = MemoryKey.withDigest(of: key) { $0.digest }
        return order.withLock { $0.generation(of: digest) }
    }

    func recordChange(forKey key: String) {
        let digest = MemoryKey.withDigest(of: key) { $0.digest }
        order.withLock { $0.countChange(of: digest) }
    }

    var counts: MemoryCounts {
        order.withLock { order in
            var counts = order.counts
            counts.cost = order.cost
            for (hits, misses) in withEveryShard({ ($0.hits, $0.misses) }) {
                counts.hits += hits
                counts.misses += misses
            }
            return counts
        }
    }

    /// Runs `body` for each shard while the locks of all are held; under the lock of the order only.
    private func withEveryShard<Result: Sendable>(_ body: (inout MemoryShard) -> Result) -> [Result] {
        var results: [Result] = []
        withShards(from: 0, body, &results)
        return results
    }

    private func withShards<Result: Sendable>(
        from number: Int,
        _ body: (inout MemoryShard) -> Result,
        _ results: inout [Result]
    ) {
        guard number < MemoryShards.count else { return }
        shards[number].withLock { shard in
            results.append(body(&shard))
            withShards(from: number + 1, body, &results)
        }
    }
}
