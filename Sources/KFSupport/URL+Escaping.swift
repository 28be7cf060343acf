// URLs from text that others wrote: header fields, arguments, lists; and the bytes that escapes stand for. For the
// transport, `data:` URLs, and `kf`, whose files need no names in UTF-8.

package import Foundation

extension URL {
    /// A URL of text that may have characters that must be escaped; `nil` if the text is no URL.
    ///
    /// As in browsers, escapes (`%20`) stay as they are, and every other byte that has no place in a URL is escaped as
    /// it is, whatever its encoding; so is a `%` that begins no escape. (`URL(string:)` escapes the escapes again as
    /// soon as there is one such character.) The host is left to Foundation, which turns international names into
    /// those of DNS.
    /// - Parameters:
    ///   - text: The bytes of the text.
    ///   - base: What a relative reference is relative to.
    package init?(escaping text: some Collection<UInt8>, relativeTo base: URL? = nil) {
        let text = Array(text)
        let authority = Self.authority(of: text)
        let beforeHost = authority.lastIndex(of: UInt8(ascii: "@")) ?? authority.startIndex
        let host = text[beforeHost..<authority.endIndex]
        let user = text[authority.startIndex..<beforeHost]
        // What follows the host, or what has none.
        let rest = text[authority.endIndex...]
        let fragment = rest.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
        var bytes = Array(text[..<authority.startIndex])
        bytes += Self.escaped(user, except: Self.userBytes)
        bytes += host
        bytes += Self.escaped(rest[..<fragment], except: Self.pathBytes)
        if fragment < rest.endIndex {
            bytes.append(UInt8(ascii: "#"))
            bytes += Self.escaped(rest[(fragment + 1)...], except: Self.pathBytes)
        }
        self.init(string: String(decoding: bytes, as: UTF8.self), relativeTo: base)
    }

    /// The bytes that need no escape in a user name with a password: letters, digits and some marks (RFC 3986).
    private static let userBytes = Set("-._~!$&'()*+,;=:".utf8)
        .union(UInt8(ascii: "a")...UInt8(ascii: "z"))
        .union(UInt8(ascii: "A")...UInt8(ascii: "Z"))
        .union(UInt8(ascii: "0")...UInt8(ascii: "9"))
    /// The same in a path, a query and a fragment.
    private static let pathBytes = userBytes.union("@/?".utf8)

    /// User, host and port; empty, at the start, if there are none.
    private static func authority(of text: [UInt8]) -> ArraySlice<UInt8> {
        let scheme = text.prefix { userBytes.contains($0) && $0 != UInt8(ascii: ":") }
        // A relative reference has no scheme: "a//b" is a path.
        let hasScheme = text[scheme.endIndex...].first == UInt8(ascii: ":")
        let start = hasScheme ? scheme.endIndex + 1 : text.startIndex
        guard text[start...].starts(with: "//".utf8) else { return text[..<0] }
        return text[(start + 2)...].prefix { !"/?#".utf8.contains($0) }
    }

    private static func escaped(_ part: ArraySlice<UInt8>, except allowed: Set<UInt8>) -> [UInt8] {
        var escaped: [UInt8] = []
        for (index, byte) in zip(part.indices, part) {
            if allowed.contains(byte) || isEscape(part[index...]) {
                escaped.append(byte)
            } else {
                escaped += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
        return escaped
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    /// Whether text begins with `%` and two hexadecimal digits.
    private static func isEscape(_ text: ArraySlice<UInt8>) -> Bool {
        text.first == UInt8(ascii: "%") && text.count > 2
            && text.dropFirst().prefix(2).allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }
}

/// Decodes escapes; a `%` that begins none stands for itself.
package func percentDecoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
    func digit(_ byte: UInt8) -> UInt8? { Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), rest.count > 1, let high = digit(rest[rest.startIndex]),
            let low = digit(rest[rest.startIndex + 1])
        {
            bytes.append(high * 16 + low)
            rest = rest.dropFirst(2)
        } else {
            bytes.append(byte)
        }
    }
    return bytes
}
