// From a URL to the request that is sent: settings, modifiers, and what is refused before anything is sent.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport

extension ByteLoader {
    /// The settings of a downloader.
    struct Settings: Sendable {
        var downloadTimeout: TimeInterval = 15
        var connectTimeout: TimeInterval?
        var totalTimeout: TimeInterval?
        var maxRedirectCount = 20
        var addressPolicy = AddressPolicy.everything
        var fieldsRemovedAcrossOrigins = URLRequest.credentialFields
        var executionOrder = ImageDownloader.ExecutionOrder.automatic
        var trustedHosts: Set<String>?
        var isConstrained = false
        var isResumingEnabled = true
        var defaultHeaders = ["Accept": "image/*,*/*;q=0.8"]
        var acceptableStatusCodes: Set<Int>?
        var acceptableContentTypes: Set<String>?
        var requestsUsePipelining = false
        var responseModifier: (any ImageDownloadResponseModifier)?
        var decryptor: (any ImageDataDecryptor)?
        var session = URLSessionConfiguration.ephemeral
        var maxResponseBytes = ByteLoader.responseLimit(memory: UsableMemory.bytes)
    }

    /// Ends every download: it was started under another configuration.
    func endAll() {
        for transfer in transfers.all {
            let error = TransportError(.cancelled, "The session configuration has changed.", url: transfer.key.url)
            transfer.end(with: .responseError(reason: .URLSessionError(error: error.urlError)))
        }
    }

    /// The largest response accepted by default where so many bytes of memory may be used.
    static func responseLimit(memory: UInt64) -> Int { min(200 << 20, Int(clamping: memory / 10)) }

    /// The request that is sent for a URL, and the conditions of its transfer.
    func conditions(
        for url: URL,
        _ options: KingfisherParsedOptionsInfo,
        timeout: TimeInterval?
    ) async throws(KingfisherError) -> TransferConditions {
        let settings = settings.withLock { $0 }
        var plain = URLRequest(
            url: url,
            cachePolicy: .reloadIgnoringLocalCacheData,
            timeoutInterval: options.downloadTimeout ?? timeout ?? settings.downloadTimeout
        )
        settings.setFields(of: &plain)
        for (name, value) in options.load.conditionalFields { plain.setValue(value, forHTTPHeaderField: name) }
        guard let request = try await modified(plain, options.requestModifier) else {
            throw .requestError(reason: .emptyRequest)
        }
        guard let target = request.url, !target.absoluteString.isEmpty else {
            throw .requestError(reason: .invalidURL(request: request))
        }
        if options.lowDataModeSource != nil, settings.isConstrained {
            throw .responseError(reason: .URLSessionError(error: TransportError.constrained(target).urlError))
        }
        return TransferConditions(
            request: request,
            policy: policy(for: request, options, settings),
            redirectHandler: options.redirectHandler,
            responseModifier: options.responseModifier ?? settings.responseModifier,
            decryptor: options.decryptor ?? settings.decryptor,
            dataModifier: options.dataModifier,
            maxRedirectCount: settings.maxRedirectCount,
            fieldsRemovedAcrossOrigins: settings.fieldsRemovedAcrossOrigins,
            acceptableStatusCodes: settings.acceptableStatusCodes,
            acceptableContentTypes: settings.acceptableContentTypes,
            generation: options.load.generation ?? 0
        )
    }

    /// Under what conditions the transport sends a request.
    private func policy(
        for request: URLRequest,
        _ options: KingfisherParsedOptionsInfo,
        _ settings: Settings
    ) -> TransportPolicy {
        TransportPolicy(
            connectTimeout: options.connectTimeout ?? settings.connectTimeout ?? request.timeoutInterval,
            idleTimeout: request.timeoutInterval,
            totalTimeout: options.totalTimeout ?? settings.totalTimeout,
            // Another responder judges trusted hosts as well.
            trustedHosts: responderLink == nil ? settings.trustedHosts ?? [] : [],
            allowsConstrainedNetworkAccess: options.lowDataModeSource == nil,
            usesCookies: settings.session.httpShouldSetCookies && settings.session.httpCookieAcceptPolicy != .never,
            addressPolicy: settings.addressPolicy,
            maxBodyBytes: settings.maxResponseBytes,
            order: settings.executionOrder.order(isForView: options.load.isForView)
        )
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
        let asking = Task { _ = outcome.fulfil(await Self.outcome(of: modifier, for: request)) }
        return try await outcome.value {
            outcome.fulfil(.failure(.requestError(reason: .asyncTaskContextCancelled)))
            asking.cancel()
        }.get()
    }

    private static func outcome(
        of modifier: any AsyncImageDownloadRequestModifier,
        for request: URLRequest
    ) async -> Result<URLRequest?, KingfisherError> {
        guard let modifier = modifier as? any ThrowingImageDownloadRequestModifier else {
            return .success(await modifier.modified(for: request))
        }
        do {
            let modify: (URLRequest) async throws -> URLRequest = modifier.modified(for:)
            return .success(try await modify(request))
        } catch {
            return .failure(.requestError(reason: .modifierFailed(error: error)))
        }
    }
}

extension ByteLoader.Settings {
    /// The fields that every request has before its modifier: the session's over the downloader's.
    fileprivate func setFields(of request: inout URLRequest) {
        for (name, value) in defaultHeaders { request.setValue(value, forHTTPHeaderField: name) }
        for (name, value) in session.httpAdditionalHeaders ?? [:] {
            request.setValue("\(value)", forHTTPHeaderField: "\(name)")
        }
        if session.requestCachePolicy == .reloadIgnoringLocalAndRemoteCacheData {
            request.setValue("no-cache", forHTTPHeaderField: "Cache-Control")
        }
    }
}

extension ImageDownloader.ExecutionOrder {
    /// The order of a download in the queue of the transport.
    fileprivate func order(isForView: Bool) -> TransferOrder {
        switch self {
        case .automatic: isForView ? .newestFirst : .oldestFirst
        case .oldestFirst: .oldestFirst
        case .newestFirst: .newestFirst
        }
    }
}

extension URLSessionConfiguration {
    /// One with the same values.
    var copied: URLSessionConfiguration { copy() as? URLSessionConfiguration ?? self }
}
