// A part of the entries of a memory store, by key, behind a lock. For MemoryCore, which has the limits.

import KFSupport

/// One of the dictionaries of a memory store, and the lock around it.
///
/// A hit reads and writes this alone. An operation that adds or removes entries also holds the lock of the store's
/// order.
final class MemoryPart: Sendable {
    struct State: Sendable {
        /// The entries by the digests of their keys: keys with the same digest replace each other.
        private var entries: [UInt64: MemoryEntry] = [:]
        private(set) var hits = 0
        private(set) var misses = 0
    }

    let state = Locked(State())
}

extension MemoryPart.State {
    // MARK: Looking up

    /// An entry, expired or not; does not count as a use.
    func entry(of key: MemoryKey) -> MemoryEntry? {
        guard let entry = entries[key.digest], entry.key.text == key.text else { return nil }
        return entry
    }

    mutating func hit(
        _ key: MemoryKey,
        extending: ExpirationExtending,
        countingMiss: Bool,
        mustBeFresh: Bool,
        at now: Double
    ) -> MemoryEntry.Hit? {
        let answer = entries.index(forKey: key.digest).map { index in
            entries.values[index].use(as: key, extending: extending, mustBeFresh: mustBeFresh, at: now)
        }
        switch answer {
        case .hit(let hit)?:
            hits += 1
            return hit
        case .unusable?, nil:
            if countingMiss { misses += 1 }
            return nil
        case .notFresh?:
            return nil
        }
    }

    // MARK: Changing, under the lock of the order as well

    func entry(_ digest: UInt64) -> MemoryEntry? { entries[digest] }

    /// Puts an entry under its key, and returns the one it replaces.
    mutating func put(_ entry: MemoryEntry) -> MemoryEntry? { entries.updateValue(entry, forKey: entry.key.digest) }

    mutating func take(_ digest: UInt64) -> MemoryEntry? { entries.removeValue(forKey: digest) }

    /// The entry of an expiry item, which is taken out if it has expired; nil if the item is not its latest one.
    mutating func expire(_ item: MemoryExpiries.Item, at now: Double) -> MemoryEntry? {
        guard let entry = entries[item.digest], entry.ticket == item.ticket else { return nil }
        if entry.expiry <= now { entries[item.digest] = nil }
        return entry
    }

    /// Takes out all entries for which `isMeant` returns true.
    mutating func takeAll(where isMeant: (MemoryEntry) -> Bool) -> [MemoryEntry] {
        let taken = entries.values.filter(isMeant)
        for entry in taken { entries[entry.key.digest] = nil }
        return taken
    }

    /// Takes out everything at once.
    mutating func clear() -> [UInt64: MemoryEntry] { exchange(&entries, with: [:]) }

    /// Takes one use off an entry's count, and returns whether there was one.
    mutating func takeUse(_ digest: UInt64) -> Bool {
        guard let uses = entries[digest]?.uses, uses > 0 else { return false }
        entries[digest]?.uses = uses - 1
        return true
    }

    /// Gives an entry the ticket of a new expiry item, and returns when the entry expires.
    mutating func setTicket(_ ticket: UInt64, _ digest: UInt64) -> Double? {
        entries[digest]?.ticket = ticket
        return entries[digest]?.expiry
    }
}
