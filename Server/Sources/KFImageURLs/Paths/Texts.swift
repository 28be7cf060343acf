// Splitting and decoding parts of paths, byte by byte, whatever characters they make. For the parser and the options.

import Foundation

/// The parts between the separators, empty ones too.
func parts(of text: String, by separator: UnicodeScalar) -> [String] {
    text.utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false).map { String(Substring($0)) }
}

/// The text without percent-encoding; nil if it is encoded wrongly.
///
/// Most texts are not encoded, and looking takes less time than decoding these.
package func percentDecoded(_ text: String) -> String? {
    text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding : text
}

/// The text that is encoded in base64 with the alphabet for URLs; nil if it is none.
///
/// Padding may be left out.
func decodedBase64URL(_ text: String) -> String? {
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
    return Data(base64Encoded: Data(encoded)).flatMap { String(data: $0, encoding: .utf8) }
}

/// In base64 with the alphabet for URLs, without padding.
func encodedBase64URL(_ bytes: some Sequence<UInt8>) -> String {
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

func hasControlCharacters(_ text: String) -> Bool {
    text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
}
