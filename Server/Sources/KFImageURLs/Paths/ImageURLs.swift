// URLs of an image server, signed as it wants them. For programs whose pages show its images.

/// Makes the URLs of an image server's images.
///
/// ```swift
/// let images = ImageURLs(server: "https://images.example.com", key: key, salt: salt)
/// let markup = upload.pictureMarkup(alt: "A bird") { file in
///     images.url(of: "local:///\(file.fileName)", options: ["rs:fit:\(file.pixelWidth)"], format: "webp")
/// }
/// ```
/// They are those of imgproxy, too.
public struct ImageURLs: Sendable {
    private let server: String
    private let rules = SignatureRules()
    private let pair: SignatureRules.Pair?

    /// URLs of a server that accepts every signature.
    ///
    /// - Parameter server: Its address, with the prefix of paths if it has one, such as `https://example.com/images`.
    public init(server: String) {
        (self.server, pair) = (Self.trimmed(server), nil)
    }

    /// URLs of a server that wants signatures; nil if key or salt are not pairs of hexadecimal digits.
    ///
    /// - Parameters:
    ///   - server: Its address, with the prefix of paths if it has one.
    ///   - key: The server's `KF_KEY`, in hexadecimal; the first, if there are several.
    ///   - salt: The server's `KF_SALT`, in hexadecimal.
    public init?(server: String, key: String, salt: String) {
        guard let key = Self.bytes(ofHexadecimal: key), let salt = Self.bytes(ofHexadecimal: salt) else { return nil }
        (self.server, pair) = (Self.trimmed(server), SignatureRules.Pair(key: key, salt: salt))
    }

    /// The URL of an image.
    ///
    /// - Parameters:
    ///   - source: The URL of the source, as the server loads it: `https://…`, `local:///…`, `s3://…`.
    ///   - options: Options as the page of the server's options has them, such as `rs:fill:300:200`; in this order.
    ///   - format: The extension of the result's format, such as `webp`; nil leaves it to the server.
    /// - Returns: The URL. What it says is not checked: what the server does not understand is 404.
    public func url(of source: String, options: [String] = [], format: String? = nil) -> String {
        let name = encodedBase64URL(source.utf8) + (format.map { "." + $0 } ?? "")
        let path = "/" + (options + [name]).joined(separator: "/")
        return server + "/" + (pair.map { rules.signature(of: path, with: $0) } ?? "_") + path
    }

    private static func trimmed(_ server: String) -> String {
        String(server.reversed().drop { $0 == "/" }.reversed())
    }

    private static func bytes(ofHexadecimal text: String) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
