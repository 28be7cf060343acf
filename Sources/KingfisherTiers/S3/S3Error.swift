// Why a store that speaks S3 did not do what it was asked. For users of S3Tier, and for logs.

public import Foundation

/// Why a request to S3 failed, or could not be made.
///
/// Failures of the network are errors of the transport instead.
public struct S3Error: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    /// The status of the response; nil if the request was not made.
    public let status: Int?
    /// S3's name for the failure, such as `NoSuchBucket`; nil if the response has none.
    public let code: String?
    /// What failed, where, why, and what to do; without credentials.
    public let description: String

    /// The description.
    public var errorDescription: String? { description }

    init(_ description: String, status: Int? = nil, code: String? = nil) {
        (self.description, self.status, self.code) = (description, status, code)
    }
}

extension S3Error {
    /// The message of a response that is no success.
    ///
    /// - Parameters:
    ///   - reply: The response.
    ///   - method: The method of its request.
    ///   - place: The bucket and where it is.
    ///   - permissions: What the credentials have to permit on objects.
    init(_ reply: S3Reply, to method: String, at place: String, needs permissions: String) {
        let reason = reply.code.map { "\(reply.status) \($0)" } ?? "\(reply.status)"
        self.init(
            "\(method) in \(place) failed: \(reason). \(Self.advice(for: reply, permissions))",
            status: reply.status,
            code: reply.code
        )
    }

    private static func advice(for reply: S3Reply, _ permissions: String) -> String {
        if let region = reply.otherRegion { return "The bucket is in the region \(region): configure that one." }
        return switch reply.code {
        case "NoSuchBucket": "Create the bucket, or correct its name in the configuration."
        case "SignatureDoesNotMatch":
            "The secret does not belong to the access key, or the region is wrong: check both."
        case "InvalidAccessKeyId": "The store does not know the access key: check it."
        case "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
            "The session token is no longer valid: renew the credentials where the program has them from."
        case "AccessDenied", "AllAccessDisabled":
            "Permit \(permissions) on its objects, and s3:ListBucket on the bucket."
        case "RequestTimeTooSkewed": "Set the clock of this machine; it may differ by fifteen minutes."
        case "SlowDown", "ServiceUnavailable", "InternalError": "The store is overloaded; it may work again later."
        case "PermanentRedirect", "TemporaryRedirect":
            "The bucket is at another address: configure its endpoint and region."
        default:
            switch reply.status {
            case 300..<400: "Redirects are not followed: configure the address of the store itself."
            case 401, 403: "Check the credentials, and what they permit."
            case 429, 500...: "The store, or a proxy before it, is in trouble; it may work again later."
            default: "Check the endpoint: it may be no store that speaks S3, or not understand this request."
            }
        }
    }
}
