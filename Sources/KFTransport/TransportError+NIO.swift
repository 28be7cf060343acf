// What errors of AsyncHTTPClient and SwiftNIO mean. The only place that knows them.

internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression
internal import NIOPosix
internal import NIOSSL

extension TransportError {
    /// Translates an error of the HTTP client.
    init(_ error: any Error, url: URL?) {
        let host = url?.host ?? "the server"
        switch error {
        case let error as TransportError:
            self = error
        case let error as HTTPClientError:
            self.init(error, host: host, url: url)
        case let error as NIOConnectionError:
            if let reason = error.connectionErrors.first?.error {
                self.init(reason, url: url)
            } else {
                self.init(.cannotFindHost, "The host \(host) could not be found.", url: url)
            }
        case is SocketAddressError:
            self.init(.cannotFindHost, "The host \(host) could not be found.", url: url)
        case let error as IOError:
            self.init(errno: error.errnoCode, host: host, url: url)
        case ChannelError.connectTimeout:
            self.init(.timedOut, "Connecting to \(host) took too long.", url: url)
        case is ChannelError:
            self.init(.networkConnectionLost, "The connection to \(host) was lost.", url: url)
        case HTTPParserError.invalidEOFState, is NIOSSLCloseTimedOutError:
            self.init(.networkConnectionLost, "\(host) closed the connection too early.", url: url)
        case is HTTPParserError:
            self.init(.badServerResponse, "\(host) does not speak HTTP.", url: url)
        case NIOHTTPDecompression.DecompressionError.limit:
            self.init(.dataLengthExceedsMaximum, "The compressed body inflates to more than is allowed.", url: url)
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            self.init(.cannotDecodeContentData, "The compressed body is damaged.", url: url)
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            self.init(tls: error, host: host, url: url)
        default:
            self.init(.unknown, "\(error)", url: url)
        }
    }

    private init(_ error: HTTPClientError, host: String, url: URL?) {
        switch error {
        case .cancelled, .alreadyShutdown, .requestStreamCancelled:
            self = .cancelled(url)
        case .deadlineExceeded, .readTimeout, .writeTimeout, .connectTimeout, .getConnectionFromPoolTimeout,
            .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            self.init(.timedOut, "\(host) took too long.", url: url)
        case .remoteConnectionClosed, .uncleanShutdown:
            self.init(.networkConnectionLost, "\(host) closed the connection too early.", url: url)
        case .redirectLimitReached, .redirectCycleDetected:
            self.init(.httpTooManyRedirects, "There were too many redirects.", url: url)
        case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath:
            self.init(.unsupportedURL, "The URL is not one of http or https.", url: url)
        default:
            if error.description.contains("unsupportedScheme") {
                self.init(.unsupportedURL, "The URL is not one of http or https.", url: url)
            } else {
                self.init(.badServerResponse, "\(error.shortDescription)", url: url)
            }
        }
    }

    private init(errno code: CInt, host: String, url: URL?) {
        switch code {
        case ECONNREFUSED:
            self.init(.cannotConnectToHost, "\(host) refused the connection.", url: url)
        case EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL:
            self.init(.cannotConnectToHost, "\(host) cannot be reached.", url: url)
        case ETIMEDOUT:
            self.init(.timedOut, "Connecting to \(host) took too long.", url: url)
        default:
            self.init(.networkConnectionLost, "The connection to \(host) was lost.", url: url)
        }
    }

    private init(tls error: any Error, host: String, url: URL?) {
        let text = "\(error)"
        let isDistrust = text.contains("CERTIFICATE_VERIFY_FAILED") || error is NIOSSLExtraError
        self =
            isDistrust
            ? TransportError(.serverCertificateUntrusted, "The certificate of \(host) is not trusted.", url: url)
            : TransportError(.secureConnectionFailed, "No secure connection to \(host) could be made.", url: url)
    }
}
