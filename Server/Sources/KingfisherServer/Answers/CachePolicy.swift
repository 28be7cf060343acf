// For how long caches may keep an answer. For the answers.

package import Foundation
package import HTTPTypes
package import KFImageURLs
@_spi(Server) package import Kingfisher

/// The rules for how long one answer may be kept.
package struct CachePolicy {
    private let delivery: DeliverySettings
    private let maxAge: Int
    private let end: Date?

    /// Rules for an answer.
    ///
    /// - Parameters:
    ///   - delivery: The configuration.
    ///   - maxAge: Seconds, unless the source's field is handed on.
    ///   - end: When the URL ends to be valid; nothing is kept for longer.
    package init(_ delivery: DeliverySettings, maxAge: Int, until end: Date?) {
        (self.delivery, self.maxAge, self.end) = (delivery, maxAge, end)
    }

    /// The fields that say it.
    ///
    /// What the source says about `stale-while-revalidate` is handed on with the rest, since the library does it. A
    /// source that is not for caches which several clients share says so to these, too, whatever is configured.
    ///
    /// - Parameters:
    ///   - metadata: What the source said.
    ///   - now: The time.
    /// - Returns: `Cache-Control`, and `Age` with that of the source.
    package func fields(for metadata: CacheMetadata?, now: Date = Date()) -> HTTPFields {
        let left = end.map { max(0, Int($0.timeIntervalSince(now))) } ?? .max
        let ours = "max-age=\(min(maxAge, left)), public"
        guard let metadata else { return [.cacheControl: ours] }
        guard delivery.passesCacheControl else {
            guard metadata.forbidsStoring(inShared: true) else { return [.cacheControl: ours] }
            return [.cacheControl: metadata.remainingCacheControl(at: now, atMost: Double(left)) ?? ours]
        }
        if let field = metadata.cacheControl {
            let age = Int(max(0, min(metadata.currentAge(at: now), 1e9)))
            return [.cacheControl: Self.shortened(field, to: left), .age: "\(age)"]
        }
        return [.cacheControl: metadata.remainingCacheControl(at: now, atMost: Double(left)) ?? ours]
    }

    /// A field that allows no more seconds than that.
    private static func shortened(_ field: String, to seconds: Int) -> String {
        if seconds == .max { return field }
        var isLimited = false
        let directives = field.split(separator: ",").map { directive -> String in
            let parts = directive.trimmingCharacters(in: .whitespaces).split(separator: "=", maxSplits: 1)
            guard parts.count == 2, ["max-age", "s-maxage"].contains(parts[0].lowercased()) else {
                return directive.trimmingCharacters(in: .whitespaces)
            }
            isLimited = isLimited || parts[0].lowercased() == "max-age"
            return "\(parts[0])=\(min(Int(parts[1]) ?? 0, seconds))"
        }
        return (directives + (isLimited ? [] : ["max-age=\(seconds)"])).joined(separator: ", ")
    }
}

extension HTTPFields {
    /// Whether a request has the server ask for what it has a copy of, as a browser does that reloads all of a page.
    package var asksForReload: Bool {
        self[values: .cacheControl].contains { field in
            field.split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces).lowercased() == "no-cache" }
        }
    }
}
