// The fields by which a client asks whether it has what would be sent. For servers that send results.

import Foundation

/// What tells a response from others of its URL: the fields `ETag` and `Last-Modified` (RFC 9110, section 8.8). (Not in
/// Kingfisher.)
public struct ResponseValidators: Hashable, Sendable {
    /// The field `ETag`, a strong one, with its quotes; nil for none.
    public var entityTag: String?
    /// The field `Last-Modified`; nil for none.
    public var lastModified: String?

    /// Validators of a response.
    ///
    /// - Parameters:
    ///   - entityTag: The field `ETag`, with its quotes.
    ///   - lastModified: The field `Last-Modified`.
    public init(entityTag: String? = nil, lastModified: String? = nil) {
        (self.entityTag, self.lastModified) = (entityTag, lastModified)
    }

    /// Whether a client has the response already, so that it gets the status 304 and no body.
    ///
    /// A date counts only where there is no field `If-None-Match` (RFC 9110, section 13.2.2).
    ///
    /// - Parameters:
    ///   - ifNoneMatch: The field `If-None-Match` of the request; nil where there is none.
    ///   - ifModifiedSince: The field `If-Modified-Since`; nil where there is none.
    /// - Returns: Whether it has.
    public func isUnmodified(ifNoneMatch: String?, ifModifiedSince: String? = nil) -> Bool {
        if let ifNoneMatch {
            guard let entityTag else { return false }
            let tags = ifNoneMatch.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            return tags.contains { $0 == "*" || ($0.hasPrefix("W/") ? String($0.dropFirst(2)) : $0) == entityTag }
        }
        guard let lastModified, let ifModifiedSince else { return false }
        if ifModifiedSince == lastModified { return true }
        guard let modified = HTTPDate.date(from: lastModified), let known = HTTPDate.date(from: ifModifiedSince) else {
            return false
        }
        return modified <= known
    }
}

extension EncodedImage {
    /// The field `ETag` of a response with the file: the ``checksum`` in quotes.
    public var entityTag: String { "\"" + String(checksum, radix: 36) + "\"" }

    /// The validators of a response with the file: ``entityTag``, and when the source was changed, if its server said
    /// so.
    ///
    /// A damaged result has none, since the next one may be whole.
    public var validators: ResponseValidators {
        isDamaged
            ? ResponseValidators()
            : ResponseValidators(entityTag: entityTag, lastModified: cacheMetadata?.lastModified)
    }
}
