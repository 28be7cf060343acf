// The caching metadata of a response, as values. The cache stores it, and the manager revalidates with it.

public import Foundation
public import FoundationNetworking

/// The caching metadata of a response: the fields that say how long its bytes are fresh, and those that revalidate them
/// with the server.
///
/// It is stored with an entry of the disk cache. Where redirects led to the response, their caching metadata is part of
/// it: what is said about freshness and storing holds for the whole chain.
public struct CacheMetadata: Sendable, Equatable {
    /// The validator to be sent as `If-None-Match`, as it came, with its quotes.
    public let eTag: String?
    /// The validator to be sent as `If-Modified-Since`, as it came.
    public let lastModified: String?
    /// The field `Cache-Control`, as it came.
    public let cacheControl: String?
    /// The instant of the field `Expires`; a value that is not a date becomes the distant past, since it means "expired
    /// already".
    public let expires: Date?
    /// The instant of the field `Date`: when the server made the response.
    public let date: Date?
    /// The seconds of the field `Age`: for how long other caches had kept the response.
    public let age: TimeInterval?
    /// The field `Vary`, as it came: the request's fields on which the response depends.
    public let vary: String?
    /// A digest of the values that the request had in those fields; nil if they are not known.
    let variant: String?
    /// The URL that was requested for the bytes.
    public let url: URL?
    /// When the response arrived here, or was last confirmed by the server.
    public internal(set) var storedAt: Date
    /// How many seconds it took to load and make the kept bytes; nil if that time is not known.
    var makingTime: TimeInterval?
    /// Which purge was the last one before the kept bytes were loaded; 0 before the first.
    var generation: UInt64 = 0
    /// The same of the responses that redirected to this one, as far as they limit something.
    var redirects: [CacheMetadata] = []

    /// Reads the fields of a response.
    /// - Parameters:
    ///   - url: Where the response came from.
    ///   - request: What it is the response to; matters where it has a field `Vary`.
    ///   - storedAt: When it arrived.
    ///   - field: Returns the value of a header field by its name, fields of one name joined by commas.
    public init(
        url: URL?,
        request: URLRequest? = nil,
        storedAt: Date = Date(),
        field: (_ name: String) -> String?
    ) {
        func text(_ name: String) -> String? { field(name).flatMap(Self.clean) }
        let vary = text("Vary").map { $0.utf8.count <= Self.longestVary ? $0 : "*" }
        self.init(
            eTag: text("ETag"),
            lastModified: text("Last-Modified"),
            cacheControl: text("Cache-Control"),
            expires: field("Expires").map { HTTPDate.date(from: $0) ?? .distantPast },
            date: field("Date").flatMap { HTTPDate.date(from: $0) },
            age: text("Age").flatMap { CacheControl.seconds($0) },
            vary: vary,
            variant: vary.flatMap { vary in request.flatMap { Self.variant(vary, of: $0) } },
            url: url,
            storedAt: storedAt
        )
    }

    /// Reads the fields of a response.
    /// - Parameters:
    ///   - response: The response.
    ///   - request: What it is the response to; matters where it has a field `Vary`.
    ///   - storedAt: When it arrived.
    public init(response: HTTPURLResponse, to request: URLRequest? = nil, storedAt: Date = Date()) {
        self.init(url: response.url, request: request, storedAt: storedAt) {
            response.value(forHTTPHeaderField: $0)
        }
    }

    package init(
        eTag: String? = nil,
        lastModified: String? = nil,
        cacheControl: String? = nil,
        expires: Date? = nil,
        date: Date? = nil,
        age: TimeInterval? = nil,
        vary: String? = nil,
        variant: String? = nil,
        url: URL? = nil,
        storedAt: Date,
        makingTime: TimeInterval? = nil,
        redirects: [CacheMetadata] = []
    ) {
        self.eTag = eTag
        self.lastModified = lastModified
        self.cacheControl = cacheControl
        self.expires = expires
        self.date = date
        self.age = age
        self.vary = vary
        self.variant = variant
        self.url = url
        self.storedAt = storedAt
        self.makingTime = makingTime
        self.redirects = redirects
    }

    /// A field's value without the space around it; nil if nothing remains, or if it could inject a line into a
    /// request.
    static func clean(_ value: String) -> String? {
        // Bytes that are not ASCII may be of a space, too.
        let isSpace = { (byte: UInt8?) in byte == nil || byte == 0x20 || byte == 9 || byte.map { $0 >= 0x80 } == true }
        let mayHaveSpace = isSpace(value.utf8.first) || isSpace(value.utf8.last)
        let value = mayHaveSpace ? value.trimmingCharacters(in: .whitespaces) : value
        let isPlain = value.unicodeScalars.allSatisfy { $0 == "\t" || ($0.value >= 0x20 && $0.value != 0x7F) }
        return value.isEmpty || !isPlain ? nil : value
    }

    // MARK: Revalidation

    /// The header fields of a conditional request for the bytes; empty if the server sent no validator.
    public var conditionalFields: [String: String] {
        var fields: [String: String] = [:]
        fields["If-None-Match"] = eTag
        fields["If-Modified-Since"] = lastModified
        return fields
    }

    /// The cache metadata after the server has confirmed the bytes (with status 304): its new fields replace the old
    /// ones.
    /// - Parameter newer: The metadata of the confirming response.
    /// - Returns: The metadata that holds from now on.
    public func confirmed(by newer: CacheMetadata) -> CacheMetadata {
        CacheMetadata(
            eTag: newer.eTag ?? eTag,
            lastModified: newer.lastModified ?? lastModified,
            cacheControl: newer.cacheControl ?? cacheControl,
            // An old date would make the response older than it is.
            expires: newer.expires ?? expires,
            date: newer.date,
            age: newer.age,
            vary: newer.vary ?? vary,
            variant: newer.vary == nil || newer.vary == vary ? variant : nil,
            url: url ?? newer.url,
            storedAt: newer.storedAt,
            makingTime: makingTime,
            redirects: newer.redirects
        )
    }
}
