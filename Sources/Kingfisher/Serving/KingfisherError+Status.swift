// The status of a response in place of an image that could not be loaded. For servers that load what clients ask for.

import Foundation
import FoundationNetworking
public import KFImaging

extension KingfisherError {
    /// The status of HTTP that fits a server's response, where the load was for one of its clients. (Not in
    /// Kingfisher.)
    ///
    /// | status | reason |
    /// |---|---|
    /// | 400 | the URL is none to load from, or there is none |
    /// | 403 | this program refuses the URL: its address, a file, its delegate or request modifier |
    /// | 404 | the source's server has nothing there (404, 410), or the cache, where nothing else is asked |
    /// | 422 | the bytes: no image, damaged, too large |
    /// | 500 | this program: its caches, its processors, decoders that cannot be locked |
    /// | 502 | the source's server, in any other way |
    /// | 503 | the load was cancelled; the client has left as a rule |
    /// | 504 | the source's server took too long |
    ///
    /// As ``imagingError`` it may decode the bytes again, which blocks the thread for as long.
    public var responseStatus: Int {
        if let refusal = urlRefusal { return refusal == .address || refusal == .file ? 403 : 400 }
        switch self {
        case _ where isTaskCancelled || isNotCurrentTask: return 503
        case .requestError(.emptyRequest), .requestError(.downloadRefused): return 403
        case .requestError(.modifierFailed), .requestError(.invalidated): return 500
        case .responseError(.responseTooLarge): return 422
        case .responseError(.invalidHTTPStatusCode(let response)):
            return [404, 410].contains(response.statusCode) ? 404 : 502
        case .responseError(.URLSessionError(let error as URLError)):
            return error.code == .timedOut ? 504 : error.code == .dataLengthExceedsMaximum ? 422 : 502
        case .cacheError(.imageNotExisting): return 404
        case .cacheError: return 500
        case .processorError: return imagingError?.responseStatus ?? 500
        case .imageSettingError(.emptySource): return 400
        case .imageSettingError(.alternativeSourcesExhausted(let failures)):
            return failures.first?.error.responseStatus ?? 502
        default: return 502
        }
    }
}

extension ImagingError {
    /// The status of HTTP that fits a server's response, where a client's bytes are no image that can be used. (Not in
    /// Kingfisher.)
    ///
    /// 500 where decoders cannot be locked as `DecodingIsolation` asks, or a file of the program cannot be read,
    /// which is no fault of the bytes; else 422.
    public var responseStatus: Int {
        switch self {
        case .isolationUnavailable, .unreadableFile: 500
        default: 422
        }
    }
}
