// From a URL to the request that is sent: settings, modifiers, and what is refused before anything is sent.

import Foundation
import KFSupport
import KFTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ByteLoader {
    /// The settings of a downloader.
    struct Settings: Sendable {
        var downloadTimeout: TimeInterval = 15
        var connectTimeout: TimeInterval?
        var totalTimeout: TimeInterval?
        var addressPolicy = AddressPolicy.everything
        var fieldsRemovedAcrossOrigins = URLRequest.credentialFields
        var executionOrder = ImageDownloader.ExecutionOrder.automatic
        var trustedHosts: Set<String>?
        var isConstrained = false
        var maximumResponseSize = ByteLoader.responseLimit(memory: UsableMemory.bytes)
    }

    var fieldsRemovedAcrossOrigins: Set<String> { settings.withLock { $0.fieldsRemovedAcrossOrigins } }

    /// The largest response accepted by default where so many bytes of memory may be used.
    static func responseLimit(memory: UInt64) -> Int { min(200 << 20, Int(clamping: memory / 10)) }

    /// The request that is sent for a URL, and the conditions of its transfer.
    func request(
        for url: URL,
        _ options: KingfisherParsedOptionsInfo,
        timeout: TimeInterval?
    ) async throws(KingfisherError) -> (URLRequest, TransportPolicy) {
        let settings = settings.withLock { $0 }
        let plain = URLRequest(
            url: url,
            cachePolicy: .reloadIgnoringLocalCacheData,
            timeoutInterval: options.downloadTimeout ?? timeout ?? settings.downloadTimeout
        )
        guard let request = try await modified(plain, options.requestModifier) else {
            throw .requestError(reason: .emptyRequest)
        }
        guard let target = request.url, !target.absoluteString.isEmpty else {
            throw .requestError(reason: .invalidURL(request: request))
        }
        let savesData = options.lowDataModeSource != nil
        if savesData, settings.isConstrained {
            throw .responseError(reason: .URLSessionError(error: TransportError.constrained(target).urlError))
        }
        let policy = TransportPolicy(
            connectTimeout: options.connectTimeout ?? settings.connectTimeout ?? request.timeoutInterval,
            idleTimeout: request.timeoutInterval,
            totalTimeout: options.totalTimeout ?? settings.totalTimeout,
            trustedHosts: settings.trustedHosts ?? [],
            allowsConstrainedNetworkAccess: !savesData,
            addressPolicy: settings.addressPolicy,
            maximumBodySize: settings.maximumResponseSize,
            order: settings.executionOrder.order(isForView: options.hooks.isForView)
        )
        return (request, policy)
    }

    /// The request a modifier makes of another one; nil if it refuses.
    ///
    /// A synchronous modifier is called on the caller's thread. An asynchronous one is not waited for when the load is
    /// cancelled.
    private func modified(
        _ request: URLRequest,
        _ modifier: (any AsyncImageDownloadRequestModifier)?
    ) async throws(KingfisherError) -> URLRequest? {
        guard let modifier else { return request }
        if let modifier = modifier as? any ImageDownloadRequestModifier {
            let modify: (URLRequest) -> URLRequest? = modifier.modified(for:)
            return modify(request)
        }
        let outcome = Promise<Result<URLRequest?, KingfisherError>>()
        let asking = Task { outcome.fulfil(.success(await modifier.modified(for: request))) }
        return try await withTaskCancellationHandler {
            await outcome.value
        } onCancel: {
            outcome.fulfil(.failure(.requestError(reason: .asyncTaskContextCancelled)))
            asking.cancel()
        }.get()
    }
}
