// What libcurl's results mean, as errors of a transport. The only place that knows them.

internal import CKFCurl
internal import Foundation

extension TransportError {
    /// Translates the result of a hop.
    ///
    /// - Parameters:
    ///   - result: What libcurl returned.
    ///   - handle: Knows more about it.
    ///   - url: Where the request went.
    ///   - hasHead: Whether a response had begun.
    ///   - isSent: Whether there was a connection.
    init(_ result: CURLcode, of handle: CurlHandle, url: URL?, hasHead: Bool, isSent: Bool) {
        let host = url?.host ?? "the server"
        let detail = handle.error
        switch result {
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT:
            self.init(.unsupportedURL, "The URL cannot be used: \(detail).", url: url)
        case CURLE_COULDNT_RESOLVE_HOST:
            self.init(.cannotFindHost, "The host \(host) could not be found.", url: url)
        case CURLE_COULDNT_RESOLVE_PROXY:
            self.init(.cannotFindHost, "The proxy before \(host) could not be found.", url: url)
        case CURLE_COULDNT_CONNECT: self.init(connecting: handle, host: host, url: url)
        case CURLE_PROXY: self.init(.cannotConnectToHost, "The proxy before \(host) failed: \(detail).", url: url)
        case CURLE_OPERATION_TIMEDOUT:
            self.init(.timedOut, "Connecting to \(host) took too long.", url: url)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
            self.init(distrust: handle, host: host, url: url)
        case CURLE_SSL_CACERT_BADFILE:
            let message = "The file of trusted certificates cannot be read: \(detail)."
            self.init(.secureConnectionFailed, message, url: url)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED:
            let message = "No secure connection to \(host) could be made: \(detail)."
            self.init(.secureConnectionFailed, message, url: url)
        case CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR:
            self.init(.cannotDecodeContentData, "The compressed body is damaged.", url: url)
        case _ where Self.notHTTP.contains(result) && !hasHead:
            self.init(.badServerResponse, "\(host) does not speak HTTP: \(detail).", url: url)
        default: self.init(broken: result, of: handle, host: host, url: url)
        }
    }

    /// What libcurl returns for bytes that are no head of a response.
    private static let notHTTP = [CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_OUT_OF_MEMORY]

    /// There was no connection.
    private init(connecting handle: CurlHandle, host: String, url: URL?) {
        switch CInt(truncatingIfNeeded: kf_curl_long(handle.curl, CURLINFO_OS_ERRNO)) {
        case ECONNREFUSED: self.init(.cannotConnectToHost, "\(host) refused the connection.", url: url)
        case ETIMEDOUT: self.init(.timedOut, "Connecting to \(host) took too long.", url: url)
        case 0: self.init(.cannotConnectToHost, "\(host) cannot be reached: \(handle.error).", url: url)
        case let code:
            self.init(.cannotConnectToHost, "\(host) cannot be reached: \(String(cString: strerror(code))).", url: url)
        }
    }

    /// A connection broke, or what came through it was not HTTP.
    private init(broken result: CURLcode, of handle: CurlHandle, host: String, url: URL?) {
        let detail = handle.error
        let refused = kf_curl_long(handle.curl, CURLINFO_HTTP_CONNECTCODE)
        if refused >= 300 {
            let message = "The proxy before \(host) refused with status \(refused)."
            self.init(.cannotConnectToHost, message, url: url)
        } else if detail.contains("chunk") || detail.contains("Invalid Content-Length") {
            self.init(.badServerResponse, "The response of \(host) is damaged: \(detail).", url: url)
        } else if [CURLE_HTTP2, CURLE_HTTP2_STREAM].contains(result) {
            self.init(.networkConnectionLost, "\(host) ended the HTTP/2 stream: \(detail).", url: url)
        } else if [CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE].contains(result) {
            self.init(.networkConnectionLost, "\(host) closed the connection too early.", url: url)
        } else if [CURLE_SEND_ERROR, CURLE_RECV_ERROR].contains(result) {
            self.init(.networkConnectionLost, "The connection to \(host) was lost: \(detail).", url: url)
        } else {
            let detail = detail.isEmpty ? String(cString: curl_easy_strerror(result)) : detail
            self.init(.unknown, "The transfer from \(host) failed: \(detail).", url: url)
        }
    }

    /// The server's certificate was not accepted.
    private init(distrust handle: CurlHandle, host: String, url: URL?) {
        // The numbers are those of OpenSSL (X509_V_ERR_…); other TLS libraries leave 0 and say it in words.
        let certificate = "The certificate of \(host)"
        switch kf_curl_long(handle.curl, CURLINFO_SSL_VERIFYRESULT) {
        case 9: self.init(.serverCertificateNotYetValid, "\(certificate) is not valid yet.", url: url)
        case 10: self.init(.serverCertificateHasBadDate, "\(certificate) has expired.", url: url)
        case 18: self.init(.serverCertificateUntrusted, "\(certificate) is self-signed.", url: url)
        case 2, 19, 20, 21:
            self.init(.serverCertificateUntrusted, "\(certificate) is from an issuer that is not trusted.", url: url)
        case 0 where handle.error.contains("subject name"):
            self.init(.serverCertificateUntrusted, "\(certificate) is for another host.", url: url)
        default: self.init(.serverCertificateUntrusted, "\(certificate) is not trusted: \(handle.error).", url: url)
        }
    }

    /// The address policy does not allow an address.
    static func refused(_ kind: AddressPolicy.AddressClass, host: String?, url: URL?) -> TransportError {
        let message = "\(host ?? "The host") is at \(kind), where the address policy allows no connection."
        return TransportError(.resourceUnavailable, message, url: url)
    }
}

extension TransportMetrics.Exchange {
    /// Takes over what libcurl measured.
    mutating func measure(
        _ curl: UnsafeMutableRawPointer,
        from start: ContinuousClock.Instant,
        received: Int,
        head: HTTPHead
    ) {
        /// Microseconds from the start; 0 for what did not happen.
        func time(_ info: CURLINFO) -> Int64 { Int64(kf_curl_offset(curl, info)) }
        func instant(_ time: Int64) -> ContinuousClock.Instant? { time > 0 ? start + .microseconds(time) : nil }
        let (named, connected, secured) = (
            time(CURLINFO_NAMELOOKUP_TIME_T), time(CURLINFO_CONNECT_TIME_T), time(CURLINFO_APPCONNECT_TIME_T)
        )
        if head.isComplete { (status, httpVersion) = (head.status, head.version) }
        reusedConnection = connected > 0 ? kf_curl_long(curl, CURLINFO_NUM_CONNECTS) == 0 : nil
        if reusedConnection == false {
            domainLookup = .microseconds(named)
            connect = .microseconds(connected - named)
            if secured > 0 { secureConnection = .microseconds(secured - connected) }
        }
        requestStart = instant(time(CURLINFO_PRETRANSFER_TIME_T))
        requestEnd = requestStart
        responseStart = head.isComplete ? instant(time(CURLINFO_STARTTRANSFER_TIME_T)) : nil
        responseEnd = responseStart == nil ? nil : instant(time(CURLINFO_TOTAL_TIME_T))
        bytesSent = time(CURLINFO_SIZE_UPLOAD_T)
        bytesReceived = Int64(received)
        bytesOnWire = time(CURLINFO_SIZE_DOWNLOAD_T)
        remoteAddress = kf_curl_string(curl, CURLINFO_PRIMARY_IP).map { String(cString: $0) }
    }
}
