// An entry of a memory store, and its key. For MemoryPart, which holds it, and MemoryCore.

import CKFLinux
import Foundation

/// A stored value: an object, or a box with a value in it.
typealias MemoryValue = any AnyObject & Sendable

/// A cache key with a hash of its bytes.
///
/// Texts that differ in Unicode normalisation only are different keys, as in the file store.
struct MemoryKey: Sendable {
    let text: String
    /// A number that is the same for the same bytes in this process.
    let digest: UInt64
}

extension MemoryKey {
    init(_ text: String) {
        let digest = text.utf8.withContiguousStorageIfAvailable { kf_digest($0.baseAddress, $0.count) }
        self.init(
            text: text,
            digest: digest ?? Array(text.utf8).withUnsafeBufferPointer { kf_digest($0.baseAddress, $0.count) }
        )
    }
}

/// A value under its key, with its life.
struct MemoryEntry: Sendable {
    let key: MemoryKey
    let value: MemoryValue
    /// In seconds since the reference date.
    var expiry: TimeInterval
    let expiration: StorageExpiration
    let survivesPurge: Bool
    /// Uses that the order has not counted yet.
    var uses: UInt8 = 0
    /// Where the order keeps the entry.
    var slot: EvictionSlot = -1
    /// The ticket of the entry's latest expiry item.
    var ticket: UInt64 = 0

    /// A value that was found.
    struct Hit: Sendable {
        let value: MemoryValue
        /// Whether its entry expires earlier than before.
        let isShortened: Bool
    }

    /// The answer to a look-up.
    enum Answer: Sendable {
        case hit(Hit)
        /// The entry has expired, or is that of another key with the same digest.
        case unusable
        /// The date is over until which the entry was stored: a use may have prolonged the time in memory, but not
        /// that.
        case notFresh
    }

    mutating func use(
        as wanted: MemoryKey,
        extending: ExpirationExtending,
        mustBeFresh: Bool,
        at now: TimeInterval
    ) -> Answer {
        guard expiry > now, key.text == wanted.text else { return .unusable }
        if mustBeFresh, !isFresh(at: now) { return .notFresh }
        if uses < S3FIFO.countedUses { uses += 1 }
        let before = expiry
        if let extended = extending.expiry(readAt: now, original: expiration) { expiry = extended }
        return .hit(Hit(value: value, isShortened: expiry < before))
    }

    private func isFresh(at now: TimeInterval) -> Bool {
        guard case .date(let end) = expiration else { return false }
        return end.timeIntervalSinceReferenceDate > now
    }
}
