// What a file store has done, in numbers. Knows nothing of how it is done.

/// What has happened in a file store since it was made; taken at one instant.
package struct FileCounts: Sendable, Equatable {
    /// Readings that found an entry.
    package var hits = 0
    /// Readings that found none, expired ones included.
    package var misses = 0
    /// Those of the misses that were known without asking the system.
    package var missesWithoutDisk = 0
    /// Entries written.
    package var stores = 0
    /// Entries removed because they had expired.
    package var expired = 0
    /// Entries removed because there was no room, and those kept out because they alone exceed the limit.
    package var trimmed = 0
    /// Entries removed because they were damaged.
    package var corrupted = 0
    /// Entries removed because they were no good to who read them, although they were what had been written.
    package var discarded = 0
    /// Entries removed because that was asked for.
    package var removed = 0
    /// Bytes of the entries read.
    package var bytesRead = 0
    /// Bytes of the entries written.
    package var bytesWritten = 0
    /// Operations that failed.
    package var failures = 0

    /// No counts.
    package init() {}

    mutating func note(_ outcome: Account.Outcome) {
        switch outcome {
        case .stored(let record, _):
            stores += 1
            bytesWritten += record.size
        case .removed(.asked, _): removed += 1
        case .removed(.expired, _): expired += 1
        case .removed(.trimmed, _): trimmed += 1
        case .removed(.corrupted, _): corrupted += 1
        case .removed(.discarded, _): discarded += 1
        case .seen, .unchanged, .unknown: break
        }
    }

    /// All numbers, in an order that must never change: the ledger knows them by their place.
    var numbers: [Int] {
        [
            hits, misses, missesWithoutDisk, stores, expired, trimmed, corrupted, removed, bytesRead, bytesWritten,
            failures, discarded,
        ]
    }

    /// The counts whose number at a place is what `number` says.
    init(numbers number: (Int) -> Int) {
        (hits, misses, missesWithoutDisk, stores) = (number(0), number(1), number(2), number(3))
        (expired, trimmed, corrupted, removed) = (number(4), number(5), number(6), number(7))
        (bytesRead, bytesWritten, failures, discarded) = (number(8), number(9), number(10), number(11))
    }
}

/// What has happened in a directory since its ledger was made, in all processes together.
package struct LifetimeCounts: Sendable, Equatable {
    /// What file stores have done.
    package let files: FileCounts
    /// What the layers above have entered, in their order; zeros where they have entered nothing.
    package let above: [Int]

    /// How many numbers the layers above may enter.
    package static let longestAbove = 32
    /// Those before are this layer's own.
    static let firstPlaceAbove = 32

    init(_ ledger: Ledger) {
        // Whoever may write to the ledger may write anything: these numbers can be added up all the same.
        func number(_ place: Int) -> Int { min(max(0, ledger.count(place)), 1 << 60) }
        files = FileCounts(numbers: number)
        above = (0..<Self.longestAbove).map { number(Self.firstPlaceAbove + $0) }
    }
}
