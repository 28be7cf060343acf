// A connection to a Redis server, plain or TLS, through libcurl. For RedisConnection.

internal import CKFCurl
internal import Foundation
internal import KFSupport
internal import KFTransport

/// A connected socket.
///
/// It is made, used and released on one thread; only making it and ``wait(in:sends:milliseconds:)`` wait.
final class RedisSocket {
    private let curl: UnsafeMutableRawPointer
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var descriptor: Int32 = -1

    /// Connects, and verifies the server's certificate if the settings ask for TLS.
    init(to endpoint: RedisEndpoint, _ settings: RedisSettings) throws(RedisFailure) {
        guard Libcurl.isInitialized, let curl = curl_easy_init() else {
            errorText.deallocate()
            throw RedisFailure(reason: "libcurl cannot be used")
        }
        self.curl = curl
        errorText.pointee = 0
        kf_curl_prepare_socket(curl, errorText)
        kf_curl_set_string(curl, CURLOPT_URL, "\(settings.usesTLS ? "https" : "http")://\(endpoint)")
        kf_curl_set_long(curl, CURLOPT_CONNECTTIMEOUT_MS, Int(max(settings.connectTimeout.milliseconds, 1)))
        if settings.usesTLS { setCertificates(settings) }
        let result = curl_easy_perform(curl)
        descriptor = kf_curl_socket(curl)
        guard result == CURLE_OK, descriptor >= 0 else {
            throw RedisFailure(reason: reason(result))
        }
    }

    deinit {
        curl_easy_cleanup(curl)
        errorText.deallocate()
    }

    private func setCertificates(_ settings: RedisSettings) {
        // Without these, libcurl trusts what the system does.
        if let file = settings.authorityFile ?? Environment["SSL_CERT_FILE"] {
            kf_curl_set_string(curl, CURLOPT_CAINFO, file)
        }
        if settings.authorityFile == nil, let directory = Environment["SSL_CERT_DIR"] {
            kf_curl_set_string(curl, CURLOPT_CAPATH, directory)
        }
        kf_curl_set_string(curl, CURLOPT_SSLCERT, settings.certificateFile)
        kf_curl_set_string(curl, CURLOPT_SSLKEY, settings.keyFile)
    }

    private func reason(_ result: CURLcode) -> String {
        errorText.pointee == 0 ? String(cString: curl_easy_strerror(result)) : String(cString: errorText)
    }

    /// Sends some bytes; returns how many, 0 if none can be sent now.
    ///
    /// Then the same bytes have to be tried again.
    func send(_ bytes: UnsafeRawBufferPointer) throws(RedisFailure) -> Int {
        var count = 0
        switch curl_easy_send(curl, bytes.baseAddress, bytes.count, &count) {
        case CURLE_OK: return count
        case CURLE_AGAIN: return 0
        case let result: throw RedisFailure(reason: reason(result))
        }
    }

    /// Receives some bytes; returns how many, nil if none are there.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(RedisFailure) -> Int? {
        var count = 0
        switch curl_easy_recv(curl, buffer.baseAddress, buffer.count, &count) {
        case CURLE_OK where count > 0: return count
        case CURLE_OK: throw RedisFailure(reason: "the server closed it")
        case CURLE_AGAIN: return nil
        case let result: throw RedisFailure(reason: reason(result))
        }
    }

    /// Waits until there are bytes, can be some sent if `sends`, the time is over, or it was woken.
    func wait(in multi: UnsafeMutableRawPointer, sends: Bool, milliseconds: Int32) {
        let events = CURL_WAIT_POLLIN | (sends ? CURL_WAIT_POLLOUT : 0)
        var socket = curl_waitfd(fd: descriptor, events: Int16(events), revents: 0)
        curl_multi_poll(multi, &socket, 1, milliseconds, nil)
    }
}
