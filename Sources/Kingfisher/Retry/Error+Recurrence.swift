// Which failures may pass and which would recur, in one table: for retries, for blocked URLs, and for images that may
// be used although their server cannot be asked.

import Foundation
import FoundationNetworking

/// Whether another try would fail as well.
enum Recurrence {
    /// The same request may succeed later without a change of anything but the server or the network.
    case transient
    /// The same URL would soon fail again.
    case permanent
    /// The failure says nothing about that: a load was cancelled, or something else has to change first.
    case unclear
}

extension KingfisherError {
    /// Whether the same URL would soon fail again. (Not in Kingfisher.)
    ///
    /// True for the statuses 404 and 410, for bytes of which no image can be made, for a URL that is not valid, and for
    /// transfers that failed because of the request, a certificate or what was sent: not when they were stopped or
    /// timed out, when there is no connection, when no secure one could be made, or when the host was not found, not
    /// reached or lost, or sent what is not HTTP. No error is permanent that ``DelayRetryStrategy/transient`` retries.
    public var isPermanent: Bool { recurrence == .permanent }

    /// Whether another try would fail as well.
    var recurrence: Recurrence {
        switch self {
        case .requestError(.invalidURL): .permanent
        case .responseError(.invalidHTTPStatusCode(let response)):
            switch response.statusCode {
            case 404, 410: .permanent
            case 408, 425, 429, 500...599: .transient
            default: .unclear
            }
        case .responseError(.URLSessionError(let error)):
            isLowDataModeConstrained ? .unclear : (error as? URLError)?.recurrence ?? .transient
        case .processorError(.processingFailed(_, .data(let data))): data.isEmpty ? .unclear : .permanent
        default: .unclear
        }
    }
}

extension URLError {
    /// Permanent is what the request, the server's certificate or what it sends cause; in doubt a failure is transient,
    /// as another try costs less than an image that is not loaded.
    fileprivate var recurrence: Recurrence {
        switch code {
        case .cancelled: .unclear
        case .userCancelledAuthentication, .userAuthenticationRequired, .badURL, .unsupportedURL, .resourceUnavailable,
            .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .dataLengthExceedsMaximum,
            .httpTooManyRedirects, .redirectToNonExistentLocation, .serverCertificateUntrusted,
            .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
            .clientCertificateRejected, .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection,
            .cannotDecodeRawData, .cannotDecodeContentData, .cannotParseResponse, .zeroByteResource:
            .permanent
        default: .transient
        }
    }
}
