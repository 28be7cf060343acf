// How long an entry lives, and the effect of an access on that. For both caches, and for users.

public import Foundation

/// How long a cached entry stays valid.
public enum StorageExpiration: Sendable, Equatable {
    /// Valid without end.
    case never
    /// Valid for so many seconds from the moment of storing. Zero, negative numbers and NaN mean already expired.
    case seconds(TimeInterval)
    /// Valid for so many days of 86,400 seconds from the moment of storing. Zero and less mean already expired.
    case days(Int)
    /// Valid until an instant, whatever happens; reading the entry does not prolong it.
    case date(Date)
    /// Not valid at all: storing with it stores nothing, and leaves what is there.
    case expired

    /// The instant at which an entry stored at `date` stops being valid; ``never`` and what lies beyond it is
    /// `distantFuture`.
    package func estimatedExpiration(since date: Date) -> Date {
        Date(clampedSeconds: expiry(since: date.timeIntervalSinceReferenceDate))
    }

    /// The same in seconds since the reference date, for memory hits.
    ///
    /// Infinite for ``never``, minus infinite for ``expired``, and NaN for a number of seconds that is NaN.
    @inline(__always)
    func expiry(since now: TimeInterval) -> TimeInterval {
        switch self {
        case .never: .infinity
        case .seconds(let seconds): now + seconds
        case .days(let days): now + Self.seconds(inDays: days)
        case .date(let instant): instant.timeIntervalSinceReferenceDate
        case .expired: -.infinity
        }
    }

    /// Whether an entry stored at `date` would be invalid from the start.
    ///
    /// An expiry that is NaN is invalid.
    package func isExpired(at date: Date) -> Bool {
        let now = date.timeIntervalSinceReferenceDate
        return !(expiry(since: now) > now)
    }

    /// Computed as `Double`: no number of days overflows.
    static func seconds(inDays days: Int) -> TimeInterval { 86_400 * Double(days) }
}

/// The effect of an access to a cached entry on its expiry.
public enum ExpirationExtending: Sendable, Equatable {
    /// Nothing: the entry expires when it was going to.
    case none
    /// The entry's original lifetime starts again now. An entry stored until a ``StorageExpiration/date(_:)`` keeps it.
    case cacheTime
    /// The entry expires as if it were stored now with this expiration; if that is no number, when it was going to.
    case expirationTime(_ expiration: StorageExpiration)

    /// The instant at which an entry read at `now` expires from then on; `nil` means: when it was going to.
    package func expiry(readAt now: Date, original: StorageExpiration) -> Date? {
        expiry(readAt: now.timeIntervalSinceReferenceDate, original: original).map { Date(clampedSeconds: $0) }
    }

    /// The same in seconds since the reference date.
    @inline(__always)
    func expiry(readAt now: TimeInterval, original: StorageExpiration) -> TimeInterval? {
        let expiry: TimeInterval
        switch self {
        case .none: return nil
        case .cacheTime: expiry = original.expiry(since: now)
        case .expirationTime(let expiration): expiry = expiration.expiry(since: now)
        }
        return expiry.isNaN ? nil : expiry
    }
}

extension Date {
    /// The instant so many seconds after the reference date, in the distant past or future for what lies beyond.
    init(clampedSeconds seconds: TimeInterval) {
        let (earliest, latest) = (Date.distantPast, Date.distantFuture)
        let isBeyond = seconds >= latest.timeIntervalSinceReferenceDate
        // NaN too, which is no time in the future.
        let isBefore = !(seconds > earliest.timeIntervalSinceReferenceDate)
        self = isBeyond ? latest : isBefore ? earliest : Date(timeIntervalSinceReferenceDate: seconds)
    }

    /// Whether this instant is over at `referenceDate`; the same instant counts as over.
    package func isPast(referenceDate: Date) -> Bool { self <= referenceDate }
}
