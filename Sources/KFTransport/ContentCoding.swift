// What a field `Content-Encoding` says about a body. For CurlHop, and for callers that count a body's bytes.

internal import KFSupport

/// The codings of a body, by the field `Content-Encoding` of its response.
///
/// Stores send names such as `aws-chunked` or `utf-8`, which are no codings of the body. A body with such names only is
/// taken as it is; where such a name stands among codings, the response is an error.
package struct ContentCoding {
    /// The codings there are (RFC 9110, section 8.4.1, and IANA's registry), whether ours undoes them or not.
    private static let codings: Set<String> = [
        "aes128gcm", "br", "compress", "x-compress", "dcb", "dcz", "deflate", "exi", "gzip", "x-gzip", "pack200-gzip",
        "zstd",
    ]

    /// The codings, the one applied first in front.
    private let names: [String]
    /// The names that are no coding.
    let labels: [String]
    /// Whether the body must be decoded.
    package var isCoded: Bool { !names.isEmpty }

    /// - Parameter field: The field; `nil` if there is none.
    package init(_ field: String?) {
        let all = field?.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init) ?? []
        names = all.filter { Self.codings.contains($0) }
        labels = all.filter { $0 != "identity" && !Self.codings.contains($0) }
    }

    /// What undoes the codings; nil where that cannot be done.
    var decoder: ContentDecoder? { labels.isEmpty ? ContentDecoder(names) : nil }
}

extension TransportResponse {
    /// Whether the body was decoded, so that its length is not the one that was announced.
    package var isCoded: Bool { ContentCoding(value(forHTTPHeaderField: "Content-Encoding")).isCoded }
}
