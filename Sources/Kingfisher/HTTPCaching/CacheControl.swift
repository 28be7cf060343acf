// The directives of the field Cache-Control. For the freshness of cached responses.

import Foundation

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
        // It also forbids the use of stale responses (section 5.2.2.10).
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
