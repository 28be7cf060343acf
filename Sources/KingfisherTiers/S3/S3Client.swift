// Sends requests to one bucket: signed, and once more after a failure that newer credentials or the right time would
// mend. For S3Tier.

import Foundation
import KFSupport
import KFTransport

/// What an S3Tier asks through.
final class S3Client: Sendable {
    /// A list of a thousand names, of a kilobyte each at most, is shorter; so are errors.
    static let longestDocument = 8 << 20
    /// From this size on, hashing takes longer than changing threads.
    private static let longBody = 256 << 10

    let address: S3Address
    /// The bucket and its host, for errors.
    let place: String
    private let transport: any Transport
    private let keeper: S3CredentialKeeper
    private let signature: SignatureV4
    private let pace: S3Pace
    private let clock: @Sendable () -> Date
    /// By how many seconds the clock of the store is before this machine's, once it has refused the time.
    private let clockOffset = Locked(0.0)

    init(
        _ configuration: S3Tier.Configuration,
        credentials: S3CredentialSource,
        transport: any Transport,
        clock: @escaping @Sendable () -> Date
    ) throws(S3Error) {
        address = try S3Address(configuration)
        place = "the bucket \(configuration.bucket) at \(address.host)"
        (self.transport, self.clock) = (transport, clock)
        keeper = S3CredentialKeeper(credentials)
        signature = SignatureV4(region: configuration.region)
        pace = S3Pace(configuration)
    }

    /// The time, by the store's clock if that is known to be another one.
    var now: Date { clock() + clockOffset.withLock { $0 } }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - request: The request, without the fields that all have.
    ///   - limit: How many bytes of body are accepted.
    /// - Returns: The response, if it is a success or says that there is no such object.
    /// - Throws: An ``S3Error`` for other responses; what the source of the credentials throws; an error of the transport.
    func reply(to request: S3Request, limit: Int = longestDocument) async throws -> S3Reply {
        let credentials = try await keeper.credentials()
        var reply = try await attempt(request, credentials, limit: limit)
        if reply.asksForOtherCredentials {
            if let other = try await keeper.replacement(for: credentials) {
                reply = try await attempt(request, other, limit: limit)
            }
        } else if reply.code == "RequestTimeTooSkewed", let date = reply.date {
            let offset = date.timeIntervalSince(clock())
            clockOffset.withLock { $0 = offset }
            reply = try await attempt(request, credentials, limit: limit)
        }
        if reply.isSuccess || reply.isMissingObject { return reply }
        throw S3Error(reply, to: request.method, at: place)
    }

    private func attempt(_ request: S3Request, _ credentials: S3Credentials, limit: Int) async throws -> S3Reply {
        var request = request
        request.fields.append(("host", address.host))
        signature.sign(&request, bodyHash: await Self.hash(of: request.body), at: now, by: credentials)
        guard let sent = request.urlRequest(at: address.origin) else {
            throw S3Error("\(request.method) in \(place) cannot be sent: \(address.origin) is no address.")
        }
        // Images are compressed already.
        let policy = TransportPolicy(
            connectTimeout: 2,
            idleTimeout: 5,
            asksForCompression: false,
            maximumBodySize: limit
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
