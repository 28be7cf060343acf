// Splitting and decoding parts of paths, byte by byte, whatever characters they make. For the parser and the options.

import Foundation

/// The parts between the separators, empty ones too.
func parts(of text: String, by separator: UnicodeScalar) -> [String] {
    text.utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false).map { String(Substring($0)) }
}

/// The bytes that percent-encoded text stands for, UTF-8 or not; nil if a `%` begins no escape.
package func percentDecoded(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
            bytes.append(byte)
            continue
        }
        guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
            return nil
        }
        bytes.append(high << 4 | low)
    }
    return bytes
}

private func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
}

/// The bytes that are encoded in base64 with the alphabet for URLs, UTF-8 or not; nil if there are none.
///
/// Padding may be left out.
func decodedBase64URL(_ text: String) -> [UInt8]? {
    var encoded = Array(text.utf8)
    while encoded.last == UInt8(ascii: "=") { encoded.removeLast() }
    guard !encoded.contains(UInt8(ascii: "+")), !encoded.contains(UInt8(ascii: "/")) else { return nil }
    for index in encoded.indices {
        switch encoded[index] {
        case UInt8(ascii: "-"): encoded[index] = UInt8(ascii: "+")
        case UInt8(ascii: "_"): encoded[index] = UInt8(ascii: "/")
        default: break
        }
    }
    encoded += repeatElement(UInt8(ascii: "="), count: (4 - encoded.count % 4) % 4)
    return Data(base64Encoded: Data(encoded)).map { Array($0) }
}

/// In base64 with the alphabet for URLs, without padding.
package func encodedBase64URL(_ bytes: some Sequence<UInt8>) -> String {
    let encoded = Data(bytes).base64EncodedString().utf8.compactMap { byte -> UInt8? in
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        case UInt8(ascii: "="): nil
        default: byte
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}

func hasControlCharacters(_ bytes: some Sequence<UInt8>) -> Bool {
    bytes.contains { $0 < 0x20 || $0 == 0x7F }
}
