// A failed transfer in one line, with advice that names the tool's options.

import Foundation
import Kingfisher

/// A failed transfer in words.
enum NetworkFailure {
    /// The sentence about an error, with advice; nil for errors that are not of the network.
    static func message(_ error: KingfisherError) -> String? {
        guard case .responseError(reason: .URLSessionError(let error as URLError)) = error,
            let said = error.errorUserInfo[NSLocalizedDescriptionKey] as? String, !said.isEmpty
        else { return nil }
        let what = said.hasSuffix(".") ? String(said.dropLast()) : said
        let url = error.failingURL
        let sentence =
            switch error.code {
            case .httpTooManyRedirects: "The server redirects too often: \(what)"
            // Only a redirect leads to another scheme: the tool itself downloads nothing but http and https.
            case .unsupportedURL where url?.scheme?.lowercased().hasPrefix("http") == false:
                "The server redirects to \(url?.absoluteString ?? ""): "
                    + "\(what.first?.lowercased() ?? "")\(what.dropFirst())"
            default: what
            }
        return sentence + (advice(error.code, what).map { "; \($0)" } ?? "")
    }

    /// The advice for an error, if there is any.
    ///
    /// One code stands for several causes, which only the message tells apart.
    private static func advice(_ code: URLError.Code, _ what: String) -> String? {
        switch code {
        case .timedOut where what.contains("in all"): "--max-time allows more"
        case .timedOut where what.hasPrefix("Connecting"): "--connect-timeout allows more"
        case .timedOut: "--timeout allows more"
        case .cannotFindHost where what.contains("proxy"), .cannotConnectToHost where what.contains("proxy"):
            "check --proxy, or http_proxy, https_proxy and all_proxy in the environment"
        case .cannotFindHost, .dnsLookupFailed: "check the name and the network"
        case .cannotConnectToHost where what.contains("refused"): "is the server running on that port?"
        case .cannotConnectToHost: "check the network"
        case .networkConnectionLost: "try again"
        case .serverCertificateUntrusted where what.contains("another host"): "check the name in the URL"
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot:
            "if you trust that, --cacert FILE trusts the certificates in a file"
        case .serverCertificateHasBadDate: "the server needs a new one, unless the clock of this machine is wrong"
        case .serverCertificateNotYetValid: "is the clock of this machine right?"
        case .badServerResponse where what.contains("does not speak HTTP"):
            "check the port, and whether the URL should begin with https"
        case .appTransportSecurityRequiresSecureConnection: "load that URL itself if plain http will do"
        default: nil
        }
    }
}
