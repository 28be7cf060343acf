// A part of the entries of a memory store, by key. For MemoryCore, which has the locks and the limits.

import Foundation

/// A stored value: an object, or a box with a value in it.
typealias MemoryValue = any AnyObject & Sendable

/// Where an entry lies: in which shard, and at which position there.
struct MemoryTag: Sendable, Equatable {
    let shard: Int
    let position: Int

    /// The same as one number.
    var bits: UInt64 { UInt64(shard) << 32 | UInt64(position) }
}

extension MemoryTag {
    init(bits: UInt64) { self.init(shard: Int(bits >> 32), position: Int(bits & 0xFFFF_FFFF)) }
}

/// The state of one shard.
///
/// A hit reads and writes this alone. An operation that adds or removes entries also holds the lock of the store's
/// order, so a position stays valid for as long as that lock is held.
struct MemoryShard: Sendable {
    /// An entry at its position; without a value the position is free.
    struct Entry: Sendable {
        let key: MemoryKey
        let value: MemoryValue?
        /// In seconds since the reference date.
        var expiry: TimeInterval
        let expiration: StorageExpiration
        var survivesPurge = false
        /// Uses that the order has not counted yet.
        var uses: UInt8 = 0
        /// Where the order keeps the entry.
        var slot: EvictionSlot = -1
        /// The ticket of the entry's latest expiry item.
        var ticket: UInt64 = 0

        @inline(__always)
        mutating func use(extending: ExpirationExtending, at now: TimeInterval) -> Hit {
            if uses < S3FIFO.countedUses { uses &+= 1 }
            let before = expiry
            // An unchanged expiry is not written: other processors may have the cache line. The clock ticks
            // in milliseconds, so of many hits in a row most change nothing.
            if let extended = extending.expiry(readAt: now, original: expiration), extended != before {
                expiry = extended
            }
            return Hit(value: value, isShortened: expiry < before)
        }

        static let vacant = Entry(key: MemoryKey(""), value: nil, expiry: -.infinity, expiration: .expired)
    }

    /// A value that was found.
    struct Hit: Sendable {
        let value: MemoryValue?
        /// Whether its entry expires earlier than before.
        let isShortened: Bool
    }

    private var index = MemoryIndex()
    private var entries: ContiguousArray<Entry> = []
    private var free: ContiguousArray<Int32> = []
    private(set) var hits = 0
    private(set) var misses = 0

    // MARK: Looking up

    @inline(__always)
    func position(of key: MemoryKey.Query) -> Int? {
        index.find(key.digest) { entries[$0].key.matches(key) }
    }

    /// The entry at a position that is in use, or was.
    func entry(_ position: Int) -> Entry { entries[position] }

    func contains(_ key: MemoryKey.Query, at now: TimeInterval) -> Bool {
        position(of: key).map { entries[$0].expiry > now } ?? false
    }

    @inline(__always)
    mutating func hit(
        _ key: MemoryKey.Query,
        extending: ExpirationExtending,
        countingMiss: Bool,
        mustBeFresh: Bool,
        at now: TimeInterval
    ) -> Hit? {
        guard let position = position(of: key), entries[position].expiry > now else {
            if countingMiss { misses &+= 1 }
            return nil
        }
        if mustBeFresh, !isFresh(position, at: now) { return nil }
        hits &+= 1
        return entries[position].use(extending: extending, at: now)
    }

    /// Whether the date is still to come until which an entry was stored.
    ///
    /// A use may have prolonged the time in memory, but not this date. (Not inlined: the usual look-up stays short.)
    @inline(never)
    private func isFresh(_ position: Int, at now: TimeInterval) -> Bool {
        guard case .date(let end) = entries[position].expiration else { return false }
        return end.timeIntervalSinceReferenceDate > now
    }

    // MARK: Changing, under the lock of the order as well

    /// A position for an entry to be put at.
    mutating func reserve() -> Int {
        if let position = free.popLast() { return Int(position) }
        entries.append(.vacant)
        return entries.count - 1
    }

    /// Puts `entry` at a reserved position, or in place of the entry of the same key, and returns the old value.
    mutating func put(_ entry: Entry, at position: Int) -> MemoryValue? {
        let replaced = entries[position].value
        if replaced == nil { index.insert(entry.key.digest, position: position) }
        entries[position] = entry
        return replaced
    }

    mutating func take(_ position: Int) -> Entry? {
        let entry = entries[position]
        guard entry.value != nil else { return nil }
        index.remove(entry.key.digest, position: position)
        entries[position] = .vacant
        free.append(Int32(position))
        return entry
    }

    /// Takes out all entries for which `isMeant` returns true.
    mutating func takeAll(where isMeant: (Entry) -> Bool) -> [Entry] {
        entries.indices.compactMap { isMeant(entries[$0]) ? take($0) : nil }
    }

    /// Takes out everything at once.
    mutating func clear() -> ContiguousArray<Entry> {
        index = MemoryIndex()
        free = []
        return exchange(&entries, with: [])
    }

    /// Takes one use off the entry's count, and returns whether there was one.
    mutating func takeUse(_ position: Int) -> Bool {
        guard entries[position].uses > 0 else { return false }
        entries[position].uses &-= 1
        return true
    }

    func hasTicket(_ ticket: UInt64, at position: Int) -> Bool {
        position < entries.count && entries[position].ticket == ticket
    }

    mutating func setTicket(_ ticket: UInt64, at position: Int) { entries[position].ticket = ticket }
}
