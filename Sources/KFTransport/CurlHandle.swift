// One easy handle of libcurl, and how it is given a request. For CurlTransfer.

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
    /// The options it has; nil when it has none, or some that the next request must not have.
    private var settings: CurlSettings?
    /// The transfer it works for.
    private(set) var transfer: CurlTransfer?

    init(cookies: UnsafeMutableRawPointer) {
        self.cookies = cookies
        guard let curl = curl_easy_init() else { preconditionFailure("libcurl has no memory for a transfer") }
        self.curl = curl
        errorText.pointee = 0
    }

    deinit {
        curl_easy_cleanup(curl)
        curl_slist_free_all(fields)
        errorText.deallocate()
    }

    /// The transfer is done with it.
    ///
    /// - Parameter keepsOptions: Whether a request like the last one may be sent with the same options; otherwise
    ///   libcurl forgets them. Connections, names and TLS sessions stay.
    func release(keepsOptions: Bool) {
        transfer = nil
        if !keepsOptions { settings = nil }
        if settings == nil { reset() }
    }

    /// Forgets the request.
    private func reset() {
        settings = nil
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

    /// The transfer a handle works for, from the handle's context in libcurl.
    static func transfer(_ context: UnsafeRawPointer?) -> CurlTransfer? {
        context.flatMap { Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue().transfer }
    }

    // MARK: The request

    /// Sets all that a hop of a transfer needs, or throws if the request cannot be sent as it is.
    func configure(
        _ hop: borrowing CurlHop,
        for transfer: CurlTransfer,
        configuration: CurlTransport.Configuration
    ) throws(TransportError) {
        let origin = try Origin(hop.request.url)
        let settings = try CurlSettings(hop, to: origin, policy: transfer.policy, configuration: configuration)
        transfer.isProxied = settings.hasProxy && transfer.policy.addressPolicy.allowsProxies
        if self.settings != settings { apply(settings) }
        set(CURLOPT_URL, origin.sentURL)
        try setFields(of: hop.request, hasDigest: hop.digest != nil)
        setBody(hop.request.httpBody)
        errorText.pointee = 0
        self.transfer = transfer
    }

    private func apply(_ settings: CurlSettings) {
        if self.settings != nil { reset() }
        kf_curl_prepare(curl, Unmanaged.passUnretained(self).toOpaque(), errorText)
        settings.apply(to: self, sharing: cookies)
        self.settings = settings
    }

    func set(_ option: CURLoption, _ value: Int) { kf_curl_set_long(curl, option, value) }
    func set(_ option: CURLoption, _ value: String?) { kf_curl_set_string(curl, option, value) }

    private func setBody(_ body: Data?) {
        guard let body else { return }
        set(CURLOPT_POSTFIELDSIZE, body.count)
        _ = body.withUnsafeBytes { kf_curl_set_pointer(curl, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
    }

    /// Sends the fields of a request, which go before the options of the same meaning.
    private func setFields(of request: URLRequest, hasDigest: Bool) throws(TransportError) {
        curl_slist_free_all(fields)
        fields = nil
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            guard !name.utf8.contains(where: Self.endsField), !value.utf8.contains(where: Self.endsField) else {
                throw TransportError(.badURL, "The header field \(name) contains a line break.", url: request.url)
            }
            switch name.lowercased() {
            case "cookie": continue  // an option
            case "authorization" where hasDigest: continue
            default: break
            }
            // "Name;" is how libcurl is told to send a field without a value.
            add(field: value.isEmpty ? name + ";" : name + ": " + value)
        }
        // Without it libcurl asks whether a long body is welcome, and waits a second for servers that do not reply.
        if request.httpBody != nil { add(field: "Expect:") }
        kf_curl_set_pointer(curl, CURLOPT_HTTPHEADER, fields)
    }

    private static func endsField(_ byte: UInt8) -> Bool { byte == 13 || byte == 10 || byte == 0 }

    private func add(field: String) { fields = curl_slist_append(fields, field) ?? fields }
}

/// For those who use libcurl without a transport.
package enum Libcurl {
    /// Whether libcurl can be used; asking prepares it, once a process.
    package static var isInitialized: Bool { CurlHandle.isLibcurlInitialized }
}
