// For how long caches may keep an answer, and whether a client has it already. For the answers.

import Foundation
import HTTPTypes
import KFImageURLs
import Kingfisher

/// The fields that say for how long a result may be kept: the maximum age, or what the source says if that is handed on.
///
/// The library does what the source says about `stale-while-revalidate`, so that is handed on, too. Nothing is kept for
/// longer than the URL is valid.
func cacheFields(
    of image: EncodedImage,
    _ delivery: DeliverySettings,
    maxAge: Int,
    until end: Date?,
    now: Date = Date()
) -> HTTPFields {
    let left = end.map { max(0, Int($0.timeIntervalSince(now))) } ?? .max
    guard delivery.passesCacheControl else { return [.cacheControl: "max-age=\(min(maxAge, left)), public"] }
    guard let metadata = image.cacheMetadata else {
        // What the source said about a result in memory is not known here, so caches must ask.
        let isUnknown = image.cacheType == .memory
        return [.cacheControl: isUnknown ? "no-cache" : "max-age=\(min(maxAge, left)), public"]
    }
    if let field = metadata.cacheControl {
        let age = now.timeIntervalSince(metadata.date ?? metadata.storedAt) + (metadata.age ?? 0)
        return [.cacheControl: shortened(field, to: left), .age: "\(max(0, Int(min(age, 1e9))))"]
    }
    guard let expires = metadata.expires else { return [.cacheControl: "max-age=\(min(maxAge, left)), public"] }
    let seconds = Int(max(0, min(expires.timeIntervalSince(now), 1e9)))
    return [.cacheControl: "max-age=\(min(seconds, left)), public"]
}

/// A field `Cache-Control` that allows no more seconds than that.
private func shortened(_ field: String, to seconds: Int) -> String {
    if seconds == .max { return field }
    var isLimited = false
    let directives = field.split(separator: ",").map { directive -> String in
        let parts = directive.trimmed().split(separator: "=", maxSplits: 1)
        guard parts.count == 2, ["max-age", "s-maxage"].contains(parts[0].lowercased()) else {
            return String(directive.trimmed())
        }
        isLimited = isLimited || parts[0].lowercased() == "max-age"
        return "\(parts[0])=\(min(Int(parts[1]) ?? 0, seconds))"
    }
    return (directives + (isLimited ? [] : ["max-age=\(seconds)"])).joined(separator: ", ")
}

/// Whether the client has what would be sent.
///
/// `If-Modified-Since` counts only where it is exactly what was sent as `Last-Modified`.
func isUnmodified(for request: HTTPFields, entityTag: String?, lastModified: String?) -> Bool {
    if let field = request[.ifNoneMatch] {
        guard let entityTag else { return false }
        return field.split(separator: ",").map { $0.trimmed() }
            .contains { $0 == "*" || ($0.hasPrefix("W/") ? $0.dropFirst(2) : $0) == entityTag }
    }
    guard let lastModified else { return false }
    return request[.ifModifiedSince] == lastModified
}
