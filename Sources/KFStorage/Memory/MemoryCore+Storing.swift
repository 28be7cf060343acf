// Storing in a memory store, and making room for it.

import Foundation
import KFSupport

extension MemoryCore {
    func store(
        _ value: MemoryValue,
        forKey text: String,
        cost: Int,
        expiration given: StorageExpiration?,
        ifGeneration generation: MemoryGeneration?,
        replacing: Bool = false,
        removingIfExpired: Bool = false
    ) -> [MemoryValue] {
        let key = MemoryKey(text)
        let now = now
        return order.withLock { order in
            let expiration = given ?? order.configuration.expiration
            let expiry = expiration.expiry(since: now)
            guard expiry > now || removingIfExpired else { return [] }
            if let generation {
                // A store with a generation is not counted as a change, which would refuse other keys of the same
                // group.
                guard order.generation(of: key.digest) == generation, replacing || !contains(key.text, at: now) else {
                    return []
                }
            } else {
                order.countChange(of: key.digest)
            }
            let isTooCostly = order.configuration.costLimit > 0 && cost > order.configuration.costLimit
            guard !isTooCostly, expiry > now else { return take(key.text, from: &order) }
            let entry = MemoryShard.Entry(
                key: key,
                value: value,
                expiry: expiry,
                expiration: expiration,
                survivesPurge: order.configuration.survivesPurge
            )
            return put(entry, cost: cost, in: &order, at: now)
        }
    }

    /// Puts an entry into its shard and into the order, and returns the values it replaced or had evicted.
    private func put(
        _ entry: consuming MemoryShard.Entry,
        cost: Int,
        in order: inout MemoryOrder,
        at now: TimeInterval
    ) -> [MemoryValue] {
        let digest = entry.key.digest
        let number = shard(of: digest)
        let (position, slot) = MemoryKey.withDigest(of: entry.key.text) { key in
            shards[number].withLock { shard -> (Int, EvictionSlot?) in
                guard let position = shard.position(of: key) else { return (shard.reserve(), nil) }
                return (position, shard.entry(position).slot)
            }
        }
        // The entry that is replaced stays readable, but is taken out of the order, which so cannot evict it.
        if let slot { order.remove(slot, because: \.replaced) }
        let tag = MemoryTag(shard: number, position: position)
        var dropped = makeRoom(for: cost, in: &order, sparing: tag, at: now)
        entry.slot = order.insert(.init(tag: tag.bits, digest: digest, cost: cost), isKnown: slot != nil)
        entry.ticket = order.expiries.newTicket()
        let item = MemoryExpiries.Item(instant: entry.expiry, tag: tag, ticket: entry.ticket)
        let placed = entry
        if let replaced = shards[number].withLock({ $0.put(placed, at: position) }) { dropped.append(replaced) }
        pushExpiry(item, in: &order)
        return dropped
    }

    func pushExpiry(_ item: MemoryExpiries.Item, in order: inout MemoryOrder) {
        // Items of entries that are gone stay in the queue until they are the greater part.
        if order.expiries.items.count > 2 * order.counts.entries + 64 {
            order.expiries.keep { item in
                shards[item.tag.shard].withLock { $0.hasTicket(item.ticket, at: item.tag.position) }
            }
        }
        order.expiries.push(item)
    }

    // MARK: Evicting

    func configure(_ change: @Sendable (inout MemoryConfiguration) -> Void) -> [MemoryValue] {
        let now = now
        return order.withLock { order in
            change(&order.configuration)
            return makeRoom(for: nil, in: &order, at: now)
        }
    }

    func shrink(toCost cost: Int) -> [MemoryValue] {
        let now = now
        return order.withLock { order in
            guard order.cost > cost else { return [] }
            var dropped = dropExpired(in: &order, at: now)
            while order.cost > cost, evict(tooMuch: .cost, because: \.purged, in: &order, dropping: &dropped) {}
            return dropped
        }
    }

    /// Evicts until an entry of that cost fits; without a cost, until the limits hold.
    private func makeRoom(
        for cost: Int?,
        in order: inout MemoryOrder,
        sparing tag: MemoryTag? = nil,
        at now: TimeInterval
    ) -> [MemoryValue] {
        guard order.excess(with: cost) != nil else { return [] }
        var dropped = dropExpired(in: &order, sparing: tag, at: now)
        while let measure = order.excess(with: cost), evict(tooMuch: measure, in: &order, dropping: &dropped) {}
        return dropped
    }

    private func evict(
        tooMuch measure: EvictionMeasure,
        because reason: MemoryOrder.Reason? = nil,
        in order: inout MemoryOrder,
        dropping dropped: inout [MemoryValue]
    ) -> Bool {
        let candidate = order.evict(tooMuch: measure, because: reason) { tag in
            shards[tag.shard].withLock { $0.takeUse(tag.position) }
        }
        guard let candidate else { return false }
        let entry = shards[candidate.shard].withLock { $0.take(candidate.position) }
        if let value = entry?.value { dropped.append(value) }
        return true
    }

    func dropExpired(
        in order: inout MemoryOrder,
        sparing spared: MemoryTag? = nil,
        at now: TimeInterval
    ) -> [MemoryValue] {
        var dropped: [MemoryValue] = []
        while var item = order.expiries.popDue(at: now) {
            guard item.tag != spared else { continue }
            let (entry, expiry) = shards[item.tag.shard].withLock { shard -> (MemoryShard.Entry?, TimeInterval) in
                guard shard.hasTicket(item.ticket, at: item.tag.position) else { return (nil, now) }
                let expiry = shard.entry(item.tag.position).expiry
                return (expiry <= now ? shard.take(item.tag.position) : nil, expiry)
            }
            if let entry, let value = entry.value {
                order.remove(entry.slot, because: \.expired)
                dropped.append(value)
            } else if expiry > now {
                item.instant = expiry
                order.expiries.push(item)
            }
        }
        return dropped
    }
}
