// The identifier of a request, which the log and the answer have. For the routes.

import HTTPTypes

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
