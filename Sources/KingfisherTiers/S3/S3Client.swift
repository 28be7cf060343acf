// Sends requests to one bucket: signed, and once more after a failure that newer credentials or the right time would
// fix. For S3Tier and S3Reader.

import Foundation
import KFSupport
import KFTransport

/// What an S3Tier asks through, and an S3Reader.
final class S3Client: Sendable {
    /// A list of a thousand names, of a kilobyte each at most, is shorter; so are errors.
    static let longestDocument = 8 << 20
    /// From this size on, hashing takes longer than changing threads.
    private static let longBody = 256 << 10

    let address: S3Address
    private let account: S3Account
    private let transport: any Transport
    private let pace: S3Pace
    /// What the credentials have to permit on objects, for errors.
    private let permissions: String
    private let connectTimeout: TimeInterval
    private let idleTimeout: TimeInterval

    init(
        _ address: S3Address,
        pace: S3Pace,
        account: S3Account,
        transport: any Transport,
        permissions: String = "s3:GetObject, s3:PutObject and s3:DeleteObject",
        connectTimeout: TimeInterval = 2,
        idleTimeout: TimeInterval = 5
    ) {
        (self.address, self.pace) = (address, pace)
        (self.account, self.transport) = (account, transport)
        (self.connectTimeout, self.idleTimeout) = (connectTimeout, idleTimeout)
        self.permissions = permissions
    }

    /// The time at the store.
    var now: Date { account.now }
    /// The bucket and its host, for errors.
    var place: String { "the bucket \(address.bucket) at \(address.host)" }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - request: The request, without the fields that all have.
    ///   - limit: How many bytes of body are accepted.
    /// - Returns: The response, if it is a success or says that there is no such object.
    /// - Throws: An ``S3Error`` for other responses; what the source of the credentials throws; an error of the
    ///   transport.
    func reply(to request: S3Request, limit: Int = longestDocument) async throws -> S3Reply {
        let reply = try await anyReply(to: request, limit: limit)
        if reply.isSuccess || reply.isMissingObject { return reply }
        throw error(reply, to: request)
    }

    /// Sends a request; the response may be a failure, if not one that newer credentials or the right time fix.
    func anyReply(to request: S3Request, limit: Int) async throws -> S3Reply {
        let credentials = try await account.keeper.credentials()
        let reply = try await attempt(request, credentials, limit: limit)
        if reply.asksForOtherCredentials {
            guard let other = try await account.keeper.replacement(for: credentials) else { return reply }
            return try await attempt(request, other, limit: limit)
        }
        guard reply.code == "RequestTimeTooSkewed", let date = reply.date else { return reply }
        account.setTime(date)
        return try await attempt(request, credentials, limit: limit)
    }

    /// What a failure says, and what to do about it.
    func error(_ reply: S3Reply, to request: S3Request) -> S3Error {
        S3Error(reply, to: request.method, at: place, needs: permissions)
    }

    private func attempt(_ request: S3Request, _ credentials: S3Credentials, limit: Int) async throws -> S3Reply {
        var request = request
        request.fields.append(("host", address.host))
        account.signature.sign(&request, bodyHash: await Self.hash(of: request.body), at: now, by: credentials)
        guard let sent = request.urlRequest(at: address.origin) else {
            throw S3Error("\(request.method) in \(place) cannot be sent: \(address.origin) is no address.")
        }
        // Images are compressed already.
        let policy = TransportPolicy(
            connectTimeout: connectTimeout,
            idleTimeout: idleTimeout,
            asksForCompression: false,
            maxBodyBytes: limit
        )
        return try await S3Exchange.reply(to: sent, over: transport, policy: policy, pace: pace)
    }

    /// The hash of no bytes.
    private static let emptyHash = SHA256.hexadecimal(SHA256.hash(Data()))

    private static func hash(of body: Data?) async -> String {
        guard let body else { return emptyHash }
        if body.count < longBody { return SHA256.hexadecimal(SHA256.hash(body)) }
        return await WorkExecutor.cpu.run { SHA256.hexadecimal(SHA256.hash(body)) }
    }
}
