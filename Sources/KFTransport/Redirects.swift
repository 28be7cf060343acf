// The rules of RFC 9110 for redirects and credentials, as functions of values.

package import Foundation
package import FoundationNetworking
internal import KFSupport

extension URLRequest {
    /// The request that a redirecting response prescribes.
    ///
    /// All header fields are kept; ``removing(_:leaving:)`` removes credentials.
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - location: The bytes of its field `Location`.
    /// - Returns: The request; `nil` if that is not a redirect that can be followed.
    package func redirected(by status: Int, to location: some Collection<UInt8>) -> URLRequest? {
        guard [301, 302, 303, 307, 308].contains(status), !location.isEmpty,
            let current = url, let target = URL(escaping: location, relativeTo: current)?.absoluteURL
        else { return nil }

        var next = self
        next.url = target
        if target.fragment == nil, let fragment = current.fragment,
            var parts = URLComponents(url: target, resolvingAgainstBaseURL: true)
        {
            parts.fragment = fragment
            next.url = parts.url ?? target
        }
        let method = (httpMethod ?? "GET").uppercased()
        let dropsBody = status == 303 ? method != "HEAD" : (status == 301 || status == 302) && method == "POST"
        if dropsBody {
            next.httpMethod = "GET"
            next.httpBody = nil
            for field in ["Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding"] {
                next.setValue(nil, forHTTPHeaderField: field)
            }
        }
        next.setValue(nil, forHTTPHeaderField: "Host")
        return next
    }

    /// The request with the user name and password of its URL as a field, unless it has such a field already.
    ///
    /// As a field they stay with the request when it is redirected within the origin, and go with the other credentials
    /// when it leaves it.
    package var authorizedByURL: URLRequest {
        // Few URLs have an "@", and taking one apart takes long.
        guard let url, url.absoluteString.utf8.contains(UInt8(ascii: "@")),
            value(forHTTPHeaderField: "Authorization") == nil,
            let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            parts.user?.isEmpty == false || parts.password != nil
        else { return self }
        return authorized(user: parts.user ?? "", password: parts.password ?? "")
    }

    /// The request with a user name and a password as HTTP's Basic authentication.
    func authorized(user: String, password: String) -> URLRequest {
        var request = self
        let credentials = Data("\(user):\(password)".utf8).base64EncodedString()
        request.setValue("Basic \(credentials)", forHTTPHeaderField: "Authorization")
        return request
    }

    /// User name and password of a field `Authorization` of the kind Basic, with a colon between them.
    var basicCredentials: String? {
        guard let field = value(forHTTPHeaderField: "Authorization"), field.lowercased().hasPrefix("basic "),
            let data = Data(base64Encoded: String(field.dropFirst(6))),
            let text = String(data: data, encoding: .utf8), text.contains(":")
        else { return nil }
        return text
    }

    /// The fields that belong to an origin: its credentials.
    package static let credentialFields: Set<String> = ["Authorization", "Cookie", "Proxy-Authorization"]

    /// The request without header fields that belong to the origin of `previous`, if it goes to another one.
    package func removing(_ fields: Set<String>, leaving previous: URL?) -> URLRequest {
        guard let url, let previous, url.origin != previous.origin else { return self }
        var rest = self
        for field in fields { rest.setValue(nil, forHTTPHeaderField: field) }
        return rest
    }
}
