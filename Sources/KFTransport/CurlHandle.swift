// One easy handle of libcurl, and how a request becomes its options. For CurlTransfer.

internal import CKFCurl
internal import Foundation
internal import KFSupport

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// An easy handle with its error text.
///
/// It is used by one hop after the other, on the engine's thread.
final class CurlHandle {
    let curl: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var fields: UnsafeMutablePointer<curl_slist>?

    init() {
        guard let curl = curl_easy_init() else { preconditionFailure("libcurl has no memory for a transfer") }
        self.curl = curl
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.pointee = 0
    }

    /// Frees the handle, which must not be used from now on.
    func close() {
        curl_slist_free_all(fields)
        fields = nil
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

    /// Prepares libcurl; once a process.
    static func initializeLibcurl() { precondition(isInitialized, "libcurl cannot be initialised") }

    private static let isInitialized: Bool = {
        func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
            context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
        }
        return kf_curl_initialize(
            kf_curl_callbacks(
                head: { transfer($0)?.receive(head: UnsafeRawBufferPointer(start: $1, count: $2)) ?? false },
                body: { transfer($0)?.receive(body: UnsafeRawBufferPointer(start: $1, count: $2)) ?? 0 },
                may_connect: { transfer($0)?.mayConnect(to: UnsafeRawBufferPointer(start: $1, count: $2)) ?? false },
                connected: { context, address in
                    transfer(context)?.isConnected { address.map { String(cString: $0) } ?? "" } ?? false
                }
            )
        )
    }()

    /// What libcurl says about a failure; empty if nothing.
    var error: String { String(cString: errorText) }

    /// The transfer a handle works for.
    static func transfer(of curl: UnsafeMutableRawPointer) -> CurlTransfer? {
        guard let context = kf_curl_string(curl, CURLINFO_PRIVATE) else { return nil }
        return Unmanaged<CurlTransfer>.fromOpaque(UnsafeRawPointer(context)).takeUnretainedValue()
    }

    // MARK: The request

    /// A user name and a password to answer a server's challenge with.
    struct Credentials: Sendable {
        let user: String
        let password: String
    }

    /// Sets all that a hop needs.
    ///
    /// - Parameters:
    ///   - request: What is sent.
    ///   - transfer: What the callbacks are for, and whose policy holds.
    ///   - digest: Credentials that are sent as HTTP's Digest.
    ///   - configuration: The transport's.
    /// - Throws: An error if the request cannot be sent as it is.
    func configure(
        _ request: URLRequest,
        for transfer: CurlTransfer,
        digest: Credentials?,
        configuration: CurlTransport.Configuration
    ) throws(TransportError) {
        let policy = transfer.policy
        let origin = try Origin(request.url)
        kf_curl_prepare(curl, Unmanaged.passUnretained(transfer).toOpaque(), errorText)
        set(CURLOPT_URL, origin.sentURL)
        setMethod(of: request)
        try setFields(of: request, policy, without: digest, userAgent: configuration.userAgent)
        if let limit = policy.connectTimeout, limit > 0, limit < 1e6 {
            set(CURLOPT_CONNECTTIMEOUT_MS, max(Int(limit * 1_000), 1))
        } else {
            set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
        }
        set(CURLOPT_MAXAGE_CONN, Int(min(max(configuration.idleConnectionTimeout, 1), 1e8)))
        set(CURLOPT_BUFFERSIZE, 128 << 10)
        if let path = configuration.unixSocketPath { set(CURLOPT_UNIX_SOCKET_PATH, path) }
        let proxy = try policy.proxy(to: origin, configured: configuration.proxy)
        transfer.isProxied = !(proxy ?? "").isEmpty && policy.addressPolicy.allowsProxies
        if let proxy {
            set(CURLOPT_PROXY, proxy)
            // What is said here goes before the environment.
            set(CURLOPT_NOPROXY, "")
        }
        if let digest { kf_curl_set_digest(curl, digest.user, digest.password) }
        setRoots(configuration)
        if origin.isSecure { setTLS(to: origin, policy, configuration) }
    }

    /// What is trusted instead of the system's certificates, by servers and by proxies.
    private func setRoots(_ configuration: CurlTransport.Configuration) {
        let file = configuration.certificateFile ?? Environment["SSL_CERT_FILE"]
        let directory = configuration.certificateFile == nil ? Environment["SSL_CERT_DIR"] : nil
        guard file != nil || directory != nil else { return }
        for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { kf_curl_set_string(curl, option, file) }
        for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] { kf_curl_set_string(curl, option, directory) }
    }

    private func set(_ option: CURLoption, _ value: Int) { kf_curl_set_long(curl, option, value) }
    private func set(_ option: CURLoption, _ value: String) { kf_curl_set_string(curl, option, value) }

    private func setMethod(of request: URLRequest) {
        let method = request.httpMethod ?? "GET"
        if let body = request.httpBody {
            kf_curl_set_offset(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            _ = body.withUnsafeBytes { kf_curl_set_pointer(curl, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
            if method != "POST" { set(CURLOPT_CUSTOMREQUEST, method) }
        } else if method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
        } else if method != "GET" {
            set(CURLOPT_CUSTOMREQUEST, method)
        }
    }

    private func setFields(
        of request: URLRequest,
        _ policy: TransportPolicy,
        without digest: Credentials?,
        userAgent: String
    ) throws(TransportError) {
        var coding = policy.asksForCompression ? "" : "identity"
        var hasUserAgent = false
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            guard !(name + value).utf8.contains(where: { $0 == 13 || $0 == 10 || $0 == 0 }) else {
                throw TransportError(.badURL, "The header field \(name) contains a line break.", url: request.url)
            }
            switch name.lowercased() {
            case "accept-encoding": coding = value
            case "authorization" where digest != nil: continue
            case "user-agent": hasUserAgent = true
            default: break
            }
            // "Name;" is how libcurl is told to send a field without a value.
            add(field: value.isEmpty ? name + ";" : name + ": " + value)
        }
        // Without it libcurl asks whether a long body is welcome, and waits a second for servers that do not answer.
        if request.httpBody != nil { add(field: "Expect:") }
        if let fields { kf_curl_set_pointer(curl, CURLOPT_HTTPHEADER, fields) }
        if !hasUserAgent { set(CURLOPT_USERAGENT, userAgent) }
        set(CURLOPT_ACCEPT_ENCODING, coding)
    }

    private func add(field: String) { fields = curl_slist_append(fields, field) ?? fields }

    private func setTLS(to origin: Origin, _ policy: TransportPolicy, _ configuration: CurlTransport.Configuration) {
        if policy.trustedHosts.contains(where: { $0.lowercased() == origin.host }) {
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
