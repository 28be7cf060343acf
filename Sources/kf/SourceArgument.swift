// The meaning of a SOURCE on the command line: a URL, a path, data or standard input.

import Foundation

/// A source as named on the command line.
struct SourceArgument: Equatable {
    /// The place of the bytes.
    enum Location: Equatable {
        case network(URL)
        case file(URL)
        case bytes(Data)
    }

    /// The argument as it was typed.
    let text: String
    let location: Location

    /// Reads an http(s) URL, a `file:` URL, a `data:` URL, a path, or `-` for standard input.
    init(_ text: String) throws(SourceArgumentError) {
        self.text = text
        location = try Self.location(of: text)
    }

    /// The name of a file written from this source, without an extension.
    ///
    /// Never empty, never with a separator or a control character.
    var baseName: String {
        let last =
            switch location {
            case .network(let url): url.lastPathComponent == "/" ? url.host ?? "" : url.lastPathComponent
            case .file(let url): url.path == "/" ? "" : url.lastPathComponent
            case .bytes: "data"
            }
        let stem = last.lastIndex(of: ".").map { $0 == last.startIndex ? last : String(last[..<$0]) } ?? last
        // File systems take 255 bytes; an extension and a number have to fit too.
        var name = stem.asFileName
        while name.utf8.count > 200 { name.removeLast() }
        return [".", "..", ""].contains(name) ? "image" : name
    }

    private static func location(of text: String) throws(SourceArgumentError) -> Location {
        guard text != "-" else { return .file(StreamDataProvider.standardInput) }
        guard !text.isEmpty else { throw SourceArgumentError(text: text, problem: "the source is empty") }
        switch scheme(of: text) {
        case "http", "https":
            guard let url = URL(string: text), url.host?.isEmpty == false else {
                throw SourceArgumentError(text: text, problem: "this is not a URL with a host")
            }
            return .network(url)
        case "file":
            guard let url = URL(string: text), url.host == nil || url.host == "" || url.host == "localhost",
                !url.path.isEmpty
            else {
                throw SourceArgumentError(text: text, problem: "a file URL needs a path on this machine: file:///…")
            }
            return .file(URL(fileURLWithPath: url.path))
        case "data":
            return .bytes(try DataURL.bytes(of: text))
        case let scheme? where text.dropFirst(scheme.count).hasPrefix("://"):
            throw SourceArgumentError(
                text: text,
                problem: "\"\(scheme)\" is not supported; use http, https, file, data or a path"
            )
        default:
            return .file(URL(fileURLWithPath: text))
        }
    }

    /// The letters before the first colon, when they can be a scheme.
    private static func scheme(of text: String) -> String? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = text[..<colon]
        guard scheme.first?.isLetter == true,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return nil }
        return scheme.lowercased()
    }
}

/// The reason why a text names no source.
struct SourceArgumentError: Error, Equatable, CustomStringConvertible {
    let text: String
    let problem: String

    var description: String { problem }
}

/// Reads URLs of the form `data:[mediatype][;base64],bytes`.
enum DataURL {
    /// The bytes that a `data:` URL carries, in Base64 or percent-encoded.
    static func bytes(of text: String) throws(SourceArgumentError) -> Data {
        guard let comma = text.firstIndex(of: ",") else {
            throw SourceArgumentError(text: text, problem: "a data URL needs a comma before its bytes")
        }
        guard let decoded = percentDecoded(text[text.index(after: comma)...].utf8) else {
            throw SourceArgumentError(text: text, problem: "the data URL has a broken percent escape")
        }
        guard text[..<comma].lowercased().hasSuffix(";base64") else { return decoded }
        guard let bytes = base64Decoded(decoded) else {
            throw SourceArgumentError(text: text, problem: "the data URL's Base64 is malformed")
        }
        return bytes
    }

    private static func percentDecoded(_ text: Substring.UTF8View) -> Data? {
        var bytes = Data(capacity: text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                return nil
            }
            bytes.append(high * 16 + low)
        }
        return bytes
    }

    /// Decodes Base64 in both alphabets, with white space between the characters, with padding or without.
    private static func base64Decoded(_ text: Data) -> Data? {
        var characters = text.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): nil
            default: byte
            }
        }
        while characters.last == UInt8(ascii: "=") { characters.removeLast() }
        guard characters.count % 4 != 1 else { return nil }
        while characters.count % 4 != 0 { characters.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: Data(characters))
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
