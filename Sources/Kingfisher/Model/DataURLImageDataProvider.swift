// The provider of the bytes inside a `data:` URL. Resources with such a URL become one; `kf` uses it too.

public import Foundation
import KFStorage
import KFSupport

/// Decodes the bytes that a `data:` URL carries, such as `data:image/png;base64,…`. (Not in Kingfisher.)
///
/// A resource whose URL is a `data:` URL becomes such a provider. The media type is not looked at: the bytes show what
/// they are. The text is read as browsers read it (the WHATWG's Fetch standard): blanks may stand around `;base64`, a
/// `%` that begins no escape stands for itself, and a fragment does not count. Base64 may hold white space and lack its
/// padding, and use the alphabet for URLs, too.
public struct DataURLImageDataProvider: ImageDataProvider {
    /// The URL as text.
    public let text: String
    /// The key in the caches.
    public var cacheKey: String

    /// Creates a provider for a `data:` URL as text, which need not be a proper URL.
    /// - Parameters:
    ///   - text: The text; nothing about it is checked before the bytes are asked for.
    ///   - cacheKey: The key in the caches; nil makes a short one from a hash of the text.
    public init(text: String, cacheKey: String? = nil) {
        self.text = text
        self.cacheKey = cacheKey ?? text.dataURLCacheKey
    }

    /// Creates a provider for a `data:` URL.
    /// - Parameters:
    ///   - url: The URL; nothing about it is checked before the bytes are asked for.
    ///   - cacheKey: The key in the caches; nil makes a short one from a hash of the URL.
    public init(url: URL, cacheKey: String? = nil) { self.init(text: url.absoluteString, cacheKey: cacheKey) }

    /// The bytes, or a ``DataURLError``, at once.
    public func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        handler(Result { try bytes() })
    }

    /// Why a text carries no bytes.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum DataURLError: Error, Hashable, CustomStringConvertible {
        /// It does not begin with `data:`.
        case otherScheme
        /// No comma ends the part before the bytes.
        case noComma
        /// The data is said to be Base64, and is not.
        case malformedBase64

        /// The error in words.
        public var description: String {
            switch self {
            case .otherScheme: "a data URL begins with \"data:\""
            case .noComma: "a data URL needs a comma before its bytes"
            case .malformedBase64: "the data URL's Base64 is malformed"
            }
        }
    }

    /// The bytes, decoded on the calling thread.
    package func bytes() throws(DataURLError) -> Data {
        let url = Self.parsed(text)
        guard String(decoding: url.prefix(5), as: UTF8.self).lowercased() == "data:" else { throw .otherScheme }
        let rest = url.dropFirst(5)
        guard let comma = rest.firstIndex(of: UInt8(ascii: ",")) else { throw .noComma }
        let body = percentDecoded(rest[(comma + 1)...])
        guard Self.saysBase64(rest[..<comma]) else { return Data(body) }
        guard let bytes = Self.base64Decoded(body) else { throw .malformedBase64 }
        return bytes
    }

    /// The text as a parser of URLs leaves it: without blanks at its ends, line breaks, tabs, and the fragment.
    private static func parsed(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8.drop { $0 <= 0x20 })
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        return bytes.prefix { $0 != UInt8(ascii: "#") }
            .filter { $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    }

    /// Whether what stands before the comma ends in `;base64`, with blanks around the word.
    ///
    /// `URL` writes a blank as `%20`.
    private static func saysBase64(_ mediaType: ArraySlice<UInt8>) -> Bool {
        guard let semicolon = mediaType.lastIndex(of: UInt8(ascii: ";")) else { return false }
        let word = String(decoding: mediaType[(semicolon + 1)...], as: UTF8.self).replacing("%20", with: " ")
        return word.trimmingCharacters(in: CharacterSet(charactersIn: " \u{C}")).lowercased() == "base64"
    }

    /// Decodes Base64 in both alphabets, with white space between the characters, with the right padding or none.
    private static func base64Decoded(_ text: [UInt8]) -> Data? {
        let padding = UInt8(ascii: "=")
        var characters = text.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"), 0x0C: nil
            default: byte
            }
        }
        if characters.count % 4 == 0 {
            for _ in 0..<2 where characters.last == padding { characters.removeLast() }
        }
        guard characters.count % 4 != 1, !characters.contains(padding) else { return nil }
        while characters.count % 4 != 0 { characters.append(padding) }
        return Data(base64Encoded: Data(characters))
    }
}

extension String {
    /// Whether this is the text of a `file:` URL.
    var hasFileScheme: Bool { begins(with: "file:") }

    /// Whether this is the text of a `data:` URL.
    var hasDataScheme: Bool { begins(with: "data:") }

    /// The key of a `data:` URL: the whole text may have megabytes.
    var dataURLCacheKey: String { "kingfisher.data.cacheKey/\(FileNaming.hash(self))" }

    /// Whether the first letters are these, in whatever case.
    private func begins(with scheme: StaticString) -> Bool {
        // Asked at every load, and most differ in the first letter.
        guard let first = utf8.first, first | 0x20 == scheme.utf8Start.pointee else { return false }
        return scheme.withUTF8Buffer { wanted in
            utf8.lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }.starts(with: wanted)
        }
    }
}
