// Storing in a memory store, and making room for it.

import Foundation
import KFSupport

extension MemoryCore {
    func store(
        _ value: MemoryValue,
        forKey text: String,
        cost: Int,
        expiration given: StorageExpiration?,
        ifVersion version: MemoryVersion?,
        replacing: Bool = false,
        removingIfExpired: Bool = false
    ) -> [MemoryValue] {
        let key = MemoryKey(text)
        let now = now
        return order.withLock { order in
            let expiration = given ?? order.configuration.expiration
            let expiry = expiration.expiry(since: now)
            guard expiry > now || removingIfExpired else { return [] }
            if let version {
                // A store with a version is not counted as a change, which would refuse other keys of the same
                // group.
                guard order.version(of: key.digest) == version, replacing || !contains(key, at: now) else {
                    return []
                }
            } else {
                order.countChange(of: key.digest)
            }
            let isTooCostly = order.configuration.costLimit > 0 && cost > order.configuration.costLimit
            guard !isTooCostly, expiry > now else { return take(key, from: &order) }
            let entry = MemoryEntry(
                key: key,
                value: value,
                expiry: expiry,
                expiration: expiration,
                survivesPurge: order.configuration.survivesPurge
            )
            return put(entry, cost: cost, in: &order, at: now)
        }
    }

    /// Puts an entry into its part and into the order, and returns the values it replaced or had evicted.
    private func put(
        _ entry: consuming MemoryEntry,
        cost: Int,
        in order: inout MemoryOrder,
        at now: TimeInterval
    ) -> [MemoryValue] {
        let digest = entry.key.digest
        let part = part(of: digest)
        // The entry that is replaced stays readable, but is taken out of the order, which so cannot evict it.
        let slot = part.state.withLock { $0.entry(digest)?.slot }
        if let slot { order.remove(slot, because: \.replaced) }
        var dropped = makeRoom(for: cost, in: &order, sparing: digest, at: now)
        entry.slot = order.insert(.init(digest: digest, cost: cost), isKnown: slot != nil)
        entry.ticket = order.expiries.newTicket()
        let item = MemoryExpiries.Item(instant: entry.expiry, digest: digest, ticket: entry.ticket)
        let placed = entry
        if let replaced = part.state.withLock({ $0.put(placed) }) { dropped.append(replaced.value) }
        pushExpiry(item, in: &order)
        return dropped
    }

    func pushExpiry(_ item: MemoryExpiries.Item, in order: inout MemoryOrder) {
        // Items of entries that are gone stay in the queue until they are the greater part.
        if order.expiries.items.count > 2 * order.counts.entries + 64 {
            order.expiries.keep { item in
                part(of: item.digest).state.withLock { $0.entry(item.digest)?.ticket == item.ticket }
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
        sparing spared: UInt64? = nil,
        at now: TimeInterval
    ) -> [MemoryValue] {
        guard order.excess(with: cost) != nil else { return [] }
        var dropped = dropExpired(in: &order, sparing: spared, at: now)
        while let measure = order.excess(with: cost), evict(tooMuch: measure, in: &order, dropping: &dropped) {}
        return dropped
    }

    private func evict(
        tooMuch measure: EvictionMeasure,
        because reason: MemoryOrder.Reason? = nil,
        in order: inout MemoryOrder,
        dropping dropped: inout [MemoryValue]
    ) -> Bool {
        let candidate = order.evict(tooMuch: measure, because: reason) { digest in
            part(of: digest).state.withLock { $0.takeUse(digest) }
        }
        guard let candidate else { return false }
        if let entry = part(of: candidate).state.withLock({ $0.take(candidate) }) { dropped.append(entry.value) }
        return true
    }

    func dropExpired(
        in order: inout MemoryOrder,
        sparing spared: UInt64? = nil,
        at now: TimeInterval
    ) -> [MemoryValue] {
        var dropped: [MemoryValue] = []
        while var item = order.expiries.popDue(at: now) {
            guard item.digest != spared else { continue }
            guard let entry = part(of: item.digest).state.withLock({ $0.expire(item, at: now) }) else { continue }
            if entry.expiry > now {
                item.instant = entry.expiry
                order.expiries.push(item)
            } else {
                order.remove(entry.slot, because: \.expired)
                dropped.append(entry.value)
            }
        }
        return dropped
    }
}
