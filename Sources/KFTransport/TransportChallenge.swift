// What a server demands before it gets a request: trust in its certificate, or a name and a password. For Transport.

public import Foundation

/// A certificate that does not verify, or a response of 401.
///
/// A transport asks its events about each; see ``TransportEvents/didReceive(_:)-(TransportChallenge)``.
public struct TransportChallenge: Sendable {
    /// The kinds of challenges.
    public enum Kind: Sendable {
        /// The certificate does not verify, with the error the transfer ends with unless it is accepted.
        case serverTrust(TransportError)
        /// HTTP's Basic authentication.
        case basic(realm: String)
        /// HTTP's Digest authentication.
        case digest(realm: String)
    }

    /// The kind.
    public let kind: Kind
    /// The URL of the request.
    public let url: URL?
    /// How many credentials of this transfer the server has refused.
    public let previousFailureCount: Int
    /// The response of 401; nil for a certificate.
    public let response: TransportResponse?

    /// A challenge.
    public init(kind: Kind, url: URL?, previousFailureCount: Int, response: TransportResponse?) {
        self.kind = kind
        self.url = url
        self.previousFailureCount = previousFailureCount
        self.response = response
    }
}

/// How a challenge is met.
public enum TransportCredential: Sendable {
    /// Not at all: the transfer fails for a certificate, and a response of 401 is delivered.
    case none
    /// The certificate is accepted, for this request to this host.
    case trust
    /// A user name and a password.
    case password(user: String, password: String)
    /// The transfer ends as cancelled.
    case cancel
}

extension TransportChallenge.Kind {
    /// The kind that the field `WWW-Authenticate` of a response demands; nil for kinds that are not known here.
    init?(wwwAuthenticate field: String) {
        let lowercased = field.lowercased()
        // Digest before Basic: it does not show the password.
        guard
            let scheme = ["digest", "basic"].compactMap({
                lowercased.range(of: "\\b\($0)\\b", options: .regularExpression)
            }).first
        else { return nil }
        let rest = field[scheme.upperBound...]
        var realm = ""
        if let start = rest.range(of: "realm=\"", options: .caseInsensitive)?.upperBound {
            realm = String(rest[start...].prefix { $0 != "\"" })
        }
        self = lowercased[scheme] == "digest" ? .digest(realm: realm) : .basic(realm: realm)
    }
}
