// Which sources a manager refuses: files that must not be read, URLs that have failed for good, and downloads that its
// delegate does not want. For loads and prefetches.

import Foundation
import KFSupport

/// The rules for the sources of a manager's loads.
struct SourceRules: Sendable {
    private let manager: KingfisherManager

    fileprivate init(_ manager: KingfisherManager) { self.manager = manager }

    /// The file of a source that must not be read; nil when it may be.
    func forbiddenFile(_ source: Source) -> URL? { source.fileURL.flatMap { manager.allowsFileURLs ? nil : $0 } }

    /// Why a source is neither looked up nor loaded: it is a forbidden file, or its URL has failed for good; nil when
    /// neither is the case.
    func refusal(of source: Source, _ options: KingfisherParsedOptionsInfo) -> KingfisherError? {
        if let file = forbiddenFile(source) { return .requestError(reason: .fileURLNotAllowed(url: file)) }
        guard options.skipFailedURLs, !options.retryFailed, case .network(let resource) = source,
            manager.failedURLs?.contains(resource.downloadURL) == true
        else { return nil }
        return .requestError(reason: .urlBlocked(url: resource.downloadURL))
    }

    /// Throws for a download that the delegate refuses.
    func checkDownload(
        _ source: Source,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) {
        guard case .network = source, manager.delegate != nil else { return }
        let isAllowed = await WorkExecutor.userCode.run { [manager] in
            manager.delegate?.manager(manager, shouldDownload: source, options: options) ?? true
        }
        guard isAllowed else { throw .requestError(reason: .downloadRefused(source: source)) }
    }

    /// A source was loaded: its URL has not failed for good.
    func didLoad(_ source: Source) {
        if case .network(let resource) = source { manager.failedURLs?.remove(resource.downloadURL) }
    }

    /// A source cannot be loaded; keeps in mind if its URL has failed for good.
    func didFail(_ source: Source, _ options: KingfisherParsedOptionsInfo, with error: KingfisherError) {
        guard options.skipFailedURLs, case .network(let resource) = source,
            shouldBlock(resource.downloadURL, after: error, options)
        else { return }
        manager.madeFailedURLs.insert(resource.downloadURL)
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
            let decision = manager.loaders.entry(for: url, options)?.loader.shouldBlock(url, after: error)
            return decision ?? manager.delegate?.manager(manager, shouldBlock: url, after: error) ?? error.isPermanent
        }
    }
}

extension KingfisherManager {
    /// Which sources it refuses.
    var rules: SourceRules { SourceRules(self) }
}
