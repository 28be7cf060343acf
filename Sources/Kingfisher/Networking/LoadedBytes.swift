// Bytes that were loaded, and what is made of them: each image and each cache entry once. For all who share them.

import Foundation
import FoundationNetworking
import KFImaging
import KFSupport
import KFTransport

/// The bytes of one response, one provider or one loader, shared by all subscribers that waited for them.
final class LoadedBytes: Sendable {
    /// The bytes, as the downloader's delegate left them.
    let data: Data
    /// The request that was sent, or a plain one for what a loader was given; nil for a provider.
    let request: URLRequest?
    /// Its URL.
    var url: URL? { request?.url }
    /// Whether credentials were sent for the bytes, or may have been.
    let isPersonal: Bool
    let response: TransportResponse?
    let metrics: NetworkMetrics?
    /// The memory the bytes take, which is the downloader's to give.
    private let share: BytesInFlight.Share?
    /// Why there is no image in the bytes, if that is known from the response.
    private let reasonForNoImage: KingfisherError?
    /// Called with each image that was made for a load.
    typealias DidMake = @Sendable (KFCrossPlatformImage, KingfisherParsedOptionsInfo) async -> Void
    private let didMake: DidMake?
    private let images = OncePerKey<ImageIdentity, Result<KFCrossPlatformImage, KingfisherError>>()
    /// The longer side of the largest of several sizes that are wanted, in pixels, and the image of that size.
    let largestSide: Int?
    let atLargestSide = OncePerKey<Int, KFCrossPlatformImage?>()
    /// How the storing of the images made of the bytes goes.
    let entries = OncePerKey<EntryIdentity, CacheStoreResult>()

    init(
        _ data: Data,
        request: URLRequest? = nil,
        response: TransportResponse? = nil,
        isRedirectDeclined: Bool = false,
        metrics: NetworkMetrics? = nil,
        isPersonal: Bool = false,
        share: BytesInFlight.Share? = nil,
        largestSide: Int? = nil,
        didMake: DidMake? = nil
    ) {
        (self.data, self.request, self.response, self.metrics) = (data, request, response, metrics)
        (self.isPersonal, self.largestSide, self.share, self.didMake) = (isPersonal, largestSide, share, didMake)
        reasonForNoImage = isRedirectDeclined ? nil : response?.reasonForNoImage
    }

    /// The image for a load, as its options' processor makes it of the bytes.
    func image(for options: KingfisherParsedOptionsInfo) async throws(KingfisherError) -> KFCrossPlatformImage {
        let image = try await image(options).get()
        await didMake?(image, options)
        return image
    }

    /// The image the options' processor makes of the bytes.
    ///
    /// It runs once for all options that are alike in what an image is made by. So does each processor of several in a
    /// row: the image that the first ones make is made once for all loads that begin with them.
    ///
    /// Where the one who makes it is cancelled in the middle, another one who wants it makes it.
    func image(_ options: KingfisherParsedOptionsInfo) async -> Result<KFCrossPlatformImage, KingfisherError> {
        while true {
            let result = await images.value(for: ImageIdentity(options), keeps: { $0.cancellation == nil }) {
                let result = await Result { () async throws(KingfisherError) in try await processed(options) }
                return result.mapError { error in
                    Task.isCancelled
                        ? .requestError(reason: .asyncTaskContextCancelled) : reasonForNoImage ?? error
                }
            }
            if result.cancellation == nil || Task.isCancelled { return result }
        }
    }

    /// Takes an image that has been made of the bytes elsewhere.
    func adopt(_ image: KFCrossPlatformImage, for options: KingfisherParsedOptionsInfo) {
        images.claim(ImageIdentity(options)).value.fulfil(.success(image))
    }

    private func processed(
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> KFCrossPlatformImage {
        guard let (before, step) = options.processor.lastStep, !options.encodesStrips(of: data) else {
            if let image = await downsampled(options) { return image }
            return try await options.processor.processed(.data(data), options)
        }
        var beginning = options
        beginning.processor = before
        do throws(KingfisherError) {
            let image = try await image(beginning).get()
            guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
            let last: any ImageProcessor =
                if let encoder = step as? ImageEncoder { ImageEncoder(encoder.encoding, data) } else { step }
            let result = try await last.processed(.image(image), options)
            if image.isDamaged { result.updateMetadata { $0.isDamaged = true } }
            return result
        } catch {
            throw .processorError(reason: .processingFailed(processor: options.processor.named, item: .data(data)))
        }
    }
}

extension Result where Failure == KingfisherError {
    /// The error, if it is that the task was cancelled.
    fileprivate var cancellation: KingfisherError? {
        if case .failure(let error) = self, error.isCancelled { error } else { nil }
    }
}

extension URLRequest {
    /// Whether it says who asks.
    var hasCredentials: Bool { value(forHTTPHeaderField: "Authorization") != nil || url?.user != nil }

    /// Whether a response of 304 may be expected.
    var isConditional: Bool {
        ["If-None-Match", "If-Modified-Since"].contains { value(forHTTPHeaderField: $0) != nil }
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

extension LoadedBytes {
    /// The longer side of the largest of several sizes, in pixels; nil if there are not several.
    static func largestSide(for subscribers: [Subscriber<LoadedBytes>]) -> Int? {
        let sides = Set(subscribers.compactMap(\.downsamplingLimit))
        return sides.count > 1 ? sides.max() : nil
    }

    /// The image at the size of the options, made of the largest that is wanted; nil if it must be decoded for itself.
    ///
    /// A size is made of an image that is at least twice as large: the difference cannot be seen (57 dB). A drawing is
    /// drawn at each size.
    func downsampled(_ options: KingfisherParsedOptionsInfo) async -> KFCrossPlatformImage? {
        guard let largestSide, options.processor is any SizeLimitingImageProcessor,
            let limit = options.downsamplingLimit, limit == largestSide || limit <= largestSide / 2
        else { return nil }
        let queue = options.processingQueue ?? .untouch
        let largest = await atLargestSide.value(for: largestSide) {
            await queue.run { [data] in
                Image.downsampled(data, limit: largestSide, scale: 1, limits: options.limits)
            }
        }
        guard let largest, largest.contentType != .svg else { return nil }
        guard limit < largestSide else { return largest.withScale(options.scaleFactor) }
        return await queue.run { [data] in
            largest.downsampled(toMaxPixelSize: limit, asThumbnailOf: data, scale: options.scaleFactor)
        }
    }
}

extension KingfisherParsedOptionsInfo {
    /// The longer side, in pixels, to which the processor limits the image that it decodes; nil for other processors.
    var downsamplingLimit: Int? {
        guard let downsampling = processor.firstStep as? any SizeLimitingImageProcessor else { return nil }
        let limit = downsampling.longerSide(scale: scaleFactor)
        return limit > 0 ? limit : nil
    }
}

extension Image {
    /// A smaller image, of the size that decoding the data to `limit` pixels would give; nil if that is not known.
    fileprivate func downsampled(toMaxPixelSize limit: Int, asThumbnailOf data: Data, scale: CGFloat) -> Image? {
        guard let bitmap = cgImage, let info = try? ImageInfo(data: data) else { return nil }
        let stored = PixelSize(info.pixelWidth, info.pixelHeight)
        let target = Geometry.thumbnail(
            of: info.orientation.isTransposing ? stored.transposed : stored,
            limit: limit
        )
        guard let smaller = try? bitmap.resampled(to: target) else { return nil }
        return Image(cgImage: smaller, scale: scale, orientation: .up, metadata: metadata)
    }
}
