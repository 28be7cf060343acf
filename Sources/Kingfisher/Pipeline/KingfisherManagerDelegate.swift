// The delegate of a manager, and which failures it takes to be final unless the delegate says otherwise.

public import Foundation

/// Decides what a ``KingfisherManager`` downloads. (Not in Kingfisher.)
///
/// Called on any thread, at several at the same time, with no lock held. Every method has a default. Live photos are
/// loaded without asking.
public protocol KingfisherManagerDelegate: AnyObject, Sendable {
    /// Whether an image that is in no cache is downloaded; by default it is.
    ///
    /// Asked once for all loads that share the download, and again for each retry; not asked about providers.
    /// - Parameters:
    ///   - manager: The manager.
    ///   - source: What would be downloaded: the source, or an alternative.
    ///   - options: The options of the load that came first.
    /// - Returns: False to fail with ``KingfisherError/RequestErrorReason/downloadRefused(source:)``.
    func manager(
        _ manager: KingfisherManager,
        shouldDownload source: Source,
        options: KingfisherParsedOptionsInfo
    ) -> Bool

    /// Whether a URL is blocked that has failed; by default if ``KingfisherError/isPermanent`` says so.
    ///
    /// Asked at the end of a load that skips failed URLs, after its retries. Not asked about cancelled loads and what
    /// is missing in a cache: these never block.
    /// - Parameters:
    ///   - manager: The manager.
    ///   - url: The URL as it was requested.
    ///   - error: Why the load failed.
    /// - Returns: Whether the URL goes into ``KingfisherManager/failedURLs``.
    func manager(_ manager: KingfisherManager, shouldBlock url: URL, after error: KingfisherError) -> Bool
}

extension KingfisherManagerDelegate {
    /// True.
    public func manager(
        _ manager: KingfisherManager,
        shouldDownload source: Source,
        options: KingfisherParsedOptionsInfo
    ) -> Bool { true }

    /// ``KingfisherError/isPermanent``.
    public func manager(_ manager: KingfisherManager, shouldBlock url: URL, after error: KingfisherError) -> Bool {
        error.isPermanent
    }
}
