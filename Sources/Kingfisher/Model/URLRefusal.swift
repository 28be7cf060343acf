// Why nothing is loaded from a URL, for the status of a server's response.

import Foundation

/// Why nothing is loaded from a URL, whatever its server would say. (Not in Kingfisher.)
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum URLRefusal: Hashable, Sendable {
    /// It is no URL of HTTP, nor of a loader of the manager's.
    case unsupported
    /// It leads to an address, or through a proxy, that ``ImageDownloader/addressPolicy`` does not allow.
    case address
    /// It leads to a file, and ``KingfisherManager/allowsFileURLs`` is false.
    case file
    /// It is a `data:` URL whose bytes cannot be read.
    case malformedData
}

extension KingfisherError {
    /// Why nothing was loaded from the URL, if that is the fault of the URL; nil for any other error.
    ///
    /// For a server, ``responseStatus`` is the status that fits.
    public var urlRefusal: URLRefusal? {
        switch self {
        case .requestError(.fileURLNotAllowed): .file
        case .requestError(.invalidURL): .unsupported
        case .responseError(.URLSessionError(let error)):
            switch (error as? URLError)?.code {
            case .unsupportedURL?, .badURL?: .unsupported
            case .resourceUnavailable?: .address
            default: nil
            }
        case .imageSettingError(.dataProviderError(let provider, _)) where provider is DataURLImageDataProvider:
            .malformedData
        default: nil
        }
    }
}
