// The status of an HTTP response for a load that failed.
import Foundation
import FoundationNetworking
import Kingfisher

func status(of error: KingfisherError) -> Int {
    if let refusal = error.urlRefusal { return [.address, .file].contains(refusal) ? 403 : 400 }
    switch error {
    case _ where error.isInvalidResponseStatusCode(404) || error.isInvalidResponseStatusCode(410): return 404
    case .responseError(.responseTooLarge): return 422
    case .responseError(.URLSessionError(let reason as URLError)) where reason.code == .timedOut: return 504
    default: break
    }
    if case .isolationUnavailable? = error.imagingError { return 500 }
    return error.imagingError == nil ? 502 : 422
}
