// What is not tried: URLs that have failed for good, and downloads that the delegate refuses. For loads and prefetches.

import Foundation

extension KingfisherManager {
    /// The URL of a source that has failed for good; nil when it may be tried.
    func blockedURL(_ source: Source, _ options: KingfisherParsedOptionsInfo) -> URL? {
        guard options.skipFailedURLs, !options.retryFailed, case .network(let resource) = source else { return nil }
        let url = resource.downloadURL
        return failedURLs?.contains(url) == true ? url : nil
    }

    /// Throws for a source that is not looked up, let alone loaded: a forbidden file, or a URL that is blocked.
    func checkIsAllowed(
        _ source: Source,
        _ options: KingfisherParsedOptionsInfo
    ) throws(KingfisherError) {
        if let file = forbiddenFile(source) { throw .requestError(reason: .fileURLNotAllowed(url: file)) }
        if let url = blockedURL(source, options) { throw .requestError(reason: .urlBlocked(url: url)) }
    }

    /// Throws for a download that the delegate refuses.
    func checkDownloadIsAllowed(
        _ source: Source,
        _ options: KingfisherParsedOptionsInfo
    ) throws(KingfisherError) {
        guard case .network = source, let delegate else { return }
        guard delegate.manager(self, shouldDownload: source, options: options) else {
            throw .requestError(reason: .downloadRefused(source: source))
        }
    }

    /// A source was loaded: its URL has not failed for good.
    func didLoad(_ source: Source) {
        if case .network(let resource) = source { failedURLs?.remove(resource.downloadURL) }
    }

    /// A source cannot be loaded; keeps in mind if its URL has failed for good.
    func didFail(_ source: Source, _ options: KingfisherParsedOptionsInfo, with error: KingfisherError) {
        guard options.skipFailedURLs, case .network(let resource) = source,
            shouldBlock(resource.downloadURL, after: error, options)
        else { return }
        madeFailedURLs.insert(resource.downloadURL)
    }

    /// The loader of the URL decides, then the delegate, then the kind of the error.
    private func shouldBlock(
        _ url: URL,
        after error: KingfisherError,
        _ options: KingfisherParsedOptionsInfo
    ) -> Bool {
        switch error {
        case .cacheError, .requestError(.urlBlocked), .requestError(.downloadRefused): return false
        case _ where error.isCancelled: return false
        default:
            let decision = loaders.entry(for: url, options)?.loader.shouldBlock(url, after: error)
            return decision ?? delegate?.manager(self, shouldBlock: url, after: error) ?? error.isPermanent
        }
    }
}
