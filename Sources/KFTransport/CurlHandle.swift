// One easy handle of libcurl, and how a request becomes its options. For CurlTransfer.

internal import CKFCurl
internal import Foundation
internal import FoundationNetworking

/// An easy handle with its error text.
///
/// It is used by one hop after the other, on the engine's thread.
final class CurlHandle {
    let curl: UnsafeMutableRawPointer
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var fields: UnsafeMutablePointer<curl_slist>?
    private let cookies: UnsafeMutableRawPointer

    init(cookies: UnsafeMutableRawPointer) {
        self.cookies = cookies
        guard let curl = curl_easy_init() else { preconditionFailure("libcurl has no memory for a transfer") }
        self.curl = curl
        errorText.pointee = 0
    }

    deinit {
        curl_slist_free_all(fields)
        curl_easy_cleanup(curl)
        errorText.deallocate()
    }

    /// Forgets the request; connections, names and TLS sessions stay.
    func reset() {
        curl_easy_reset(curl)
        curl_slist_free_all(fields)
        fields = nil
        errorText.pointee = 0
    }

    /// Whether libcurl can be used; asking prepares it, once a process.
    static let isLibcurlInitialized = kf_curl_initialize(
        kf_curl_callbacks(
            head: { transfer($0)?.receive(head: UnsafeRawBufferPointer(start: $1, count: $2)) ?? false },
            body: { transfer($0)?.receive(body: UnsafeRawBufferPointer(start: $1, count: $2)) ?? 0 },
            may_connect: { transfer($0)?.mayConnect(to: UnsafeRawBufferPointer(start: $1, count: $2)) ?? false },
            connected: { transfer($0)?.isConnected(to: $1) ?? false }
        )
    )

    /// Libcurl's text about a failure; empty if there is none.
    var error: String { String(cString: errorText) }

    /// The transfer a handle works for, from its context in libcurl.
    static func transfer(_ context: UnsafeRawPointer?) -> CurlTransfer? {
        context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: The request

    /// Sets all that a hop of a transfer needs, or throws if the request cannot be sent as it is.
    ///
    /// User name and password in `digest` are sent as HTTP's Digest; with `isTrusted` no certificate is verified.
    func configure(
        _ request: URLRequest,
        for transfer: CurlTransfer,
        digest: String?,
        isTrusted: Bool,
        configuration: CurlTransport.Configuration
    ) throws(TransportError) {
        let policy = transfer.policy
        let origin = try Origin(request.url)
        kf_curl_prepare(curl, Unmanaged.passUnretained(transfer).toOpaque(), errorText)
        set(CURLOPT_URL, origin.sentURL)
        setMethod(of: request)
        set(CURLOPT_USERAGENT, configuration.userAgent)
        set(CURLOPT_ACCEPT_ENCODING, policy.asksForCompression ? "" : "identity")
        try setFields(of: request, hasDigest: digest != nil)
        let connectTimeout = policy.connectTimeout.flatMap { $0 > 0 && $0 < 1e6 ? max(Int($0 * 1_000), 1) : nil }
        set(CURLOPT_CONNECTTIMEOUT_MS, connectTimeout ?? Int(Int32.max))
        set(CURLOPT_MAXAGE_CONN, Int(min(max(configuration.idleConnectionTimeout, 1), 1e8)))
        set(CURLOPT_BUFFERSIZE, 128 << 10)
        set(CURLOPT_UNIX_SOCKET_PATH, configuration.unixSocketPath)
        let proxy = try policy.proxy(to: origin, configured: configuration.proxy)
        transfer.isProxied = !(proxy ?? "").isEmpty && policy.addressPolicy.allowsProxies
        set(CURLOPT_PROXY, proxy)
        // This setting goes before the environment.
        if proxy != nil { set(CURLOPT_NOPROXY, "") }
        if let digest { kf_curl_set_digest(curl, digest) }
        setRoots(configuration)
        if origin.isSecure { setTLS(to: origin, policy, isTrusted: isTrusted, configuration) }
        // It outlives a reset of the handle.
        kf_curl_set_pointer(curl, CURLOPT_SHARE, policy.usesCookies ? cookies : nil)
        if policy.usesCookies { set(CURLOPT_COOKIEFILE, "") }
    }

    /// Sets the certificates that are trusted instead of the system's, for servers and for proxies.
    private func setRoots(_ configuration: CurlTransport.Configuration) {
        let file = configuration.certificateFile ?? Environment["SSL_CERT_FILE"]
        let directory = configuration.certificateFile == nil ? Environment["SSL_CERT_DIR"] : nil
        guard file != nil || directory != nil else { return }
        for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { set(option, file) }
        for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] { set(option, directory) }
    }

    /// Has bodies delivered as they come.
    func leaveBodyCoded() { set(CURLOPT_HTTP_CONTENT_DECODING, 0) }

    private func set(_ option: CURLoption, _ value: Int) { kf_curl_set_long(curl, option, value) }
    private func set(_ option: CURLoption, _ value: String?) { kf_curl_set_string(curl, option, value) }

    private func setMethod(of request: URLRequest) {
        let method = request.httpMethod ?? "GET"
        if let body = request.httpBody {
            set(CURLOPT_POSTFIELDSIZE, body.count)
            _ = body.withUnsafeBytes { kf_curl_set_pointer(curl, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
            if method != "POST" { set(CURLOPT_CUSTOMREQUEST, method) }
        } else if method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
        } else if method != "GET" {
            set(CURLOPT_CUSTOMREQUEST, method)
        }
    }

    /// Sends the fields of a request, which go before the options of the same meaning.
    private func setFields(of request: URLRequest, hasDigest: Bool) throws(TransportError) {
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            guard !(name + value).utf8.contains(where: { $0 == 13 || $0 == 10 || $0 == 0 }) else {
                throw TransportError(.badURL, "The header field \(name) contains a line break.", url: request.url)
            }
            switch name.lowercased() {
            case "accept-encoding": set(CURLOPT_ACCEPT_ENCODING, value)
            case "authorization" where hasDigest: continue
            case "cookie":
                // This way it goes with the cookies of the transport, and not beside them.
                set(CURLOPT_COOKIE, value)
                continue
            case "user-agent": set(CURLOPT_USERAGENT, nil)
            default: break
            }
            // "Name;" is how libcurl is told to send a field without a value.
            add(field: value.isEmpty ? name + ";" : name + ": " + value)
        }
        // Without it libcurl asks whether a long body is welcome, and waits a second for servers that do not reply.
        if request.httpBody != nil { add(field: "Expect:") }
        if let fields { kf_curl_set_pointer(curl, CURLOPT_HTTPHEADER, fields) }
    }

    private func add(field: String) { fields = curl_slist_append(fields, field) ?? fields }

    private func setTLS(
        to origin: Origin,
        _ policy: TransportPolicy,
        isTrusted: Bool,
        _ configuration: CurlTransport.Configuration
    ) {
        if isTrusted || policy.trustedHosts.contains(where: { $0.lowercased() == origin.host }) {
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        // Transfers to a host that may speak HTTP/2 wait for its first connection, to share it.
        set(CURLOPT_PIPEWAIT, 1)
        if configuration.usesHTTP3, kf_curl_has_http3() { set(CURLOPT_HTTP_VERSION, Int(KF_CURL_HTTP_VERSION_3)) }
    }
}

/// Variables of the environment that say something; an empty one says nothing.
enum Environment {
    static subscript(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
