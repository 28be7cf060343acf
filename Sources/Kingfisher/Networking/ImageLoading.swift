// The protocol of loaders: code of the user that gets the bytes at URLs in place of a downloader. For the manager.

public import Foundation
public import FoundationNetworking

/// Gets the bytes at some URLs in place of the downloader, such as those of a scheme of your own. (Not in Kingfisher.)
///
/// Loaders are added to ``KingfisherManager/loaders``. What they load is processed and cached as what is downloaded is.
/// Status, media type and size of the response are the loader's business, and so are the options that are about
/// downloading: modifiers, decryptors, time limits.
public protocol ImageLoading: Sendable {
    /// Whether this loader loads a URL.
    ///
    /// Called several times a load, on any thread, with no lock held.
    /// - Parameters:
    ///   - url: The URL.
    ///   - options: The options of the load.
    /// - Returns: False to leave it to the loader that was added before, or to the downloader.
    func canLoad(_ url: URL, options: KingfisherParsedOptionsInfo) -> Bool

    /// Loads the bytes.
    ///
    /// Called once for all loads of a URL and its key that are under way at the same time, on a thread that may be
    /// blocked. Its task is cancelled when the last of them is.
    /// - Parameters:
    ///   - url: The URL.
    ///   - options: The options of the load that came first.
    ///   - progress: To be called as bytes arrive, with how many there are and how many are expected, −1 if that is not
    ///     known; reaches the progress blocks of all loads. May be left out.
    /// - Returns: The bytes, and the head of the response for what it says about caching, if there was one.
    /// - Throws: Any error. A ``KingfisherError`` is that of the load; a `CancellationError` is
    ///   ``KingfisherError/RequestErrorReason/asyncTaskContextCancelled``; every other one becomes
    ///   ``KingfisherError/ResponseErrorReason/URLSessionError(error:)``.
    func load(
        _ url: URL,
        options: KingfisherParsedOptionsInfo,
        progress: @escaping @Sendable (_ received: Int64, _ expected: Int64) -> Void
    ) async throws -> (Data, URLResponse?)

    /// Whether a URL is blocked that has failed; by default the manager decides, as about what is downloaded.
    ///
    /// Asked at the end of a load with ``KingfisherParsedOptionsInfo/skipFailedURLs``, after its retries, but not about
    /// cancelled loads.
    /// - Parameters:
    ///   - url: The URL.
    ///   - error: Why the load failed: a ``KingfisherError``.
    /// - Returns: Whether the URL goes into ``KingfisherManager/failedURLs``; nil has the manager and its delegate
    ///   decide.
    func shouldBlock(_ url: URL, after error: any Error) -> Bool?
}

/// A loader for a server of images, which asks stores as a cache that many share asks servers.
///
/// What it loads is for everybody: a shared cache keeps it unless the response says otherwise. A response whose status
/// is no success, also "not modified", is thrown as
/// ``KingfisherError/ResponseErrorReason/invalidHTTPStatusCode(response:)``.
@_spi(Server) public protocol ConditionalImageLoading: ImageLoading {
    /// Loads the bytes, as ``ImageLoading/load(_:options:progress:)``, unless they are those that are known.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - conditions: The fields that make a request conditional, `If-None-Match` and `If-Modified-Since`.
    /// - Returns: The bytes, and the head of the response.
    /// - Throws: As there.
    func load(_ url: URL, unless conditions: [String: String]) async throws -> (Data, URLResponse?)
}

@_spi(Server) extension ConditionalImageLoading {
    /// Loads the bytes under the conditions of the options.
    public func load(
        _ url: URL,
        options: KingfisherParsedOptionsInfo,
        progress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws -> (Data, URLResponse?) {
        try await load(url, unless: options.load.conditionalFields)
    }
}

extension ImageLoading {
    /// Nil: the manager decides.
    public func shouldBlock(_ url: URL, after error: any Error) -> Bool? { nil }
}
