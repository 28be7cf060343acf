// Which status an answer without an image has, and why. For the renderer.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherTiers

extension RenderingError {
    static func tooLarge(_ reason: String) -> Self { Self(status: 422, kind: "too_large", reason: reason) }

    static func damaged(_ reason: String) -> Self { Self(status: 422, kind: "damaged", reason: reason) }

    static let incomplete = damaged("The source is damaged or incomplete: a part of the image is missing.")

    static let undecodable = damaged("The source is damaged: its header can be read, but its pixels cannot.")

    static let noMemory = tooLarge("There was no memory for the result.")

    /// Neither the source nor its pixels are the reason.
    static let notEncodable = Self(
        status: 422,
        kind: "not_encodable",
        reason: "The result cannot be written in the format that was asked for, or there was no memory for it."
    )

    static let unwanted = Self(status: 499, kind: "cancelled", reason: "Nobody waits for the result any more.")

    /// The same of an upload: what is wrong with it is wrong with the request.
    var ofUpload: RenderingError {
        let statuses = ["too_large": 413, "not_an_image": 415, "damaged": 422]
        return RenderingError(
            status: statuses[kind] ?? status,
            kind: kind,
            reason: reason,
            retryAfter: retryAfter,
            subject: subject
        )
    }

    /// Neither did the source come in time, nor a connection for it.
    static func sourceTimedOut(at place: String) -> Self {
        let settings = "KF_DOWNLOAD_TIMEOUT, KF_TIMEOUT, KF_CONNECT_TIMEOUT and KF_SOURCE_CONNECTIONS"
        let reason = "\(place) did not send the source in time, see \(settings)."
        return Self(status: 504, kind: "source_timeout", reason: reason)
    }

    /// What the bytes of a source lack to be an image.
    init(_ error: ImagingError) {
        let reason = "Of the source no image can be made: \(error.description)."
        let kind =
            switch error {
            case .limitExceeded, .tooManyFrames, .outOfMemory: "too_large"
            case .emptyData, .unrecognizedFormat, .unsupported, .notBuiltIn: "not_an_image"
            case .malformed, .coderFailed, .decoderEnded: "damaged"
            case .encodingFailed: "not_encodable"
            default: "internal"
            }
        self.init(status: error.responseStatus, kind: kind, reason: reason)
    }

    /// Why a load failed, except for what its bytes lack.
    ///
    /// Of the source only the host is named: its path, query or user name may be secret.
    init(_ error: KingfisherError, of place: String) {
        switch error {
        case _ where error.isCancelled:
            self = .unwanted
        case .responseError(.invalidHTTPStatusCode(let response)):
            self.init(answer: response.statusCode, of: place, saying: response.reasonOfStore)
        case .responseError(.notModified):
            let reason = "\(place) answered that the source has not changed, which nobody had asked."
            self.init(status: 502, kind: "source_status", reason: reason)
        case .responseError(.responseTooLarge(_, let limit)):
            self = .tooLarge("The source on \(place) is larger than \(limit) bytes, see KF_MAX_SRC_FILE_SIZE.")
        case .responseError(.URLSessionError(let error as S3Error)):
            let reason = "The source on \(place) cannot be asked for: \(error.description)"
            self.init(status: 500, kind: "internal", reason: reason)
        case .responseError(.URLSessionError(let error as URLError)) where error.code == .dataLengthExceedsMaximum:
            self = .tooLarge("The source on \(place) is larger than KF_MAX_SRC_FILE_SIZE allows.")
        case .responseError(.URLSessionError(let error as URLError)):
            self.init(transfer: error.code, of: place)
        case .requestError(.fileURLNotAllowed), .requestError(.invalidURL):
            self.init(
                status: 404,
                kind: "source_refused",
                reason: "The source is no URL of http, https, local, s3 or gs."
            )
        case .imageSettingError(.dataProviderError): self = LocalFiles.missing
        default:
            let reason = "The image could not be made; the library's error has the code \(error.errorCode)."
            self.init(status: 500, kind: "internal", reason: reason)
        }
    }

    private init(answer: Int, of place: String, saying more: String?) {
        let status =
            switch answer {
            case 400..<500: answer
            case 500...: 502
            default: 404
            }
        self.init(
            status: status,
            kind: "source_status",
            reason: "\(place) answered the request for the source with the status \(answer)."
                + (more.map { " " + $0 } ?? "")
        )
    }

    private init(transfer code: URLError.Code, of place: String) {
        func unreachable(_ reason: String) -> Self { Self(status: 404, kind: "source_unreachable", reason: reason) }
        switch code {
        case .timedOut: self = .sourceTimedOut(at: place)
        case .resourceUnavailable:
            let reason =
                "\(place) has an address that sources may not have, see KF_ALLOW_PRIVATE_SOURCE_ADDRESSES"
                + " and its kin, or would be reached through a proxy."
            self.init(status: 404, kind: "source_refused", reason: reason)
        case .unsupportedURL, .badURL:
            self.init(status: 404, kind: "source_refused", reason: "The source is no usable URL of http or https.")
        case .httpTooManyRedirects:
            let reason = "\(place) redirects too often, see KF_MAX_REDIRECTS."
            self.init(status: 404, kind: "source_redirects", reason: reason)
        case .networkConnectionLost, .cannotDecodeContentData:
            self = .damaged("\(place) sent the source incompletely.")
        case .cannotFindHost, .dnsLookupFailed: self = unreachable("The host \(place) is not known.")
        case .appTransportSecurityRequiresSecureConnection:
            self = unreachable("\(place) redirects from https to http, which is not followed.")
        case .badServerResponse: self = unreachable("\(place) did not answer with HTTP.")
        default: self = unreachable("\(place) cannot be connected to (URLError \(code.rawValue)).")
        }
    }
}
