// The descriptions of all errors: what went wrong, where and why, and what to do about it.

public import Foundation
import KFImaging
import KFStorage
import KFSupport
import KFTransport

extension KingfisherError: LocalizedError, CustomNSError, CustomStringConvertible {
    /// ``domain``.
    public static var errorDomain: String { domain }

    /// The description, where `NSError` looks for it.
    public var errorUserInfo: [String: Any] { errorDescription.map { [NSLocalizedDescriptionKey: $0] } ?? [:] }

    /// The error in one line, or in a line for each of several sources that failed; nil when another load superseded
    /// one that had no result.
    ///
    /// URLs in it have lost user and password, and the values of parameters that are secrets by their name, such as
    /// signatures and tokens. The values of the cases have the whole URLs.
    public var errorDescription: String? { fullDescription.map(Redaction.text) }

    private var fullDescription: String? {
        switch self {
        case .requestError(let reason): reason.errorDescription
        case .responseError(let reason): reason.errorDescription
        case .cacheError(let reason): reason.errorDescription
        case .processorError(.processingFailed(let processor, let item)): describe(processor, item)
        case .imageSettingError(let reason): reason.errorDescription
        }
    }

    /// ``errorDescription``, with the code.
    public var description: String {
        let text = errorDescription ?? "Superseded by another load"
        return "\(text)\(text.contains("\n") ? "\n" : " ")(code \(errorCode))"
    }

    private func describe(_ processor: any ImageProcessor, _ item: ImageProcessItem) -> String {
        let name = processor.identifier.isEmpty ? "the default processor" : "processor \(processor.identifier)"
        switch item {
        case .image(let image):
            return "The image of \(image.pixelWidth)×\(image.pixelHeight) pixels could not be processed by \(name)"
        case .data(let data):
            let reason = imagingError.map { "\($0)" } ?? "they decode, but \(name) made no image of them"
            return "The \(data.count) bytes could not be made into an image: \(reason)"
        }
    }
}

extension KingfisherError.RequestErrorReason {
    var errorDescription: String {
        switch self {
        case .emptyRequest: "The request modifier refused the download"
        case .invalidURL(let request):
            "The request has no usable URL (\(request.url?.absoluteString ?? "none")); give it an http or https URL"
        case .taskCancelled(let task, _): "The load of \(task.originalURL?.absoluteString ?? "an image") was cancelled"
        case .livePhotoTaskCancelled(let source): "The load of the live photo \(source.place) was cancelled"
        case .asyncTaskContextCancelled: "The load was cancelled before its download began"
        case .dataProviderCancelled(let provider):
            "The load of \(provider.cacheKey) was cancelled while its provider was working"
        case .urlBlocked(let url):
            "\(url.absoluteString) was not loaded because it has failed before; load it with retryFailed, or remove it"
                + " from the manager's failedURLs"
        case .downloadRefused(let source):
            "The manager's delegate refused to download \(source.url?.absoluteString ?? source.cacheKey); see its"
                + " manager(_:shouldDownload:options:)"
        case .modifierFailed(let error): "The request modifier failed: \(error.localizedDescription)"
        case .invalidated: "The downloader was invalidated; make another one to download again"
        case .fileURLNotAllowed(let url):
            "The file \(url.path) was not read because the manager's allowsFileURLs is false"
        }
    }
}

extension KingfisherError.ResponseErrorReason {
    var errorDescription: String {
        switch self {
        case .invalidURLResponse(let response): "The response from \(response.place) is not an HTTP response"
        case .invalidHTTPStatusCode(let response):
            "\(response.place) responded with HTTP status \(response.statusCode) (\(response.meaning))"
                + response.whyWithoutImage
        case .URLSessionError(let error): error.networkDescription
        case .dataModifyingFailed(let task):
            "The data modifier or the downloader's delegate returned no data for \(task.originalURL?.absoluteString ?? "a download")"
        case .noURLResponse(let task):
            "\(task.originalURL?.absoluteString ?? "A server") closed the connection without a response"
        case .cancelledByDelegate(let response):
            "The downloader's delegate stopped the download of \(response.place) at its response"
        case .responseRejected(let response):
            "The response modifier refused the response from \(response.place), status \(response.statusCode)"
        case .decryptionFailed(let task, let error):
            "The bytes of \(task.originalURL?.absoluteString ?? "a download") could not be decrypted: "
                + (error?.plainDescription ?? "the decryptor returned no data")
        case .notModified(let response):
            "\(response.place) responded \"304 not modified\" to a request that was not conditional"
        case .invalidContentType(let response):
            "\(response.place) sent \(response.mimeType ?? "no media type"), which is not among the accepted types"
        case .responseTooLarge(let task, let limit):
            "The response from \(task.originalURL?.absoluteString ?? "a server") is larger than \(limit) bytes, the"
                + " downloader's maxResponseBytes"
        }
    }
}

extension KingfisherError.CacheErrorReason {
    /// These cases have no room for a reason.
    private static let directoryAdvice = "; check that the path is a directory this user may read and write"

    var errorDescription: String {
        switch self {
        case .fileEnumeratorCreationFailed(let url):
            "The cache directory \(url.path) cannot be listed\(Self.directoryAdvice)"
        case .invalidFileEnumeratorContent(let url):
            "The list of the cache directory \(url.path) cannot be read\(Self.directoryAdvice)"
        case .invalidURLResource(let error, let key, let url):
            "The attributes of \(url.path), cached for \(key), cannot be read: \(error.plainDescription)"
        case .cannotLoadDataFromDisk(let url, let error): "\(url.path) cannot be read: \(error.plainDescription)"
        case .cannotCreateDirectory(let path, let error):
            "The cache directory \(path) cannot be created: \(error.plainDescription); \(error.directoryAdvice)"
        case .imageNotExisting(let key): "No image is cached for \(key)"
        case .cannotConvertToData(_, let error): "A value cannot be turned into data: \(error.plainDescription)"
        case .cannotSerializeImage(_, _, let serializer):
            "\(type(of: serializer)) cannot turn the image into bytes for the disk cache"
        case .cannotCreateCacheFile(let url, let key, _, let error):
            "The cache file \(url.path) for \(key) cannot be written: \(error.plainDescription)"
        case .cannotSetCacheFileAttribute(let path, _, let error):
            "The attributes of the cache file \(path) cannot be set: \(error.plainDescription)"
        case .missingLivePhotoResourceOnDisk(let resource):
            "The file of the live photo at \(resource.downloadURL.absoluteString) is not in the disk cache"
        case .cannotRemoveCacheFile(let url, let error):
            "The cache file \(url.path) cannot be removed: \(error.plainDescription)"
        case .diskStorageIsNotReady(let url):
            "The disk cache is out of use because its directory \(url.path) cannot be opened or created"
                + Self.directoryAdvice
        }
    }
}

extension KingfisherError.ImageSettingErrorReason {
    var errorDescription: String? {
        switch self {
        case .emptySource: "No source was given"
        case .notCurrentSourceTask(let result, let error, let source):
            if let error {
                "Another load took the place of \(source.cacheKey), which failed: \(error.plainDescription)"
            } else if result != nil {
                "Another load took the place of \(source.cacheKey), which succeeded"
            } else {
                nil
            }
        case .dataProviderError(let provider, let error):
            "\(provider.place) cannot be read: \(error.plainDescription)"
        case .alternativeSourcesExhausted(let errors):
            "All \(errors.count) sources failed:\n" + errors.map(\.description).joined(separator: ";\n")
        case .notCurrentLivePhotoSourceTask(let result, let error, let source):
            if let error {
                "Another load took the place of the live photo \(source.place), which failed: \(error.plainDescription)"
            } else if result != nil {
                "Another load took the place of the live photo \(source.place), which succeeded"
            } else {
                nil
            }
        case .livePhotoResultError(_, let error, let source):
            "The files of the live photo \(source.place) make none"
                + (error.map { ": \($0.plainDescription)" } ?? "")
        }
    }
}

extension PropagationError: CustomStringConvertible {
    /// The key of the source, and its error; secrets of URLs are left out.
    public var description: String { "\(Redaction.source(source.cacheKey)): \(error)" }
}

extension ImageDataProvider {
    fileprivate var place: String {
        contentURL.map { $0.isFileURL ? $0.path : $0.absoluteString } ?? cacheKey
    }
}

extension LivePhotoSource {
    fileprivate var place: String { resources.map(\.downloadURL.absoluteString).joined(separator: ", ") }
}

extension URLResponse {
    fileprivate var place: String { url?.absoluteString ?? "the server" }
}

extension HTTPURLResponse {
    fileprivate var meaning: String { Self.localizedString(forStatusCode: statusCode) }

    /// The reason why a status that is not itself an error brought no image.
    fileprivate var whyWithoutImage: String {
        switch statusCode {
        case 204, 205: ", which comes without an image"
        case 206: ", a part of the file, which was not requested"
        case 304: ""
        case 300..<400:
            if let location = value(forHTTPHeaderField: "Location") {
                URL(escaping: location.utf8, relativeTo: url) == nil
                    ? ", a redirect to \"\(location)\", which is not a URL"
                    : ", a redirect that was not followed, to \(location)"
            } else {
                ", a redirect that does not say where to"
            }
        default: ""
        }
    }
}

extension Error {
    /// The error's own text where it has one, instead of "The operation could not be completed".
    var plainDescription: String {
        if let words = (self as? any LocalizedError)?.errorDescription { return words }
        // Foundation's errors about files say less than the system's behind them.
        if let system = (self as? CocoaError)?.underlying as? POSIXError {
            return String(cString: strerror(system.code.rawValue))
        }
        return type(of: self) is NSObject.Type || self is any CustomNSError ? localizedDescription : "\(self)"
    }

    /// The network's error in words; the system's texts for `URLError` say nothing on Linux.
    fileprivate var networkDescription: String {
        guard let error = self as? URLError else { return "The transfer failed: \(plainDescription)" }
        let place = error.failingURL?.absoluteString ?? "the server"
        let host = error.failingURL?.host ?? place
        // A transport's own text says more than the error's code.
        var said = (error.errorUserInfo[NSLocalizedDescriptionKey] as? String).flatMap { $0.isEmpty ? nil : $0 }
        if said?.last == "." { said?.removeLast() }
        let what: String =
            switch error.code {
            case .timedOut:
                "\(said ?? "\(place) did not respond in time"); a server that is just slow needs a longer limit"
            case .cannotConnectToHost:
                "\(said ?? "The connection to \(host) was refused"); is the server running, and on that port?"
            case .cannotFindHost, .dnsLookupFailed: "The host \(host) cannot be found; check the name and the network"
            case .networkConnectionLost: said ?? "The connection to \(host) was lost before all of \(place) had arrived"
            case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
                said ?? "No secure connection to \(host): its certificate or TLS set-up is not acceptable"
            case .httpTooManyRedirects: "\(place) redirects too often"
            case .unsupportedURL, .badURL: "\(place) is not a URL that can be downloaded; use http or https"
            case .cancelled: "The transfer of \(place) was stopped"
            case .notConnectedToInternet where error.isConstrained:
                "\(place) was not loaded because the network is one to save data on"
            case .notConnectedToInternet: "There is no network to reach \(host) through"
            default:
                "The transfer of \(place) failed: \(said ?? "no reason given")"
            }
        let underlying = (error.errorUserInfo[NSUnderlyingErrorKey] as? any Error).map { " [\($0.plainDescription)]" }
        return "\(what)\(underlying ?? "") (URL error \(error.errorCode))"
    }
}
