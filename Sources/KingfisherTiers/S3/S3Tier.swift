// A store of values on AWS S3, or what speaks its protocol, as a tier that several machines share, and its
// configuration. For programs.

public import Foundation
import KFSupport
package import KFTransport

public import protocol Kingfisher.SharedTier

/// A tier on AWS S3 or a store that speaks its protocol: R2, MinIO, Ceph, OpenStack Swift with `s3api`.
///
/// ```swift
/// let tier = try S3Tier(S3Tier.Configuration(bucket: "images", region: "eu-central-1"))
/// ```
/// S3 has no leases: with those of another store, see `LeasedTier`, each image is made once; without, once a machine.
///
/// A value that has expired is not returned, and stays in the bucket until it is replaced: S3 removes it if a rule of
/// the bucket's lifecycle says so. That rule is for the folder of ``Configuration/prefix``, and its number of days is
/// at least that of the longest expiry.
///
/// The credentials have to permit `s3:GetObject`, `s3:PutObject` and `s3:DeleteObject` on the objects, and
/// `s3:ListBucket` on the bucket: without the latter S3 says of a value that is not there that it must not be read.
///
/// It connects to the store directly, or through the proxy of the environment. It takes silence for a failure, and
/// gives a value that has begun to come its time: see ``Configuration/answerTimeout`` and
/// ``Configuration/minimumRate``. Redirects are not followed.
public final class S3Tier: SharedTier {
    /// The field in which a value's expiry is kept, in seconds since 1970.
    private static let expiryField = "x-amz-meta-kf-expires"

    /// The address of the bucket and the folder in it, such as
    /// `https://s3.eu-central-1.amazonaws.com/images/kingfisher`.
    public let name: String
    /// The largest value in bytes that is stored or read.
    public let maxValueBytes: Int

    private let client: S3Client
    private let pace: S3Pace

    /// A tier; it asks the store nothing yet.
    ///
    /// - Parameters:
    ///   - configuration: Which bucket it uses, and how.
    ///   - credentials: Where its credentials come from.
    /// - Throws: An ``S3Error`` if there can be no such bucket or endpoint.
    public convenience init(_ configuration: Configuration, credentials: S3CredentialSource = .automatic)
        throws(S3Error)
    {
        var settings = CurlTransport.Configuration()
        // HTTP/1.1 has one request at a time on a connection, and each takes some 20 ms.
        settings.connectionsPerHost = 64
        try self.init(configuration, credentials: credentials, transport: CurlTransport(configuration: settings))
    }

    /// A tier over any transport, with any clock.
    package init(
        _ configuration: Configuration,
        credentials: S3CredentialSource,
        transport: any Transport,
        clock: @escaping @Sendable () -> Date = { Date() }
    ) throws(S3Error) {
        let account = S3Account(region: configuration.region, credentials: credentials, clock: clock)
        pace = S3Pace(answer: configuration.answerTimeout, rate: configuration.minimumRate)
        // Who allows a late beginning of answers allows as much silence, and as long a way to the store.
        let patience = configuration.answerTimeout.inSeconds
        client = S3Client(
            try configuration.address,
            pace: pace,
            account: account,
            transport: transport,
            connectTimeout: max(2, patience),
            idleTimeout: max(5, patience)
        )
        maxValueBytes = max(0, configuration.maxValueBytes)
        name = "\(client.address.origin)\(client.address.bucketPath)/\(configuration.prefix)"
    }

    /// The time that an answer and the largest value may take.
    public func readTimeout(forKey key: String) -> Duration { pace.longest(for: maxValueBytes) }

    /// The value of a key, unless it has expired.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value; nil if there is none, or none that is still valid.
    /// - Throws: An ``S3Error`` if the store refuses, or if the bucket is missing; an error of the transport.
    public func get(_ key: String) async throws -> Data? {
        // A response that names a failure has a body, too.
        let limit = max(maxValueBytes, 64 << 10)
        let reply = try await client.reply(to: request("GET", key), limit: limit)
        guard isValid(reply) else { return nil }
        guard reply.body.count <= maxValueBytes else { throw tooLarge(reply.body.count) }
        return reply.body
    }

    /// Stores a value; an earlier value of the key is replaced.
    ///
    /// Throws an ``S3Error`` if the store refuses, or if the value is too large; or an error of the transport.
    public func put(_ value: Data, forKey key: String, expiry: Duration?) async throws {
        guard value.count <= maxValueBytes else { throw tooLarge(value.count) }
        var request = request("PUT", key)
        request.body = value
        request.fields = [("content-type", "application/octet-stream")]
        // What is valid for centuries is valid for ever.
        if let seconds = expiry?.inSeconds, seconds < 1e10 {
            let end = (client.now.timeIntervalSince1970 + max(0, seconds)).rounded(.up)
            request.fields.append((Self.expiryField, String(Int64(end))))
        }
        _ = try await client.reply(to: request)
    }

    /// Stores a value in place of another one, on condition that the object has not changed since it was compared.
    ///
    /// Stores that do not know `If-Match` and `If-None-Match` of PUT store without the condition. Throws an ``S3Error``
    /// if the store refuses, or if the value is too large; or an error of the transport.
    public func put(_ value: Data, forKey key: String, replacing expected: Data?) async throws -> Bool {
        guard value.count <= maxValueBytes else { throw tooLarge(value.count) }
        let found = try await client.reply(to: request("GET", key), limit: max(maxValueBytes, 64 << 10))
        guard (found.isSuccess ? found.body : nil) == expected else { return false }
        var request = request("PUT", key)
        request.body = value
        request.fields = [("content-type", "application/octet-stream")]
        if found.isSuccess {
            if let tag = found.response.value(forHTTPHeaderField: "ETag") { request.fields.append(("if-match", tag)) }
        } else {
            request.fields.append(("if-none-match", "*"))
        }
        do {
            return try await client.reply(to: request).isSuccess
        } catch let error as S3Error where error.status == 412 || error.status == 409 {
            return false
        }
    }

    /// Removes the value of a key, if there is one.
    ///
    /// - Throws: An ``S3Error`` if the store refuses; an error of the transport.
    public func remove(_ key: String) async throws { _ = try await client.reply(to: request("DELETE", key)) }

    /// Whether there is a value of a key that has not expired.
    ///
    /// It is not transferred. S3 gives no reason for a failure here, so a missing bucket counts as a missing value.
    /// - Throws: An ``S3Error`` if the store refuses; an error of the transport.
    package func contains(_ key: String) async throws -> Bool {
        do {
            return isValid(try await client.reply(to: request("HEAD", key)))
        } catch let error as S3Error where error.status == 404 {
            return false
        }
    }

    /// Up to a thousand keys of values, expired ones too, in the order of their UTF-8.
    ///
    /// The next ones are those after the last one; there are no more once none is returned. As it needs the bucket and
    /// the credentials, it is also what a program may call first to see whether both are right.
    /// - Parameters:
    ///   - beginning: What the keys begin with.
    ///   - previous: The key after which they begin; nil begins with the first.
    /// - Returns: The keys, without the folder.
    /// - Throws: An ``S3Error`` if the store refuses, or if the bucket is missing; an error of the transport.
    package func keys(beginningWith beginning: String = "", after previous: String? = nil) async throws -> [String] {
        let prefix = client.address.prefix
        var query = [("list-type", "2"), ("prefix", prefix + beginning)]
        if let previous { query.append(("start-after", prefix + previous)) }
        let path = client.address.bucketPath.isEmpty ? "/" : client.address.bucketPath
        let reply = try await client.reply(to: S3Request(method: "GET", path: path, query: query))
        // A name outside the folder would be one that was not asked for.
        return S3Document(reply.body).texts(of: "Key").filter { $0.utf8.starts(with: prefix.utf8) }
            .map { String(decoding: $0.utf8.dropFirst(prefix.utf8.count), as: UTF8.self) }
    }

    private func request(_ method: String, _ key: String) -> S3Request {
        S3Request(method: method, path: client.address.path(ofKey: key))
    }

    /// Whether a response has a value that has not expired; an expiry that cannot be read is over.
    private func isValid(_ reply: S3Reply) -> Bool {
        guard reply.isSuccess else { return false }
        guard let field = reply.response.value(forHTTPHeaderField: Self.expiryField) else { return true }
        return Int64(field).map { TimeInterval($0) > client.now.timeIntervalSince1970 } ?? false
    }

    private func tooLarge(_ size: Int) -> S3Error {
        S3Error("A value of \(size) bytes is too large for \(client.place): the limit is \(maxValueBytes) bytes.")
    }
}

extension S3Tier {
    /// Where the bucket stands in the address of an object.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Addressing: Hashable, Sendable {
        /// In the path: `https://s3.example.com/bucket/key`.
        case path
        /// In the host: `https://bucket.s3.example.com/key`.
        case virtualHost
    }

    /// Which bucket a tier uses, and how.
    public struct Configuration: Hashable, Sendable {
        /// The name of the bucket, which exists already.
        public var bucket: String
        /// The region of the bucket, which is part of every signature: `eu-central-1`, `auto` for R2, and `us-east-1`
        /// for most stores that have no regions.
        public var region: String
        /// The address of the store, with `http` or `https`, such as `https://minio.internal:9000`; nil is AWS.
        ///
        /// With `http` anybody on the way can read and change the values. The regions of AWS in China need it:
        /// `https://s3.cn-north-1.amazonaws.com.cn`, with ``Addressing/virtualHost``.
        public var endpoint: URL?
        /// The folder of the bucket in which the values lie; an empty text is the bucket itself.
        ///
        /// Programs with the same folder share their values. Rules that remove old objects name this folder.
        public var prefix: String
        /// Where the bucket stands in addresses.
        ///
        /// nil is the host for AWS, and the path for other stores, and for buckets with a dot in their names.
        public var addressing: Addressing?
        /// The largest value in bytes that is stored or read; 8 MiB unless it is set.
        public var maxValueBytes = 8 << 20
        /// How long the store may take to begin an answer, connecting included; 1.5 seconds unless it is set.
        ///
        /// One that takes longer has failed, and is left alone for a while. Above five seconds it is also how long an
        /// answer that has begun may be silent.
        public var answerTimeout = Duration.milliseconds(1_500)
        /// How many bytes a second a value has to come with, on the whole; 1 MB unless it is set.
        ///
        /// A value that comes more slowly is given up a second later than it should have been there. That is no failure
        /// of the store.
        public var minimumRate = 1_000_000

        /// A configuration.
        ///
        /// - Parameters:
        ///   - bucket: The name of the bucket.
        ///   - region: The region of the bucket.
        ///   - endpoint: The address of the store; nil is AWS.
        ///   - prefix: The folder of the bucket in which the values lie.
        public init(bucket: String, region: String, endpoint: URL? = nil, prefix: String = "kingfisher") {
            (self.bucket, self.region, self.endpoint, self.prefix) = (bucket, region, endpoint, prefix)
        }

        /// Where the values are; throws if there can be no such bucket, folder or endpoint.
        package var address: S3Address {
            get throws(S3Error) {
                try S3Address(
                    bucket: bucket,
                    region: region,
                    endpoint: endpoint,
                    prefix: prefix,
                    isInHost: addressing.map { $0 == .virtualHost }
                )
            }
        }
    }
}
