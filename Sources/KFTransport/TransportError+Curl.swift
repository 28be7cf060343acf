// The meaning of libcurl's results and measurements. For CurlTransfer.

internal import CKFCurl
internal import Foundation

extension TransportError {
    /// The error of a hop to a URL that ended with this result, after as much of the head as had come.
    init(_ result: CURLcode, of handle: CurlHandle, url: URL?, after head: HTTPHead) {
        let (code, message) = CurlFailure(result: result, handle: handle, url: url, head: head).meaning
        self.init(code, message, url: url)
    }

    /// The message about a body whose field `Content-Encoding` names a coding that cannot be undone.
    static func undecodable(_ field: String, _ url: URL?) -> String {
        let reason =
            ContentCoding(field).labels.first.map { "of which \"\($0)\" is no known coding" }
            ?? "which cannot be undone; its server has to send it as gzip, deflate or plain"
        return "The body from \(host(of: url)) is coded as \"\(field)\", \(reason)."
    }

    /// The host of a URL, with its port if it has one.
    static func host(of url: URL?) -> String {
        guard let host = url?.host else { return "the server" }
        guard let port = url?.port else { return host }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

private struct CurlFailure {
    typealias Meaning = (URLError.Code, String)

    let result: CURLcode
    let handle: CurlHandle
    let url: URL?
    let head: HTTPHead

    private var detail: String { handle.error }
    private var host: String { TransportError.host(of: url) }

    var meaning: Meaning {
        let connectStatus = kf_curl_long(handle.curl, CURLINFO_HTTP_CONNECTCODE)
        guard connectStatus < 300 else {
            let what = connectStatus == 407 ? "asks for a user name and a password" : "refused the connection"
            return (.cannotConnectToHost, "The proxy before \(host) \(what) (status \(connectStatus)).")
        }
        return switch result {
        // The connection has ended, and libcurl takes what came for all of the response.
        case CURLE_OK: (.networkConnectionLost, "\(host) closed the connection in the head of its response.")
        // The second one also stands for lines that are no fields, in the head or behind the chunks of a body.
        case CURLE_URL_MALFORMAT where head.count == 0, CURLE_BAD_FUNCTION_ARGUMENT where head.count == 0:
            (.unsupportedURL, "The URL cannot be used: \(detail).")
        case CURLE_COULDNT_RESOLVE_HOST: (.cannotFindHost, "The host \(url?.host ?? host) could not be found.")
        case CURLE_COULDNT_RESOLVE_PROXY: (.cannotFindHost, "The proxy before \(host) could not be found.")
        case CURLE_COULDNT_CONNECT: noConnection
        case CURLE_PROXY: (.cannotConnectToHost, "The proxy before \(host) failed: \(detail).")
        case CURLE_OPERATION_TIMEDOUT: (.timedOut, "Connecting to \(host) took too long.")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: distrust
        case CURLE_SSL_CACERT_BADFILE:
            (.secureConnectionFailed, "The file of trusted certificates cannot be read: \(detail).")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED:
            (.secureConnectionFailed, "No secure connection to \(host) could be made: \(detail).")
        // Libcurl refuses a long list of codings, though it undoes none.
        case CURLE_BAD_CONTENT_ENCODING: (.cannotDecodeContentData, "The body from \(host) has too many codings.")
        default: brokenResponse
        }
    }

    private var noConnection: Meaning {
        let target = proxy.map { "The proxy \($0) before \(host)" } ?? host
        switch CInt(truncatingIfNeeded: kf_curl_long(handle.curl, CURLINFO_OS_ERRNO)) {
        case ECONNREFUSED: return (.cannotConnectToHost, "\(target) refused the connection.")
        case ETIMEDOUT: return (.timedOut, "Connecting to \(host) took too long.")
        case let code:
            let reason = code == 0 ? detail : String(cString: strerror(code))
            return (.cannotConnectToHost, "\(target) cannot be reached: \(reason).")
        }
    }

    /// The proxy that libcurl could not connect to; nil if it was the server itself, or libcurl does not say.
    private var proxy: String? {
        // "Failed to connect to HOST port PORT after …"
        let words = detail.split(separator: " ")
        guard words.count > 6, detail.hasPrefix("Failed to connect to "), words[5] == "port", let url else {
            return nil
        }
        let isServer = "\(url.scheme ?? "")://\(words[4]):\(words[6])".lowercased() == url.origin
        return isServer ? nil : "\(words[4]):\(words[6])"
    }

    /// The server's certificate was not accepted.
    private var distrust: Meaning {
        // The numbers are those of OpenSSL (X509_V_ERR_…); other TLS libraries leave 0 and say it in words.
        let (code, reason): Meaning =
            switch kf_curl_long(handle.curl, CURLINFO_SSL_VERIFYRESULT) {
            // The number says nothing of names.
            case _ where detail.contains("subject name"): (.serverCertificateUntrusted, "is for another host")
            case 9: (.serverCertificateNotYetValid, "is not valid yet")
            case 10: (.serverCertificateHasBadDate, "has expired")
            case 18: (.serverCertificateUntrusted, "is self-signed")
            case 2, 19, 20, 21: (.serverCertificateUntrusted, "is from an issuer that is not trusted")
            default: (.serverCertificateUntrusted, "is not trusted: \(detail)")
            }
        return (code, "The certificate of \(host) \(reason).")
    }

    /// A connection broke, or what came through it was not HTTP.
    private var brokenResponse: Meaning {
        // The results for bytes that are no head of a response.
        let noHead = [
            CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_OUT_OF_MEMORY,
        ]
        let isInHead = !head.isComplete && noHead.contains(result)
        return switch result {
        case _ where isTooLong || (isInHead && detail.isEmpty):
            (.badServerResponse, "The head of the response of \(host) is too long.")
        case _ where isInHead && head.count == 0: (.badServerResponse, "\(host) does not speak HTTP: \(detail).")
        case _ where isInHead: (.badServerResponse, "The head of the response of \(host) is damaged: \(detail).")
        case _ where isDamaged:
            (.badServerResponse, "The response of \(host) is damaged: \(detail).")
        case CURLE_HTTP2, CURLE_HTTP2_STREAM:
            (.networkConnectionLost, "\(host) ended the HTTP/2 stream: \(detail).")
        case CURLE_GOT_NOTHING: (.networkConnectionLost, "\(host) closed the connection without a response.")
        case CURLE_PARTIAL_FILE:
            (.networkConnectionLost, "\(host) closed the connection before the whole body had come.")
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR:
            (.networkConnectionLost, "The connection to \(host) was lost: \(detail).")
        default:
            (.unknown, "The transfer from \(host) failed: \(detail.isEmpty ? description : detail).")
        }
    }

    /// Whether the head, or what frames the body, is not as HTTP requires.
    private var isDamaged: Bool {
        // Newer versions have results for all faults but those of chunks; before, there are only words.
        [CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_FUNCTION_ARGUMENT].contains(result)
            || detail.contains("chunk") || detail.contains("Invalid Content-Length")
    }

    /// Whether libcurl has ended the transfer because of too many fields, before the body or behind its chunks.
    private var isTooLong: Bool {
        // 100 is the result since 8.6; before, there are only words.
        result == CURLcode(100) || detail.hasPrefix("Too large response headers")
            || detail.hasPrefix("Out of memory in chunk")
    }

    private var description: String { String(cString: curl_easy_strerror(result)) }
}

extension TransportMetrics.Exchange {
    /// Takes over what libcurl measured since `start`.
    mutating func measure(_ curl: UnsafeMutableRawPointer, from start: ContinuousClock.Instant, head: HTTPHead) {
        /// The time from the start; nil for a step that did not happen.
        func time(_ info: CURLINFO) -> Duration? {
            let time = kf_curl_offset(curl, info)
            return time > 0 ? .microseconds(time) : nil
        }
        if let connected = time(CURLINFO_CONNECT_TIME_T) {
            reusedConnection = kf_curl_long(curl, CURLINFO_NUM_CONNECTS) == 0
            if reusedConnection == false {
                domainLookup = time(CURLINFO_NAMELOOKUP_TIME_T) ?? .zero
                connect = connected - (domainLookup ?? .zero)
                secureConnection = time(CURLINFO_APPCONNECT_TIME_T).map { $0 - connected }
            }
        }
        requestStart = time(CURLINFO_PRETRANSFER_TIME_T).map { start + $0 }
        requestEnd = requestStart
        if head.isComplete {
            (status, httpVersion) = (head.status, head.version)
            responseStart = time(CURLINFO_STARTTRANSFER_TIME_T).map { start + $0 }
            responseEnd = responseStart == nil ? nil : time(CURLINFO_TOTAL_TIME_T).map { start + $0 }
        }
        bytesSent = Int64(kf_curl_offset(curl, CURLINFO_SIZE_UPLOAD_T))
        bytesOnWire = Int64(kf_curl_offset(curl, CURLINFO_SIZE_DOWNLOAD_T))
        remoteAddress = kf_curl_string(curl, CURLINFO_PRIMARY_IP).map { String(cString: $0) }
    }
}
