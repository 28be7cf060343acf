// Bytes that were loaded, and what is made of them: each image and each cache entry once. For all who share them.

import Foundation
import KFSupport
import KFTransport

/// The bytes of one response, one provider or one loader, shared by all subscribers that waited for them.
final class LoadedBytes: Sendable {
    /// The bytes, as the downloader's delegate left them.
    let data: Data
    /// The URL of the request that was sent, or that a loader was given; nil for a provider.
    let url: URL?
    let response: TransportResponse?
    let metrics: NetworkMetrics?
    /// The memory the bytes take, which is the downloader's to give.
    private let share: BytesInFlight.Share?
    /// Why there is no image in the bytes, if that is known from the response.
    private let reasonForNoImage: KingfisherError?
    private let images = OncePerKey<ProcessingKey, Result<KFCrossPlatformImage, KingfisherError>>()
    /// How storing goes of what was made of the bytes.
    let entries = OncePerKey<StoreKey, CacheStoreResult>()

    /// The bytes of a provider.
    init(provided data: Data) {
        self.data = data
        (url, response, metrics, share, reasonForNoImage) = (nil, nil, nil, nil, nil)
    }

    /// The bytes of a loader.
    init(_ data: Data, at url: URL, _ response: URLResponse?) {
        (self.data, self.url, metrics, share) = (data, url, nil, nil)
        self.response = response.map { TransportResponse($0) }
        reasonForNoImage = self.response?.reasonForNoImage
    }

    init(_ data: Data, of transfer: Transfer, _ response: TransportResponse?) {
        self.data = data
        self.response = response
        url = transfer.request.url
        metrics = transfer.sessionTask.metrics
        share = transfer.takeShare()
        reasonForNoImage = transfer.isRedirectDeclined ? nil : response?.reasonForNoImage
    }

    /// The image the options' processor makes of the bytes.
    ///
    /// It runs once for all options that are alike in what an image is made by.
    func image(_ options: KingfisherParsedOptionsInfo) async -> Result<KFCrossPlatformImage, KingfisherError> {
        await images.value(for: ProcessingKey(options)) {
            await Result { () async throws(KingfisherError) in
                try await options.processor.processed(.data(data), options)
            }.mapError { reasonForNoImage ?? $0 }
        }
    }
}

extension TransportResponse {
    /// Why there is no image in the body, if the status says it: there is no content, or it is elsewhere.
    ///
    /// These statuses are accepted, and a body that is an image is taken; without one, they are the reason. (Unless a
    /// redirect handler took the redirect as the response: then the body is the reason.)
    fileprivate var reasonForNoImage: KingfisherError? {
        guard let statusCode, [204, 205].contains(statusCode) || 300..<400 ~= statusCode,
            let http = urlResponse as? HTTPURLResponse
        else { return nil }
        return .responseError(reason: .invalidHTTPStatusCode(response: http))
    }
}
