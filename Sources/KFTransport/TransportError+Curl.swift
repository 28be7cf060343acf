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
    init(_ result: CURLcode, of handle: CurlHandle, url: URL?, hasHead: Bool) {
        let host = Self.place(url)
        let detail = handle.error
        let connectStatus = kf_curl_long(handle.curl, CURLINFO_HTTP_CONNECTCODE)
        switch result {
        case _ where connectStatus >= 300: self.init(connectStatus: connectStatus, host: host, url: url)
        case CURLE_OK:
            // The connection has ended, and libcurl takes what came for all of the response.
            let message = "\(host) closed the connection in the head of its response."
            self.init(.networkConnectionLost, message, url: url)
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT:
            self.init(.unsupportedURL, "The URL cannot be used: \(detail).", url: url)
        case CURLE_COULDNT_RESOLVE_HOST:
            self.init(.cannotFindHost, "The host \(url?.host ?? host) could not be found.", url: url)
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
        case _ where !hasHead && Self.notHTTP.contains(result.rawValue):
            self.init(head: result, detail, host: host, url: url)
        default: self.init(broken: result, of: handle, host: host, url: url)
        }
    }

    /// What libcurl returns for bytes that are no head of a response; one that is too long is the last, since 8.6.
    private static let notHTTP = [
        CURLE_UNSUPPORTED_PROTOCOL.rawValue, CURLE_WEIRD_SERVER_REPLY.rawValue, CURLE_OUT_OF_MEMORY.rawValue, 100,
    ]

    /// The host of a URL, with its port if it has one.
    static func place(_ url: URL?) -> String {
        guard let host = url?.host else { return "the server" }
        guard let port = url?.port else { return host }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The proxy answered the request for a tunnel.
    private init(connectStatus status: Int, host: String, url: URL?) {
        let what = status == 407 ? "asks for a user name and a password" : "refused to connect to it"
        self.init(.cannotConnectToHost, "The proxy before \(host) \(what) (status \(status)).", url: url)
    }

    /// There was no connection.
    private init(connecting handle: CurlHandle, host: String, url: URL?) {
        let target = Self.proxy(in: handle.error, for: url).map { "The proxy \($0) before \(host)" } ?? host
        switch CInt(truncatingIfNeeded: kf_curl_long(handle.curl, CURLINFO_OS_ERRNO)) {
        case ECONNREFUSED: self.init(.cannotConnectToHost, "\(target) refused the connection.", url: url)
        case ETIMEDOUT: self.init(.timedOut, "Connecting to \(host) took too long.", url: url)
        case 0: self.init(.cannotConnectToHost, "\(target) cannot be reached: \(handle.error).", url: url)
        case let code:
            let reason = String(cString: strerror(code))
            self.init(.cannotConnectToHost, "\(target) cannot be reached: \(reason).", url: url)
        }
    }

    /// The proxy that libcurl could not connect to; nil if it was the server itself, or libcurl does not say.
    private static func proxy(in detail: String, for url: URL?) -> String? {
        // "Failed to connect to HOST port PORT after …"
        let words = detail.split(separator: " ")
        guard words.count > 6, detail.hasPrefix("Failed to connect to "), words[5] == "port", let url else {
            return nil
        }
        let isServer =
            words[4].lowercased() == url.host?.lowercased()
            && Int(words[6]) == url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
        return isServer ? nil : "\(words[4]):\(words[6])"
    }

    /// What came is no head of HTTP.
    private init(head result: CURLcode, _ detail: String, host: String, url: URL?) {
        let message =
            if detail.contains("Content-Length") {
                "The response of \(host) is damaged: \(detail)."
            } else if result.rawValue == 100 || detail.isEmpty {
                "The head of the response of \(host) is too long."
            } else {
                "\(host) does not speak HTTP: \(detail)."
            }
        self.init(.badServerResponse, message, url: url)
    }

    /// A connection broke, or what came through it was not HTTP.
    private init(broken result: CURLcode, of handle: CurlHandle, host: String, url: URL?) {
        let detail = handle.error
        if detail.contains("chunk") || detail.contains("Invalid Content-Length") {
            self.init(.badServerResponse, "The response of \(host) is damaged: \(detail).", url: url)
        } else if detail.hasPrefix("Too large response headers") {
            self.init(.badServerResponse, "The head of the response of \(host) is too long.", url: url)
        } else if [CURLE_HTTP2, CURLE_HTTP2_STREAM].contains(result) {
            self.init(.networkConnectionLost, "\(host) ended the HTTP/2 stream: \(detail).", url: url)
        } else if result == CURLE_GOT_NOTHING {
            self.init(.networkConnectionLost, "\(host) closed the connection without a response.", url: url)
        } else if result == CURLE_PARTIAL_FILE {
            let message = "\(host) closed the connection before the whole body had come."
            self.init(.networkConnectionLost, message, url: url)
        } else if [CURLE_SEND_ERROR, CURLE_RECV_ERROR].contains(result) {
            self.init(.networkConnectionLost, "The connection to \(host) was lost: \(detail).", url: url)
        } else {
            let detail = detail.isEmpty ? String(cString: curl_easy_strerror(result)) : detail
            self.init(.unknown, "The transfer from \(host) failed: \(detail).", url: url)
        }
    }

    /// The server's certificate was not accepted.
    private init(distrust handle: CurlHandle, host: String, url: URL?) {
        let certificate = "The certificate of \(host)"
        // The number says nothing of names.
        guard !handle.error.contains("subject name") else {
            self.init(.serverCertificateUntrusted, "\(certificate) is for another host.", url: url)
            return
        }
        // The numbers are those of OpenSSL (X509_V_ERR_…); other TLS libraries leave 0 and say it in words.
        switch kf_curl_long(handle.curl, CURLINFO_SSL_VERIFYRESULT) {
        case 9: self.init(.serverCertificateNotYetValid, "\(certificate) is not valid yet.", url: url)
        case 10: self.init(.serverCertificateHasBadDate, "\(certificate) has expired.", url: url)
        case 18: self.init(.serverCertificateUntrusted, "\(certificate) is self-signed.", url: url)
        case 2, 19, 20, 21:
            self.init(.serverCertificateUntrusted, "\(certificate) is from an issuer that is not trusted.", url: url)
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
