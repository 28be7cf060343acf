// How long a response is fresh: RFC 9111, section 4.2, for private and for shared caches. The caller passes the time.

public import Foundation

extension CacheMetadata {
    /// Whether the bytes may be used at `instant` without a request to the server.
    ///
    /// Only explicit freshness counts: without `max-age` or `Expires` a response is never fresh. If redirects led to it,
    /// they must be fresh, too: a permanent one (301, 308) that does not say how long counts as fresh, another one as
    /// not.
    /// - Parameters:
    ///   - instant: The time.
    ///   - isShared: Whether the cache is shared by several people: then `s-maxage` comes first.
    /// - Returns: Whether it is fresh.
    public func isFresh(at instant: Date, inShared isShared: Bool = false) -> Bool {
        chain.allSatisfy { $0.isItselfFresh(at: instant, CacheControl($0.cacheControl, isShared: isShared)) }
    }

    /// The same, without its redirects.
    private func isItselfFresh(at instant: Date, _ control: CacheControl) -> Bool {
        guard !control.noCache, !control.noStore, let lifetime = lifetime(control) else { return false }
        return currentAge(at: instant) < lifetime
    }

    /// Whether the server has declared that the bytes never change while they are fresh.
    public var isImmutable: Bool { chain.allSatisfy { CacheControl($0.cacheControl).isImmutable } }

    /// Whether the server forbids storing the bytes.
    public var forbidsStoring: Bool { chain.contains { CacheControl($0.cacheControl).noStore } }

    /// The seconds for which the response is fresh, from the time it was made; nil if the server has not stated them.
    ///
    /// Redirects that led to the response have times of their own, which do not count here.
    public var freshnessLifetime: TimeInterval? { lifetime(CacheControl(cacheControl)) }

    /// Until when the bytes may be used without a request to the server; the distant past if never, nil if the server
    /// does not say.
    func freshUntil(inShared isShared: Bool) -> Date? {
        chain.compactMap { $0.itselfFreshUntil(inShared: isShared) }.min()
    }

    private func itselfFreshUntil(inShared isShared: Bool) -> Date? {
        let control = CacheControl(cacheControl, isShared: isShared)
        guard !control.noCache, !control.noStore else { return .distantPast }
        return lifetime(control).map { storedAt.addingTimeInterval($0 - currentAge(at: storedAt)) }
    }

    /// Whether bytes that are not fresh at `instant` may be used while the server is asked about them
    /// (`stale-while-revalidate`, RFC 5861).
    func mayBeUsedWhileRevalidating(at instant: Date, inShared isShared: Bool) -> Bool {
        mayBeUsed(at: instant, inShared: isShared) { $0.staleWhileRevalidate }
    }

    /// Whether bytes that are not fresh at `instant` may be used after a request for them has failed: when the server
    /// cannot be reached (RFC 9111, section 4.2.4), or as `stale-if-error` says (RFC 5861).
    func mayBeUsed(after error: KingfisherError, at instant: Date, inShared isShared: Bool) -> Bool {
        if error.isConnectionFailure {
            return chain.allSatisfy { response in
                let control = CacheControl(response.cacheControl, isShared: isShared)
                return !control.mustRevalidate && !control.noCache && !control.noStore
            }
        }
        return error.isServerFailure && mayBeUsed(at: instant, inShared: isShared) { $0.staleIfError }
    }

    /// Whether bytes that are not fresh may be used, since every response of the chain is fresh, or may be used for so
    /// many more seconds.
    private func mayBeUsed(
        at instant: Date,
        inShared isShared: Bool,
        for seconds: (CacheControl) -> TimeInterval?
    ) -> Bool {
        !isFresh(at: instant, inShared: isShared)
            && chain.allSatisfy { response in
                let control = CacheControl(response.cacheControl, isShared: isShared)
                return response.isItselfFresh(at: instant, control)
                    || response.isStale(at: instant, for: seconds(control), control)
            }
    }

    /// Whether the bytes have not been stale for longer than so many seconds, and may be used then.
    private func isStale(at instant: Date, for seconds: TimeInterval?, _ control: CacheControl) -> Bool {
        guard let seconds, let lifetime = lifetime(control), !control.noCache, !control.noStore,
            !control.mustRevalidate
        else { return false }
        return currentAge(at: instant) - lifetime <= seconds
    }

    /// The seconds between the time the server made or confirmed the response and `instant`, as far as is known.
    public func currentAge(at instant: Date) -> TimeInterval {
        let apparent = date.map { storedAt.timeIntervalSince($0) } ?? 0
        let initial = max(0, apparent, age ?? 0)
        return initial + max(0, instant.timeIntervalSince(storedAt))
    }

    private func lifetime(_ control: CacheControl) -> TimeInterval? {
        if let maxAge = control.maxAge { return maxAge }
        return expires.map { max(0, $0.timeIntervalSince(date ?? storedAt)) }
    }
}

/// The directives of a field `Cache-Control`, as they concern a private cache or a shared one.
struct CacheControl: Equatable {
    var noCache = false
    var noStore = false
    var mustRevalidate = false
    /// For how many seconds bytes may be used when they are not fresh any more: while the server is asked, and after an
    /// error.
    var staleWhileRevalidate: TimeInterval?
    var staleIfError: TimeInterval?
    var isImmutable = false
    /// Seconds; the smallest if there are several, and zero if one is not a number.
    var maxAge: TimeInterval?

    /// Whether a shared cache may store the response to a request with credentials (RFC 9111, section 3.5).
    var isForEveryone = false

    /// Reads the field of a response.
    /// - Parameters:
    ///   - field: The field, if there is one.
    ///   - isShared: Whether a shared cache asks: then `private`, `s-maxage` and `proxy-revalidate` count.
    init(_ field: String?, isShared: Bool = false) {
        var sharedMaxAge: TimeInterval?
        for directive in Self.directives(of: field ?? "") {
            let parts = directive.split(separator: "=", maxSplits: 1)
            let name = (parts.first ?? "").trimmingCharacters(in: .whitespaces).lowercased()
            let seconds = parts.count == 2 ? Self.seconds(String(parts[1])) : nil
            switch name {
            // With field names after it, it concerns those fields only; applying it to all of them is safe.
            case "no-cache": noCache = true
            case "no-store": noStore = true
            case "immutable": isImmutable = true
            case "max-age":
                maxAge = min(maxAge ?? .infinity, seconds ?? 0)
            case "must-revalidate": (mustRevalidate, isForEveryone) = (true, true)
            case "public": isForEveryone = true
            case "private": noStore = noStore || isShared
            case "s-maxage": sharedMaxAge = min(sharedMaxAge ?? .infinity, seconds ?? 0)
            case "proxy-revalidate": mustRevalidate = mustRevalidate || isShared
            case "stale-while-revalidate": staleWhileRevalidate = seconds
            case "stale-if-error": staleIfError = seconds
            default: break
            }
        }
        guard isShared, let sharedMaxAge else { return }
        // It also forbids to use what is stale (section 5.2.2.10).
        (maxAge, mustRevalidate, isForEveryone) = (sharedMaxAge, true, true)
    }

    /// The parts between commas that are not in quotes.
    private static func directives(of field: String) -> [Substring] {
        var isQuoted = false
        return field.split { character in
            if character == "\"" { isQuoted.toggle() }
            return character == "," && !isQuoted
        }
    }

    /// A number of whole seconds, in quotes or not; nil for other text.
    ///
    /// A larger number counts as 2³¹.
    static func seconds(_ text: String) -> TimeInterval? {
        let digits = text.trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return min(TimeInterval(digits) ?? .infinity, 2_147_483_648)
    }
}

/// The dates of HTTP, in the current form and the two obsolete ones (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The instant that a field's value stands for; nil if it is not a date.
    static func date(from text: String) -> Date? {
        // "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" and "Sun Nov  6 08:49:37 1994" all fall
        // into a name, two or three parts of a day, and a time; the form follows from their number and order.
        var parts = text.split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
        if parts.count == 6, parts[5] == "GMT" || parts[5] == "UTC" {
            parts.removeLast()
        } else if parts.count == 5, Int(parts[1]) == nil {
            parts = [parts[0], parts[2], parts[1], parts[4], parts[3]]
        } else {
            return nil
        }
        guard let day = Int(parts[1]), let month = months.firstIndex(of: parts[2]), var year = Int(parts[3]) else {
            return nil
        }
        if parts[3].count == 2 { year += year < 70 ? 2_000 : 1_900 }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard (1...31).contains(day), (1_601...9_999).contains(year), clock.count == 3, (0...23).contains(clock[0]),
            (0...59).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        let seconds = clock[0] * 3_600 + clock[1] * 60 + clock[2]
        return Date(timeIntervalSince1970: TimeInterval(daysSince1970(year, month + 1, day) * 86_400 + seconds))
    }

    /// Days of the Gregorian calendar, counted in years that begin in March, so that a leap day ends one.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let (century, yearOfCentury) = (year / 400, year % 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let dayOfCentury = yearOfCentury * 365 + yearOfCentury / 4 - yearOfCentury / 100 + dayOfYear
        return century * 146_097 + dayOfCentury - 719_468
    }
}
