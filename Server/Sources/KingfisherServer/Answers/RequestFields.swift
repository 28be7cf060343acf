// What the routes read from the fields of a request: its identifier, which the log and the answer have, and its token.

import HTTPTypes
import KFImageURLs
@_spi(Server) import KingfisherTiers

/// What the request brings as `X-Request-ID`, if that is short and harmless; otherwise a new one.
func requestIdentifier(of request: HTTPRequest) -> String {
    if let name = HTTPField.Name.requestIdentifier, let given = request.headerFields[name],
        (1...64).contains(given.utf8.count), given.utf8.allSatisfy(isUnreserved)
    {
        return given
    }
    return String(UInt64.random(in: .min ... .max), radix: 36)
}

/// Whether a byte needs no escape in any part of a URL.
func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
        UInt8(ascii: "~"):
        true
    default: false
    }
}

extension HTTPField.Name {
    static let requestIdentifier = Self("X-Request-ID")
    static let cacheTag = Self("Cache-Tag")
}

extension HTTPFields {
    /// Sets a field whose name is not among those that the package knows.
    mutating func set(_ name: HTTPField.Name?, _ value: String) {
        if let name { self[name] = value }
    }
}

extension HTTPFields {
    /// Whether `Authorization` has a token, as `Bearer`; the time it takes says nothing about it.
    func hasToken(_ token: String) -> Bool {
        let field = self[.authorization] ?? ""
        let sent = field.hasPrefix("Bearer ") ? String(field.dropFirst(7)) : ""
        // Of hashes, whose lengths are equal.
        return areEqualInConstantTime(SHA256.hash(Array(sent.utf8)), SHA256.hash(Array(token.utf8)))
    }
}

extension RenderingError {
    static let withoutSecret = Self(
        status: 403,
        kind: "wrong_secret",
        reason: "The request has not the secret of KF_SECRET as Authorization: Bearer."
    )
}
