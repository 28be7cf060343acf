// The provider of the bytes inside a `data:` URL. Resources with such a URL become one; `kf` uses it too.

public import Foundation
import KFStorage

/// Decodes the bytes that a `data:` URL carries, such as `data:image/png;base64,…`. (Not in Kingfisher.)
///
/// A resource whose URL is a `data:` URL becomes such a provider. The media type is not looked at: the bytes show what
/// they are. Base64 may use either alphabet, hold white space and lack its padding.
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
    public enum DataURLError: Error, Hashable, CustomStringConvertible {
        /// It does not begin with `data:`.
        case otherScheme
        /// No comma ends the part before the bytes.
        case noComma
        /// A percent sign without two hexadecimal digits behind it.
        case brokenPercentEscape
        /// What is said to be Base64 is none.
        case malformedBase64

        /// The error in words.
        public var description: String {
            switch self {
            case .otherScheme: "a data URL begins with \"data:\""
            case .noComma: "a data URL needs a comma before its bytes"
            case .brokenPercentEscape: "the data URL has a broken percent escape"
            case .malformedBase64: "the data URL's Base64 is malformed"
            }
        }
    }

    /// The bytes, decoded on the calling thread.
    package func bytes() throws(DataURLError) -> Data {
        guard text.hasDataScheme else { throw .otherScheme }
        guard let comma = text.firstIndex(of: ",") else { throw .noComma }
        guard let decoded = Self.percentDecoded(text[text.index(after: comma)...].utf8) else {
            throw .brokenPercentEscape
        }
        guard text[..<comma].lowercased().hasSuffix(";base64") else { return decoded }
        guard let bytes = Self.base64Decoded(decoded) else { throw .malformedBase64 }
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
        return scheme.withUTF8Buffer { wanted in utf8.lazy.map { $0 | 0x20 }.starts(with: wanted) }
    }
}
