// Where the objects of a bucket are: the host, and the path before their keys. For S3Client.

import Foundation

/// The place of a bucket, and of the objects in it.
package struct S3Address: Sendable {
    /// The name of the bucket.
    package let bucket: String
    /// Scheme, host and port, without a port that the scheme implies.
    package let origin: String
    /// Host and port, as the transport sends them.
    package let host: String
    /// The path of the bucket, escaped, without a slash at its end.
    package let bucketPath: String
    /// What the names of objects begin with: empty, or the path of a folder with a slash at its end.
    package let prefix: String

    /// The place of a bucket.
    ///
    /// - Parameters:
    ///   - bucket: The name of the bucket.
    ///   - region: Its region.
    ///   - endpoint: The address of the store; nil is AWS.
    ///   - prefix: The folder of the objects; an empty text is the bucket itself.
    ///   - isInHost: Whether the bucket stands in the host instead of the path; nil is what the store is expected to
    ///     want.
    /// - Throws: An error if there is no such place.
    init(bucket: String, region: String, endpoint: URL?, prefix: String, isInHost: Bool?) throws(S3Error) {
        guard (1...255).contains(bucket.utf8.count), S3Request.isWord(bucket, with: ".-_"), bucket.first != "." else {
            throw S3Error("\"\(bucket)\" cannot be the name of a bucket: use letters, digits, hyphens and dots.")
        }
        guard (1...63).contains(region.utf8.count), S3Request.isWord(region, with: "-") else {
            throw S3Error("\"\(region)\" cannot be a region: use one such as us-east-1, or auto for R2.")
        }
        let folders = prefix.split(separator: "/", omittingEmptySubsequences: false)
        let isPath = folders.allSatisfy { !["", ".", ".."].contains($0) } && prefix.utf8.count <= 800
        guard prefix.isEmpty || isPath else {
            throw S3Error("\"\(prefix)\" cannot be a prefix: use a path such as images/thumbnails.")
        }
        self.bucket = bucket
        self.prefix = prefix.isEmpty ? "" : prefix + "/"

        // The certificate of a host is for one level of names below it.
        let isHost = isInHost ?? (endpoint == nil && !bucket.contains("."))
        let store = try Self.parts(of: endpoint, region)
        host = isHost ? "\(bucket).\(store.host)" : store.host
        origin = "\(store.scheme)://\(host)"
        bucketPath = isHost ? store.path : "\(store.path)/\(S3Request.escaped(bucket))"
    }

    /// The path of an object, escaped.
    package func path(ofKey key: String) -> String {
        "\(bucketPath)/\(S3Request.escaped(prefix + key, keepsSlashes: true))"
    }

    /// Scheme, host with port, and path without a slash at its end.
    private static func parts(
        of endpoint: URL?,
        _ region: String
    ) throws(S3Error) -> (scheme: String, host: String, path: String) {
        guard let endpoint else { return ("https", "s3.\(region).amazonaws.com", "") }
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
