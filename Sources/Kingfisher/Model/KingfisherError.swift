// The library's errors, as cases and codes. The descriptions are in KingfisherError+Description.swift.

public import Foundation
public import KFImaging
import KFTransport

/// Why a load, a cache operation or a processor failed.
///
/// Cases and codes are Kingfisher's; codes never change their meaning.
public enum KingfisherError: Error {
    /// Why a request was not sent, or not waited for.
    public enum RequestErrorReason: Sendable {
        /// 1001: the request modifier refused the download.
        case emptyRequest
        /// 1002: the request has no usable URL.
        case invalidURL(request: URLRequest)
        /// 1003: the load was cancelled while it was downloading.
        case taskCancelled(task: SessionDataTask, token: SessionDataTask.CancelToken)
        /// 1004: the load of a live photo was cancelled.
        case livePhotoTaskCancelled(source: LivePhotoSource)
        /// 1005: the load was cancelled before its download began.
        case asyncTaskContextCancelled
        /// 1006: the load was cancelled while its provider was working.
        case dataProviderCancelled(provider: any ImageDataProvider)
        /// 1101: the URL has failed for good before, and the load skips such URLs. (Not in Kingfisher.)
        case urlBlocked(url: URL)
        /// 1102: the manager's delegate refused the download. (Not in Kingfisher.)
        case downloadRefused(source: Source)
        /// 1103: the request modifier threw an error. (Not in Kingfisher.)
        case modifierFailed(error: any Error)
        /// 1104: the downloader was invalidated. (Not in Kingfisher.)
        case invalidated
        /// 1105: a URL leads to a file, and ``KingfisherManager/allowsFileURLs`` is false. (Not in Kingfisher.)
        case fileURLNotAllowed(url: URL)
    }

    /// Why a server's response is not usable.
    public enum ResponseErrorReason: Sendable {
        /// 2001: the response is not HTTP.
        case invalidURLResponse(response: URLResponse)
        /// 2002: the status is not an accepted one, or it is the reason why there is no image (204, or a redirect that
        /// could not be followed).
        case invalidHTTPStatusCode(response: HTTPURLResponse)
        /// 2003: the transfer failed; the error is a `URLError` when the network is the reason.
        case URLSessionError(error: any Error)
        /// 2004: the load's data modifier or the delegate returned no data.
        case dataModifyingFailed(task: SessionDataTask)
        /// 2005: the transfer ended without a response.
        case noURLResponse(task: SessionDataTask)
        /// 2006: the delegate stopped the transfer at the response.
        case cancelledByDelegate(response: URLResponse)
        /// 2101: the response modifier refused the response. (Not in Kingfisher.)
        case responseRejected(response: HTTPURLResponse)
        /// 2102: the decryptor returned no data, or threw an error. (Not in Kingfisher.)
        case decryptionFailed(task: SessionDataTask, error: (any Error)?)
        /// 2103: the server returned "not modified" to a request that was not conditional. (Not in Kingfisher.)
        case notModified(response: HTTPURLResponse)
        /// 2104: the media type of the response is not one of ``ImageDownloader/acceptableContentTypes``. (Not in
        /// Kingfisher.)
        case invalidContentType(response: HTTPURLResponse)
        /// 2105: the response is larger than the downloader accepts. (Not in Kingfisher.)
        case responseTooLarge(task: SessionDataTask, limit: Int)
    }

    /// Why the cache failed.
    public enum CacheErrorReason: Sendable {
        /// 3001: the cache's directory cannot be listed. ``DiskStorage/Backend/directoryFailure`` says why.
        case fileEnumeratorCreationFailed(url: URL)
        /// 3002: the list of the cache's directory cannot be read. ``DiskStorage/Backend/directoryFailure`` says why.
        case invalidFileEnumeratorContent(url: URL)
        /// 3003: a file's attributes cannot be read.
        case invalidURLResource(error: any Error, key: String, url: URL)
        /// 3004: a file cannot be read.
        case cannotLoadDataFromDisk(url: URL, error: any Error)
        /// 3005: the cache's directory cannot be made.
        case cannotCreateDirectory(path: String, error: any Error)
        /// 3006: the image is in no cache.
        case imageNotExisting(key: String)
        /// 3007: a value cannot be turned into data.
        case cannotConvertToData(object: any Sendable, error: any Error)
        /// 3008: an image cannot be turned into data.
        case cannotSerializeImage(image: KFCrossPlatformImage?, original: Data?, serializer: any CacheSerializer)
        /// 3009: a file cannot be written.
        case cannotCreateCacheFile(fileURL: URL, key: String, data: Data, error: any Error)
        /// 3010: a file's times cannot be set.
        case cannotSetCacheFileAttribute(
            filePath: String,
            attributes: [FileAttributeKey: any Sendable],
            error: any Error
        )
        /// 3011: the disk cache could not be set up. ``DiskStorage/Backend/directoryFailure`` says why.
        case diskStorageIsNotReady(cacheURL: URL)
        /// 3012: a file of a live photo is not on disk although it was stored.
        case missingLivePhotoResourceOnDisk(_ resource: LivePhotoResource)
        /// 3101: a file cannot be removed. (Not in Kingfisher.)
        case cannotRemoveCacheFile(fileURL: URL, error: any Error)
    }

    /// Why processing failed.
    public enum ProcessorErrorReason: Sendable {
        /// 4001: the processor made no image. For data, ``KingfisherError/imagingError`` says what is wrong with it.
        case processingFailed(processor: any ImageProcessor, item: ImageProcessItem)
    }

    /// Why an image could not be delivered to the caller.
    public enum ImageSettingErrorReason: Sendable {
        /// 5001: no source was given.
        case emptySource
        /// 5002: another load replaced this one, or the object it was for is gone.
        ///
        /// A replaced load that has not begun its download ends without one, and the error says that there is no image.
        /// A download that is under way goes on for the cache; this comes at its end, with its result or its error.
        case notCurrentSourceTask(result: RetrieveImageResult?, error: (any Error)?, source: Source)
        /// 5003: the provider failed.
        case dataProviderError(provider: any ImageDataProvider, error: any Error)
        /// 5004: the source and all alternatives failed.
        case alternativeSourcesExhausted([PropagationError])
        /// 5005: another load of a live photo superseded this one. (It never occurs on Linux: no view shows one.)
        case notCurrentLivePhotoSourceTask(
            result: RetrieveLivePhotoResult?,
            error: (any Error)?,
            source: LivePhotoSource
        )
        /// 5006: no live photo could be made of its files. (It never occurs on Linux: no view shows one.)
        case livePhotoResultError(result: RetrieveLivePhotoResult?, error: (any Error)?, source: LivePhotoSource)
    }

    /// The request was not sent, or not waited for.
    case requestError(reason: RequestErrorReason)
    /// The server's response is not usable.
    case responseError(reason: ResponseErrorReason)
    /// The cache failed.
    case cacheError(reason: CacheErrorReason)
    /// Processing failed.
    case processorError(reason: ProcessorErrorReason)
    /// The image could not be delivered to the caller.
    indirect case imageSettingError(reason: ImageSettingErrorReason)
}

/// The failure of one of several sources.
public struct PropagationError: Sendable {
    /// The source that failed.
    public let source: Source
    /// The reason.
    public let error: KingfisherError
}

extension KingfisherError {
    /// The error domain, also of `error as NSError`.
    public static let domain = "com.onevcat.Kingfisher.Error"

    /// Whether the load was cancelled, at whatever stage: codes 1003, 1004, 1005 and 1006.
    ///
    /// `if error.isTaskCancelled { return }` holds whenever the load is cancelled. (In Kingfisher it is true for 1003
    /// alone, the one of a running download.)
    public var isTaskCancelled: Bool {
        switch self {
        case .requestError(.taskCancelled), .requestError(.livePhotoTaskCancelled),
            .requestError(.asyncTaskContextCancelled), .requestError(.dataProviderCancelled):
            true
        default: false
        }
    }

    /// The same as ``isTaskCancelled``. (Not in Kingfisher.)
    public var isCancelled: Bool { isTaskCancelled }

    /// Whether the server responded with a status that is not accepted.
    public var isInvalidResponseStatusCode: Bool {
        if case .responseError(.invalidHTTPStatusCode) = self { true } else { false }
    }

    /// Whether the server responded with this status and it is not accepted.
    ///
    /// - Parameter code: An HTTP status.
    /// - Returns: Whether it is this error with this status.
    public func isInvalidResponseStatusCode(_ code: Int) -> Bool {
        if case .responseError(.invalidHTTPStatusCode(let response)) = self {
            response.statusCode == code
        } else {
            false
        }
    }

    /// Whether the server returned "not modified", to a conditional request or not.
    var isNotModified: Bool {
        if case .responseError(.notModified) = self { true } else { isInvalidResponseStatusCode(304) }
    }

    /// Whether nothing was loaded because the network is one to save data on.
    var isLowDataModeConstrained: Bool {
        guard case .responseError(.URLSessionError(let error)) = self else { return false }
        return (error as? URLError)?.isConstrained == true
    }

    /// Whether another load replaced this one, or the object it was for is gone.
    public var isNotCurrentTask: Bool {
        if case .imageSettingError(.notCurrentSourceTask) = self { true } else { false }
    }

    /// The reason why no image could be made of the bytes; nil when the bytes are valid and a processor failed, and for
    /// all other errors. (Not in Kingfisher.)
    ///
    /// For a server, ``responseStatus`` is the status that fits.
    ///
    /// A response larger than a downloader accepts is a ``ResponseErrorReason/responseTooLarge(task:limit:)`` already,
    /// and no error of imaging. The reason was found out when the bytes were decoded. Of an error that is read late,
    /// after dozens of others, or under other limits, the bytes are decoded again, which blocks the thread for as long.
    public var imagingError: ImagingError? {
        guard case .processorError(.processingFailed(_, .data(let data))) = self else { return nil }
        return Codecs.diagnose(data)
    }

    /// The number of the reason: 1xxx requests, 2xxx responses, 3xxx caches, 4xxx processors, 5xxx settings.
    public var errorCode: Int {
        switch self {
        case .requestError(let reason): reason.errorCode
        case .responseError(let reason): reason.errorCode
        case .cacheError(let reason): reason.errorCode
        case .processorError(.processingFailed): 4001
        case .imageSettingError(let reason): reason.errorCode
        }
    }
}

extension KingfisherError.RequestErrorReason {
    var errorCode: Int {
        switch self {
        case .emptyRequest: 1001
        case .invalidURL: 1002
        case .taskCancelled: 1003
        case .livePhotoTaskCancelled: 1004
        case .asyncTaskContextCancelled: 1005
        case .dataProviderCancelled: 1006
        case .urlBlocked: 1101
        case .downloadRefused: 1102
        case .modifierFailed: 1103
        case .invalidated: 1104
        case .fileURLNotAllowed: 1105
        }
    }
}

extension KingfisherError.ResponseErrorReason {
    var errorCode: Int {
        switch self {
        case .invalidURLResponse: 2001
        case .invalidHTTPStatusCode: 2002
        case .URLSessionError: 2003
        case .dataModifyingFailed: 2004
        case .noURLResponse: 2005
        case .cancelledByDelegate: 2006
        case .responseRejected: 2101
        case .decryptionFailed: 2102
        case .notModified: 2103
        case .invalidContentType: 2104
        case .responseTooLarge: 2105
        }
    }
}

extension KingfisherError.CacheErrorReason {
    var errorCode: Int {
        switch self {
        case .fileEnumeratorCreationFailed: 3001
        case .invalidFileEnumeratorContent: 3002
        case .invalidURLResource: 3003
        case .cannotLoadDataFromDisk: 3004
        case .cannotCreateDirectory: 3005
        case .imageNotExisting: 3006
        case .cannotConvertToData: 3007
        case .cannotSerializeImage: 3008
        case .cannotCreateCacheFile: 3009
        case .cannotSetCacheFileAttribute: 3010
        case .diskStorageIsNotReady: 3011
        case .missingLivePhotoResourceOnDisk: 3012
        case .cannotRemoveCacheFile: 3101
        }
    }
}

extension KingfisherError.ImageSettingErrorReason {
    var errorCode: Int {
        switch self {
        case .emptySource: 5001
        case .notCurrentSourceTask: 5002
        case .dataProviderError: 5003
        case .alternativeSourcesExhausted: 5004
        case .notCurrentLivePhotoSourceTask: 5005
        case .livePhotoResultError: 5006
        }
    }
}
