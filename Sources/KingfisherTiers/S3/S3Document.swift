// Documents as S3 sends them in errors and lists: XML, of which only the texts of some elements matter. For S3Reply.

package import Foundation

/// A document whose elements have texts and no attributes, as those of S3.
///
/// It finds texts by the names of their elements, wherever these are. What is no such document has no texts.
package struct S3Document {
    private let bytes: Data

    /// Reads a document, whatever it is.
    package init(_ bytes: Data) { self.bytes = bytes }

    /// The texts of all elements of a name that contain no other elements, in order.
    package func texts(of name: String) -> [String] {
        let (start, end) = (Data("<\(name)>".utf8), Data("</\(name)>".utf8))
        var (texts, rest) = ([String](), bytes[...])
        while let opening = rest.range(of: start) {
            rest = rest[opening.upperBound...]
            guard let next = rest.firstIndex(of: UInt8(ascii: "<")) else { break }
            if rest[next...].starts(with: end) { texts.append(Self.decoded(rest[..<next])) }
            rest = rest[next...]
        }
        return texts
    }

    /// A text with the characters that its entities stand for; other text stays as it is.
    private static func decoded(_ bytes: Data) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("&") else { return text }
        var (result, rest) = ("", text[...])
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            rest = rest[start...]
            // The longest is &#x10FFFF;
            guard let end = rest.prefix(10).firstIndex(of: ";"),
                let character = character(ofEntity: rest[..<end].dropFirst())
            else {
                result.append("&")
                rest = rest.dropFirst()
                continue
            }
            result.unicodeScalars.append(character)
            rest = rest[end...].dropFirst()
        }
        return result + rest
    }

    private static func character(ofEntity name: Substring) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.first == "#" else { return nil }
            let digits = name.dropFirst()
            let isHexadecimal = digits.first == "x"
            let number = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return number.flatMap(Unicode.Scalar.init)
        }
    }
}
