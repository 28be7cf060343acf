// Where the objects of an S3Tier are: the host, and the path before their keys. For S3Client.

import Foundation

/// The place of a bucket, and of the tier's objects in it.
package struct S3Address: Sendable {
    /// Scheme, host and port, without a port that the scheme implies.
    package let origin: String
    /// Host and port, as the transport sends them.
    package let host: String
    /// The path of the bucket, escaped, without a slash at its end.
    package let bucketPath: String
    /// What the names of objects begin with: empty, or the path of a folder with a slash at its end.
    package let prefix: String

    /// The place that a configuration describes.
    ///
    /// - Throws: An error if there is no such place.
    package init(_ configuration: S3Tier.Configuration) throws(S3Error) {
        let (bucket, region) = (configuration.bucket, configuration.region)
        guard (1...255).contains(bucket.utf8.count), Self.isWord(bucket, with: ".-_"), bucket.first != "." else {
            throw S3Error("\"\(bucket)\" cannot be the name of a bucket: use letters, digits, hyphens and dots.")
        }
        guard (1...63).contains(region.utf8.count), Self.isWord(region, with: "-") else {
            throw S3Error("\"\(region)\" cannot be a region: use one such as us-east-1, or auto for R2.")
        }
        let folders = configuration.prefix.split(separator: "/", omittingEmptySubsequences: false)
        let isPath = folders.allSatisfy { !["", ".", ".."].contains($0) } && configuration.prefix.utf8.count <= 800
        guard configuration.prefix.isEmpty || isPath else {
            throw S3Error("\"\(configuration.prefix)\" cannot be a prefix: use a path such as images/thumbnails.")
        }
        prefix = configuration.prefix.isEmpty ? "" : configuration.prefix + "/"

        let isHost: Bool
        switch configuration.addressing {
        case .virtualHost: isHost = true
        case .path: isHost = false
        // The certificate of a host is for one level of names below it.
        case nil: isHost = configuration.endpoint == nil && !bucket.contains(".")
        }
        let endpoint = try Self.endpoint(configuration)
        host = isHost ? "\(bucket).\(endpoint.host)" : endpoint.host
        origin = "\(endpoint.scheme)://\(host)"
        bucketPath = isHost ? endpoint.path : "\(endpoint.path)/\(S3Request.escaped(bucket))"
    }

    /// The path of an object, escaped.
    package func path(ofKey key: String) -> String {
        "\(bucketPath)/\(S3Request.escaped(prefix + key, keepsSlashes: true))"
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

    /// Scheme, host with port, and path without a slash at its end.
    private static func endpoint(
        _ configuration: S3Tier.Configuration
    ) throws(S3Error) -> (scheme: String, host: String, path: String) {
        guard let endpoint = configuration.endpoint else {
            return ("https", "s3.\(configuration.region).amazonaws.com", "")
        }
        guard let parts = URLComponents(url: endpoint, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(), scheme == "https" || scheme == "http",
            let name = parts.encodedHost?.lowercased(), !name.isEmpty, (1...65_535).contains(parts.port ?? 80),
            parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil
        else {
            throw S3Error("The endpoint is no address such as https://s3.example.com: use one, without user and query.")
        }
        let port = parts.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        let path = parts.path.split(separator: "/").map { "/" + S3Request.escaped(String($0)) }.joined()
        return (scheme, name + port, path)
    }
}
