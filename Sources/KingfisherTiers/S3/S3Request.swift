// A request to S3 before it is signed, and the form in which its path and query are sent and signed. For S3Client.

package import Foundation
package import FoundationNetworking

/// A request: all that its signature covers.
package struct S3Request: Sendable {
    /// The method, such as `GET`.
    package var method: String
    /// The path from the root of the host, escaped.
    package var path: String
    /// The names and values of the query, not escaped.
    package var query: [(name: String, value: String)]
    /// The names, in small letters, and the values of the header fields.
    package var fields: [(name: String, value: String)]
    /// The body, if it has one.
    package var body: Data?

    /// A request.
    package init(
        method: String,
        path: String,
        query: [(name: String, value: String)] = [],
        fields: [(name: String, value: String)] = [],
        body: Data? = nil
    ) {
        (self.method, self.path, self.query) = (method, path, query)
        (self.fields, self.body) = (fields, body)
    }

    /// The query as it is signed, and sent: escaped and sorted; a name without a value has its equals sign, too.
    package var canonicalQuery: String {
        let pairs = query.map { (name: Self.escaped($0.name), value: Self.escaped($0.value)) }
        let sorted = pairs.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
        return sorted.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    /// A text in which all bytes but letters, digits and `-._~` are escaped.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - keepsSlashes: Whether slashes stay as they are, as in paths.
    /// - Returns: The escaped text, which is ASCII.
    package static func escaped(_ text: String, keepsSlashes: Bool = false) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            case UInt8(ascii: "/") where keepsSlashes: bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), SHA256.digit(byte >> 4, ten: "A"), SHA256.digit(byte & 15, ten: "A")]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a text has only letters and digits of ASCII, and some other characters.
    static func isWord(_ text: String, with others: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: others.utf8.contains(byte)
            }
        }
    }

    /// The request as a transport takes it.
    ///
    /// - Parameter origin: Scheme, host and port.
    /// - Returns: The request; nil if there is no such URL.
    package func urlRequest(at origin: String) -> URLRequest? {
        guard let url = URL(string: query.isEmpty ? origin + path : "\(origin)\(path)?\(canonicalQuery)") else {
            return nil
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body
        // The transport sends the host of the URL.
        for field in fields where field.name != "host" {
            request.setValue(field.value, forHTTPHeaderField: field.name)
        }
        return request
    }
}
