// What a server demands before it gets a request: trust in its certificate, or a name and a password. For Transport.

public import Foundation

/// A certificate that does not verify, or a response of 401.
///
/// A transport asks its events about each; see ``TransportEvents/didReceive(_:)-(TransportChallenge)``.
public struct TransportChallenge: Sendable {
    /// The kinds of challenges.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
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
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
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
        // The parts outside of quotes: the first, the third and so on. A scheme is a word at the beginning or after a
        // comma.
        let parts = field.split(separator: "\"", omittingEmptySubsequences: false)
        func end(of scheme: String) -> String.Index? {
            stride(from: 0, to: parts.count, by: 2).lazy.compactMap { place -> String.Index? in
                let start = place == 0 ? "(^|,)" : ","
                let options: String.CompareOptions = [.regularExpression, .caseInsensitive]
                return parts[place].range(of: "\(start)\\s*\(scheme)(?=\\s|,|$)", options: options)?.upperBound
            }.first
        }
        // Digest before Basic: it does not show the password.
        let digest = end(of: "digest")
        guard let schemeEnd = digest ?? end(of: "basic") else { return nil }
        let rest = field[schemeEnd...]
        var realm = ""
        if let start = rest.range(of: "realm=\"", options: .caseInsensitive)?.upperBound {
            realm = String(rest[start...].prefix { $0 != "\"" })
        }
        self = digest != nil ? .digest(realm: realm) : .basic(realm: realm)
    }
}
