// What a downloader asks about a certificate that does not verify, and about names and passwords. For ImageDownloader.

import Foundation
public import FoundationNetworking
import KFTransport

/// Meets the challenges of servers: certificates that do not verify, and HTTP's Basic and Digest authentication.
///
/// A user name and a password in the URL are sent without a challenge. Called for several transfers at the same time,
/// on threads of the library, and once for each transfer: the persistence of a credential has no effect. While it
/// decides, only the transfer's `totalTimeout` runs.
///
/// The second method differs from Kingfisher's, whose task is a `URLSessionTask`: a method with that type is not
/// called.
public protocol AuthenticationChallengeResponsible: AnyObject {
    /// A certificate does not verify. By default it is accepted for the downloader's ``ImageDownloader/trustedHosts``.
    ///
    /// `challenge.protectionSpace.isServerTrust` is true, and `challenge.error` says what is wrong: there is no server
    /// trust on Linux, whose certificates could be looked at.
    /// - Parameters:
    ///   - downloader: The downloader.
    ///   - challenge: The challenge: host and port in its protection space.
    /// - Returns: `.useCredential` accepts the certificate, whatever the credential; anything else does not.
    func downloader(
        _ downloader: ImageDownloader,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// A server wants a name and a password. By default there are none, and the response of 401 is the load's.
    ///
    /// A server that has refused three of them is not asked again.
    /// - Parameters:
    ///   - downloader: The downloader.
    ///   - task: The transfer.
    ///   - challenge: The challenge: realm and method in its protection space, its `previousFailureCount`, and the
    ///     response of 401.
    /// - Returns: `.useCredential` with user and password; `.cancelAuthenticationChallenge` ends the load; anything
    ///   else takes the response of 401 as it is.
    func downloader(
        _ downloader: ImageDownloader,
        task: SessionDataTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
}

/// The older spelling of ``AuthenticationChallengeResponsible``.
@available(*, deprecated, renamed: "AuthenticationChallengeResponsible")
public typealias AuthenticationChallengeResponsable = AuthenticationChallengeResponsible

extension AuthenticationChallengeResponsible {
    /// Accepts the certificates of the downloader's trusted hosts.
    public func downloader(
        _ downloader: ImageDownloader,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let host = challenge.protectionSpace.host.lowercased()
        let isTrusted = downloader.trustedHosts?.contains { $0.lowercased() == host } == true
        return (isTrusted ? .useCredential : .performDefaultHandling, nil)
    }

    /// Has no name and no password.
    public func downloader(
        _ downloader: ImageDownloader,
        task: SessionDataTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) { (.performDefaultHandling, nil) }
}

extension URLProtectionSpace {
    /// Whether a challenge is about a certificate. (`NSURLAuthenticationMethodServerTrust` is unavailable on Linux.)
    public var isServerTrust: Bool { authenticationMethod == Self.serverTrust }

    fileprivate static let serverTrust = "NSURLAuthenticationMethodServerTrust"
}

extension ByteLoader.ResponderLink {
    /// How the responder meets a challenge.
    func credential(for challenge: TransportChallenge, of task: SessionDataTask) async -> TransportCredential {
        let urlChallenge = challenge.urlChallenge
        if case .serverTrust = challenge.kind {
            let answer = await responder.downloader(downloader, didReceive: urlChallenge)
            return answer.0 == .useCredential ? .trust : .none
        }
        let (disposition, credential) = await responder.downloader(downloader, task: task, didReceive: urlChallenge)
        switch disposition {
        case .useCredential:
            guard let user = credential?.user, let password = credential?.password else { return .none }
            return .password(user: user, password: password)
        case .cancelAuthenticationChallenge: return .cancel
        default: return .none
        }
    }
}

extension TransportChallenge {
    /// The challenge as a value of Foundation.
    fileprivate var urlChallenge: URLAuthenticationChallenge {
        let (method, realm, error): (String, String?, TransportError?) =
            switch kind {
            case .serverTrust(let error): (URLProtectionSpace.serverTrust, nil, error)
            case .basic(let realm): (NSURLAuthenticationMethodHTTPBasic, realm, nil)
            case .digest(let realm): (NSURLAuthenticationMethodHTTPDigest, realm, nil)
            }
        let isSecure = url?.scheme?.lowercased() == "https"
        let space = URLProtectionSpace(
            host: url?.host ?? "",
            port: url?.port ?? (isSecure ? 443 : 80),
            protocol: isSecure ? "https" : "http",
            realm: realm,
            authenticationMethod: method
        )
        return URLAuthenticationChallenge(
            protectionSpace: space,
            proposedCredential: nil,
            previousFailureCount: previousFailureCount,
            failureResponse: response?.urlResponse,
            error: error?.urlError,
            sender: UnusedSender()
        )
    }
}

/// The sender that a challenge must have: what the responder returns counts.
private final class UnusedSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
