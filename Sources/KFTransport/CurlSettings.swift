// What the requests of one kind have in common, as a value made into libcurl's options. For CurlHandle.

internal import CKFCurl
internal import Foundation
internal import FoundationNetworking
internal import KFSupport

/// All that a request is sent with, but for its URL, its header fields and its body.
///
/// A handle that has these options already is given the rest only.
struct CurlSettings: Equatable {
    private let method: String
    private let hasBody: Bool
    /// nil where the request has such a field itself.
    private var userAgent: String?
    private var acceptedCodings: String
    private var cookies: String?
    private let usesCookies: Bool
    /// User name and password that are sent as HTTP's Digest.
    private let digest: String?
    /// In milliseconds.
    private let connectTimeout: Int
    /// In seconds.
    private let idleConnectionTimeout: Int
    private let unixSocketPath: String?
    /// A URL, an empty text for no proxy, nil for the proxy of the environment.
    private let proxy: String?
    private let certificateFile: String?
    private let certificateDirectory: String?
    private let isSecure: Bool
    private let verifiesCertificate: Bool
    private let usesHTTP3: Bool

    /// The settings of a hop to an origin.
    ///
    /// - Throws: An error if a proxy stands in the way of the address policy.
    init(
        _ hop: borrowing CurlHop,
        to origin: Origin,
        policy: TransportPolicy,
        configuration: CurlTransport.Configuration
    ) throws(TransportError) {
        method = hop.request.httpMethod ?? "GET"
        hasBody = hop.request.httpBody != nil
        userAgent = configuration.userAgent
        acceptedCodings = policy.asksForCompression ? ContentDecoder.accepted : "identity"
        usesCookies = policy.usesCookies
        digest = hop.digest
        let timeout = policy.connectTimeout.flatMap { $0 > 0 && $0 < 1e6 ? max(Int($0 * 1_000), 1) : nil }
        connectTimeout = timeout ?? Int(Int32.max)
        idleConnectionTimeout = Int(min(max(configuration.idleConnectionTimeout, 1), 1e8))
        unixSocketPath = configuration.unixSocketPath
        proxy = try policy.proxy(to: origin, configured: configuration.proxy)
        certificateFile = configuration.certificateFile ?? Environment["SSL_CERT_FILE"]
        certificateDirectory = configuration.certificateFile == nil ? Environment["SSL_CERT_DIR"] : nil
        isSecure = origin.isSecure
        let isTrusted = hop.isTrusted || policy.trustedHosts.contains { $0.lowercased() == origin.host }
        verifiesCertificate = !isSecure || !isTrusted
        usesHTTP3 = isSecure && configuration.usesHTTP3 && kf_curl_has_http3()
        for (name, value) in hop.request.allHTTPHeaderFields ?? [:] {
            switch name.lowercased() {
            case "accept-encoding": acceptedCodings = value
            // This way it goes with the cookies of the transport, and not beside them.
            case "cookie": cookies = value
            case "user-agent": userAgent = nil
            default: break
            }
        }
    }

    /// Whether the connection is one to a proxy of the configuration.
    var hasProxy: Bool { proxy?.isEmpty == false }

    /// Sets these options of a handle that has none but the callbacks.
    func apply(to handle: CurlHandle, sharing cookieJar: UnsafeMutableRawPointer) {
        if method == "HEAD", !hasBody { handle.set(CURLOPT_NOBODY, 1) }
        // Libcurl makes a request with a body POST, and another one GET.
        if hasBody ? method != "POST" : method != "HEAD" && method != "GET" {
            handle.set(CURLOPT_CUSTOMREQUEST, method)
        }
        handle.set(CURLOPT_USERAGENT, userAgent)
        handle.set(CURLOPT_ACCEPT_ENCODING, acceptedCodings)
        handle.set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        handle.set(CURLOPT_COOKIE, cookies)
        // It outlives a reset of the handle.
        kf_curl_set_pointer(handle.curl, CURLOPT_SHARE, usesCookies ? cookieJar : nil)
        if usesCookies { handle.set(CURLOPT_COOKIEFILE, "") }
        if let digest { kf_curl_set_digest(handle.curl, digest) }
        // Libcurl allocates it for each request; the C library gives larger ones back to the system each time.
        handle.set(CURLOPT_BUFFERSIZE, 64 << 10)
        setConnection(of: handle)
    }

    private func setConnection(of handle: CurlHandle) {
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, connectTimeout)
        handle.set(CURLOPT_MAXAGE_CONN, idleConnectionTimeout)
        handle.set(CURLOPT_UNIX_SOCKET_PATH, unixSocketPath)
        handle.set(CURLOPT_PROXY, proxy)
        // This setting goes before the environment.
        if proxy != nil { handle.set(CURLOPT_NOPROXY, "") }
        // The certificates that are trusted instead of the system's, for servers and for proxies.
        if certificateFile != nil || certificateDirectory != nil {
            for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { handle.set(option, certificateFile) }
            for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] { handle.set(option, certificateDirectory) }
        }
        if !verifiesCertificate {
            handle.set(CURLOPT_SSL_VERIFYPEER, 0)
            handle.set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        // Transfers to a host that may speak HTTP/2 wait for its first connection, to share it.
        if isSecure { handle.set(CURLOPT_PIPEWAIT, 1) }
        if usesHTTP3 { handle.set(CURLOPT_HTTP_VERSION, Int(KF_CURL_HTTP_VERSION_3)) }
    }
}
