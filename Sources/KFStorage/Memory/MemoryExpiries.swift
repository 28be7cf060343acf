// When each entry has to be checked for expiry. For MemoryOrder.

import Foundation

/// Instants with tickets, the earliest first.
///
/// Hits postpone expiries all the time and must not touch this. So an instant here says when an entry may have expired,
/// not when it has: the caller that pops an item checks the entry, and pushes the item again if the entry expires
/// later. That happens at most once in an entry's lifetime. A binary heap: pushing and popping take logarithmic time,
/// and pushing an item later than all others takes constant time.
struct MemoryExpiries: Sendable {
    struct Item: Sendable {
        /// In seconds since the reference date.
        var instant: TimeInterval
        /// Of the key of the entry.
        let digest: UInt64
        /// Distinguishes an item from older ones of the same key.
        let ticket: UInt64
    }

    private(set) var items: ContiguousArray<Item> = []
    private var lastTicket: UInt64 = 0

    /// A ticket that was never returned before.
    mutating func newTicket() -> UInt64 {
        lastTicket &+= 1
        return lastTicket
    }

    mutating func push(_ item: Item) {
        guard item.instant < .infinity else { return }
        var index = items.count
        items.append(item)
        while index > 0 {
            let parent = (index - 1) / 2
            guard items[parent].instant > item.instant else { break }
            items.swapAt(index, parent)
            index = parent
        }
    }

    /// Takes out the earliest item if its instant is not after `now`.
    mutating func popDue(at now: TimeInterval) -> Item? {
        guard let first = items.first, first.instant <= now, let last = items.popLast() else { return nil }
        if !items.isEmpty {
            items[0] = last
            sink(from: 0)
        }
        return first
    }

    /// Keeps only the items that are still needed.
    mutating func keep(where isNeeded: (Item) -> Bool) {
        items.removeAll { !isNeeded($0) }
        for index in (0..<items.count / 2).reversed() { sink(from: index) }
    }

    mutating func removeAll() { items = [] }

    private mutating func sink(from start: Int) {
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < items.count else { return }
            if child + 1 < items.count, items[child + 1].instant < items[child].instant { child += 1 }
            guard items[child].instant < items[index].instant else { return }
            items.swapAt(index, child)
            index = child
        }
    }
}
