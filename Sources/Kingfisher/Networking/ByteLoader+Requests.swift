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

    /// The image the options' processor makes of the bytes at a URL.
    ///
    /// - Parameters:
    ///   - url: Where the bytes are.
    ///   - options: How they are downloaded and processed.
    ///   - handle: Linked to the transfer once there is one.
    ///   - timeout: How long the server may keep silent, in seconds; nil means what the settings say.
    /// - Returns: The image, the bytes it was made of, and how long that took.
    /// - Throws: ``KingfisherError``, also for a cancelled download.
    func image(
        at url: URL,
        _ options: KingfisherParsedOptionsInfo,
        _ handle: DownloadTask,
        timeout: TimeInterval? = nil
    ) async throws(KingfisherError) -> ImageLoadingResult {
        try await withBytes(at: url, options, handle, timeout: timeout) { delivery throws(KingfisherError) in
            let bytes = delivery.bytes
            var result = ImageLoadingResult(
                image: try await delivery.image(options),
                url: bytes.url,
                originalData: bytes.data,
                metrics: bytes.metrics
            )
            result.response = bytes.response
            return result
        }
    }

    /// Does something with the bytes at a URL, of which the caller's image is made if that is wanted.
    ///
    /// - Parameters:
    ///   - url: Where the bytes are.
    ///   - options: How they are downloaded and processed.
    ///   - handle: Linked to the transfer once there is one.
    ///   - timeout: How long the server may keep silent, in seconds; nil means what the settings say.
    ///   - wantsImage: Whether an image is made of the bytes before they are handed out.
    ///   - sharesArrivalsSince: Bytes will do that arrived after this, if others still work with them; nil if not.
    ///   - body: What is done with the bytes.
    /// - Returns: What `body` returns.
    /// - Throws: ``KingfisherError``, also for a cancelled download.
    func withBytes<Value>(
        at url: URL,
        _ options: KingfisherParsedOptionsInfo,
        _ handle: DownloadTask,
        timeout: TimeInterval? = nil,
        wantsImage: Bool = true,
        sharesArrivalsSince: ContinuousClock.Instant? = nil,
        _ body: (BytesCaller.Delivery) async throws(KingfisherError) -> Value
    ) async throws(KingfisherError) -> Value {
        guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
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
            order: settings.executionOrder.order(isForView: options.isForView)
        )
        let caller = BytesCaller(
            url,
            options,
            handle,
            wantsImage: wantsImage && !(options.processor is BytesOnly),
            sharesArrivalsSince: sharesArrivalsSince
        )
        return try await withBytes(request, policy: policy, limit: settings.maximumResponseSize, for: caller, body)
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
