// When which entry has to be looked at. Knows nothing of entries.

import Foundation

/// Instants with tickets, the earliest first.
///
/// Hits postpone expiries all the time and must not come near this. So an instant here says when an entry may have
/// expired, not when it has: whoever takes it out looks at the entry, and puts it back with its new expiry if it has one.
/// That happens at most once in an entry's lifetime. A binary heap: putting in and taking out take logarithmic time,
/// and putting in what is later than all the rest takes constant time.
struct MemoryExpiries: Sendable {
    struct Item: Sendable {
        /// In seconds since the reference date.
        var instant: TimeInterval
        let tag: MemoryTag
        /// Tells an item apart from older ones of the same tag.
        let ticket: UInt64
    }

    private(set) var items: ContiguousArray<Item> = []
    private var lastTicket: UInt64 = 0

    /// A number that was never given out before.
    mutating func newTicket() -> UInt64 {
        lastTicket &+= 1
        return lastTicket
    }

    mutating func push(_ item: Item) {
        guard item.instant < .infinity else { return }
        var place = items.count
        items.append(item)
        while place > 0 {
            let parent = (place - 1) / 2
            guard items[parent].instant > item.instant else { break }
            items.swapAt(place, parent)
            place = parent
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

    /// Forgets the items that nobody needs any more.
    mutating func keep(where isNeeded: (Item) -> Bool) {
        items.removeAll { !isNeeded($0) }
        for place in (0..<items.count / 2).reversed() { sink(from: place) }
    }

    mutating func removeAll() { items = [] }

    private mutating func sink(from start: Int) {
        var place = start
        while true {
            var child = 2 * place + 1
            guard child < items.count else { return }
            if child + 1 < items.count, items[child + 1].instant < items[child].instant { child += 1 }
            guard items[child].instant < items[place].instant else { return }
            items.swapAt(place, child)
            place = child
        }
    }
}
