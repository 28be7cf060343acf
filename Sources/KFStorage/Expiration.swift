// How long an entry lives, and what an access does to that. Knows nothing of stores.

public import Foundation

/// How long a cached entry stays valid.
public enum StorageExpiration: Sendable, Equatable {
    /// Valid for ever.
    case never
    /// Valid for so many seconds from the moment of storing. Zero and less mean already expired, and so does what is no
    /// number.
    case seconds(TimeInterval)
    /// Valid for so many days of 86,400 seconds from the moment of storing. Zero and less mean already expired.
    case days(Int)
    /// Valid until an instant, whatever happens; reading the entry does not prolong it.
    case date(Date)
    /// Not valid at all: storing with it removes what was there.
    case expired

    /// The instant at which an entry stored at `date` stops being valid.
    package func estimatedExpiration(since date: Date) -> Date {
        switch self {
        case .never: .distantFuture
        case .seconds(let seconds): seconds.isNaN ? .distantPast : date.addingTimeInterval(seconds)
        case .days(let days): date.addingTimeInterval(TimeConstants.seconds(inDays: days))
        case .date(let instant): instant
        case .expired: .distantPast
        }
    }

    /// The same in seconds since the reference date, infinite for what always or never holds: what a memory hit uses.
    @inline(__always)
    func expiry(since now: TimeInterval) -> TimeInterval {
        switch self {
        case .never: .infinity
        case .seconds(let seconds): seconds.isNaN ? -.infinity : now + seconds
        case .days(let days): now + TimeConstants.seconds(inDays: days)
        case .date(let instant): instant.timeIntervalSinceReferenceDate
        case .expired: -.infinity
        }
    }

    /// The instant at which an entry stored now stops being valid.
    package var estimatedExpirationSinceNow: Date { estimatedExpiration(since: Date()) }

    /// The seconds an entry stored at `date` is valid; infinite for ``never``, negative for a date that has passed.
    package func timeInterval(since date: Date) -> TimeInterval {
        switch self {
        case .never: .infinity
        case .seconds(let seconds): seconds
        case .days(let days): TimeConstants.seconds(inDays: days)
        case .date(let instant): instant.timeIntervalSince(date)
        case .expired: -.infinity
        }
    }

    /// The seconds an entry stored now is valid.
    package var timeInterval: TimeInterval { timeInterval(since: Date()) }

    /// Whether an entry stored at `date` would be invalid from the start.
    ///
    /// One that is NaN is invalid.
    package func isExpired(at date: Date) -> Bool { !(timeInterval(since: date) > 0) }

    /// Whether its time is a number, and not NaN.
    @inline(__always)
    fileprivate var isNumber: Bool {
        switch self {
        case .seconds(let seconds): !seconds.isNaN
        case .date(let instant): !instant.timeIntervalSinceReferenceDate.isNaN
        case .never, .days, .expired: true
        }
    }

    /// Whether an entry stored now would be invalid from the start.
    package var isExpired: Bool { isExpired(at: Date()) }
}

/// What an access to a cached entry does to its expiry.
public enum ExpirationExtending: Sendable, Equatable {
    /// Nothing: the entry expires when it was going to.
    case none
    /// The entry's original lifetime starts again now. An entry stored until a ``StorageExpiration/date(_:)`` keeps it.
    case cacheTime
    /// The entry expires as if it were stored now with this expiration; if that is no number, when it was going to.
    case expirationTime(_ expiration: StorageExpiration)

    /// The instant at which an entry read at `now` expires from then on; `nil` means: when it was going to.
    package func expiry(readAt now: Date, original: StorageExpiration) -> Date? {
        switch self {
        case .none: nil
        case .cacheTime: original.estimatedExpiration(since: now)
        case .expirationTime(let expiration): expiration.isNumber ? expiration.estimatedExpiration(since: now) : nil
        }
    }

    /// The same in seconds since the reference date.
    @inline(__always)
    func expiry(readAt now: TimeInterval, original: StorageExpiration) -> TimeInterval? {
        switch self {
        case .none: nil
        case .cacheTime: original.expiry(since: now)
        case .expirationTime(let expiration): expiration.isNumber ? expiration.expiry(since: now) : nil
        }
    }
}

/// Lengths of time, in seconds.
package enum TimeConstants {
    /// A day.
    package static let secondsInOneDay = 86_400

    /// Computed as `Double`: no number of days overflows.
    static func seconds(inDays days: Int) -> TimeInterval { Double(secondsInOneDay) * Double(days) }
}

extension Date {
    /// Whether this instant is over at `referenceDate`; the same instant counts as over.
    package func isPast(referenceDate: Date) -> Bool { self <= referenceDate }

    /// Whether this instant is over.
    package var isPast: Bool { isPast(referenceDate: Date()) }
}
