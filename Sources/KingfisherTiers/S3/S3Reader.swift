// Reads objects of the buckets of one store, as sources of images. For the image server.

public import Foundation
import KFTransport

/// Gets objects by bucket and key; both may be untrusted.
///
/// The request goes to the store that is set, and nowhere else: names of buckets cannot change the host but for its
/// first part, and redirects are not followed. It may have any address, as it was set by who runs the program.
@_spi(Server) public final class S3Reader: Sendable {
    /// Which store it reads from, and how.
    public struct Configuration: Hashable, Sendable {
        /// The region of the buckets.
        public var region: String
        /// The address of the store; nil is AWS.
        public var endpoint: URL?
        /// Where the bucket stands in addresses; nil as for ``S3Tier/Configuration/addressing``.
        public var addressing: S3Tier.Addressing?
        /// The most bytes of an object.
        public var mostBytes = Int.max
        /// Seconds for connecting.
        public var connectTimeout: TimeInterval = 3
        /// Seconds for an answer to begin or to go on.
        public var answerTimeout: TimeInterval = 8
        /// Connections at one time.
        public var connections = 16

        /// A configuration for a region of a store.
        public init(region: String, endpoint: URL? = nil) { (self.region, self.endpoint) = (region, endpoint) }

        fileprivate func address(of bucket: String) throws(S3Error) -> S3Address {
            try S3Address(
                bucket: bucket,
                region: region,
                endpoint: endpoint,
                prefix: "",
                isInHost: addressing.map { $0 == .virtualHost }
            )
        }
    }

    /// What the store has answered.
    public struct Answer: Sendable {
        /// The object, if the status is a success.
        public let data: Data
        /// The status.
        public let status: Int
        /// The fields of its head.
        public let fields: [String: String]
        /// What a failure says, where, and what to do about it; nil for a success, and for "not modified".
        public let reason: String?
    }

    private let configuration: Configuration
    private let account: S3Account
    private let transport: CurlTransport

    /// A reader; it asks the store nothing yet.
    ///
    /// - Parameters:
    ///   - configuration: Which store it reads from.
    ///   - credentials: Where its credentials come from.
    /// - Throws: An ``S3Error`` if there can be no such endpoint or region.
    public init(_ configuration: Configuration, credentials: S3CredentialSource) throws {
        _ = try configuration.address(of: "bucket")
        var settings = CurlTransport.Configuration()
        settings.connectionsPerHost = configuration.connections
        transport = CurlTransport(configuration: settings)
        account = S3Account(region: configuration.region, credentials: credentials)
        self.configuration = configuration
    }

    /// Gets an object.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - bucket: The name of its bucket.
    ///   - version: Which version of it; nil is the last one.
    ///   - conditions: Fields that make the request conditional.
    /// - Returns: The answer, whatever its status.
    /// - Throws: An ``S3Error`` for a name that no bucket can have, or where there are no credentials; a `URLError` for
    ///   what goes wrong on the way, `.dataLengthExceedsMaximum` for an object that is too large; a
    ///   `CancellationError`.
    public func object(
        _ key: String,
        in bucket: String,
        version: String? = nil,
        unless conditions: [String: String] = [:]
    ) async throws -> Answer {
        let client = S3Client(
            try configuration.address(of: bucket),
            // How long the whole may take is for the caller to say.
            pace: S3Pace(answer: .seconds(configuration.answerTimeout), rate: 1),
            account: account,
            transport: transport,
            permissions: "s3:GetObject",
            connectTimeout: configuration.connectTimeout,
            idleTimeout: configuration.answerTimeout
        )
        let request = S3Request(
            method: "GET",
            path: client.address.path(ofKey: key),
            query: version.map { [("versionId", $0)] } ?? [],
            fields: conditions.map { ($0.key.lowercased(), $0.value) }
        )
        do {
            let reply = try await client.anyReply(to: request, limit: configuration.mostBytes)
            let isFailure = !reply.isSuccess && reply.status != 304
            return Answer(
                data: reply.body,
                status: reply.status,
                fields: reply.fields,
                reason: isFailure ? client.error(reply, to: request).description : nil
            )
        } catch let error as TransportError {
            throw error.urlError
        }
    }
}
