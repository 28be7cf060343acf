// Where a request goes: scheme, host and port of a URL that can be sent to, and whether a proxy stands before them.

internal import Foundation

/// Where a request of HTTP goes.
struct Origin {
    let isSecure: Bool
    /// In lower case.
    let host: String
    /// The URL without user name, password and fragment, which are not sent as part of it.
    let sentURL: String

    /// - Throws: An error for a URL that is not of HTTP, or has no host or no valid port.
    init(_ url: URL?) throws(TransportError) {
        guard let url, let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw TransportError(.unsupportedURL, "Only http and https can be downloaded.", url: url)
        }
        guard let host = url.host, !host.isEmpty, (1...65_535).contains(url.port ?? 80) else {
            throw TransportError(.unsupportedURL, "The URL names no host and port there can be.", url: url)
        }
        isSecure = scheme == "https"
        self.host = host.lowercased()
        let text = url.absoluteString
        sentURL = text.utf8.contains { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "#") } ? Self.bare(url) : text
    }

    private static func bare(_ url: URL) -> String {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url.absoluteString }
        (parts.user, parts.password, parts.fragment) = (nil, nil, nil)
        return parts.string ?? url.absoluteString
    }
}

extension URL {
    /// Scheme, host and port, written alike for all URLs of one server.
    var origin: String {
        let scheme = scheme?.lowercased() ?? ""
        let standardPort = scheme == "https" ? 443 : scheme == "http" ? 80 : 0
        return "\(scheme)://\(host?.lowercased() ?? ""):\(port ?? standardPort)"
    }
}

extension TransportPolicy {
    /// The proxy setting for libcurl: a URL, an empty text for no proxy, nil for the proxy of the environment.
    ///
    /// Where addresses are judged it is always set: libcurl's reading of `no_proxy` might differ from ours.
    ///
    /// - Throws: An error if there is a proxy, behind which the address policy could not see where the request goes.
    func proxy(to origin: Origin, configured: String?) throws(TransportError) -> String? {
        guard !addressPolicy.refused.isEmpty else { return configured }
        let proxy = configured ?? origin.proxyOfEnvironment ?? ""
        if proxy.isEmpty || addressPolicy.allowsProxies { return proxy }
        throw TransportError(
            .resourceUnavailable,
            "There is a proxy before \(origin.host), which hides where a request goes; the address policy refuses it.",
            url: URL(string: origin.sentURL)
        )
    }
}

extension Origin {
    /// The proxy that the environment names for this origin, by libcurl's rules.
    fileprivate var proxyOfEnvironment: String? {
        // Upper case is not read for http: a server program's environment may hold a request's field of that name.
        let own = isSecure ? Environment["https_proxy"] ?? Environment["HTTPS_PROXY"] : Environment["http_proxy"]
        guard let proxy = own ?? Environment["all_proxy"] ?? Environment["ALL_PROXY"] else { return nil }
        let exceptions = Environment["no_proxy"] ?? Environment["NO_PROXY"] ?? ""
        let isExcepted = exceptions.split(whereSeparator: { $0 == "," || $0 == " " }).contains { exception in
            let domain = exception.lowercased().drop { $0 == "." }
            return exception == "*" || host == domain || host.hasSuffix("." + domain)
        }
        return isExcepted ? nil : proxy
    }
}
