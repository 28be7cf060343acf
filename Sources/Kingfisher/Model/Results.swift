// The results of loads and caches, as values.

public import Foundation
import KFTransport

/// Called with the progress of a download: bytes received and bytes expected.
///
/// Called on the main queue, before the completion handler or the end of the async function: the last time with all
/// bytes, unless the length is not known before or the load is cancelled. A load that does not complete on the main
/// queue waits for that, but not for a main thread that is blocked for two seconds: then the rest is left out.
public typealias DownloadProgressBlock = @MainActor @Sendable (_ receivedSize: Int64, _ totalSize: Int64) -> Void

/// Where an image was found.
public enum CacheType: Sendable {
    /// Nowhere: it was loaded.
    case none
    /// In memory.
    case memory
    /// On disk.
    case disk

    /// Whether it was found in a cache.
    public var cached: Bool { self != .none }
}

/// How storing an image went.
public struct CacheStoreResult: Sendable {
    /// The memory part, which cannot fail.
    public let memoryCacheResult: Result<(), Never>
    /// The disk part.
    ///
    /// Also a success when nothing was to be written.
    public let diskCacheResult: Result<(), KingfisherError>

    init(disk: Result<(), KingfisherError>) {
        memoryCacheResult = .success(())
        diskCacheResult = disk
    }
}

/// The result of looking a key up in a cache.
public enum ImageCacheResult: Sendable {
    /// An image from disk.
    case disk(KFCrossPlatformImage)
    /// An image from memory.
    case memory(KFCrossPlatformImage)
    /// Nothing.
    case none

    /// The image, if one was found.
    public var image: KFCrossPlatformImage? {
        switch self {
        case .disk(let image), .memory(let image): image
        case .none: nil
        }
    }

    /// Where it was found.
    public var cacheType: CacheType {
        switch self {
        case .disk: .disk
        case .memory: .memory
        case .none: .none
        }
    }
}

/// A finished download, processed.
public struct ImageLoadingResult: Sendable {
    /// The processed image, not changed by an image modifier.
    public let image: KFCrossPlatformImage
    /// The URL of the request that was sent, after its modifier and before redirections; nil for providers.
    public let url: URL?
    /// The bytes the image was made from.
    public let originalData: Data
    /// How long the phases of the download took.
    public let metrics: NetworkMetrics?
    /// The head of the response, from which the entry's cache metadata is made.
    var response: TransportResponse?

    /// Creates a result.
    public init(image: KFCrossPlatformImage, url: URL? = nil, originalData: Data, metrics: NetworkMetrics? = nil) {
        self.image = image
        self.url = url
        self.originalData = originalData
        self.metrics = metrics
    }
}

/// A loaded image.
public struct RetrieveImageResult: Sendable {
    /// The image.
    public let image: KFCrossPlatformImage
    /// Where it was found; ``CacheType/none`` when it was loaded.
    public let cacheType: CacheType
    /// The source that worked: the requested one or an alternative.
    public let source: Source
    /// The source that was requested.
    public let originalSource: Source
    /// The image's bytes: those that were loaded, as they were before a processor, or for cached images those that the
    /// serializer makes of the image.
    ///
    /// The latter are made each time this is called, on the calling thread. The default serializer has no bytes of a
    /// still from a cache, and makes PNG of it. To send an image in a certain format, encode ``image``.
    public let data: @Sendable () -> Data?
    /// How long the phases of the download took; nil for cached images and providers.
    public var metrics: NetworkMetrics? { details?.value.metrics }
    /// How storing the image went.
    ///
    /// Only with ``KingfisherParsedOptionsInfo/waitForCache``, and nil when nothing had to be stored. A load succeeds
    /// even when its image cannot be stored. (Not in Kingfisher.)
    public internal(set) var cacheStoreResult: CacheStoreResult? {
        get { details?.value.cacheStoreResult }
        set { change { $0.cacheStoreResult = newValue } }
    }
    /// What the server said about the cached image; nil when it was not asked. (Not in Kingfisher.)
    public internal(set) var revalidation: Revalidation? {
        get { details?.value.revalidation }
        set { change { $0.revalidation = newValue } }
    }
    /// What the response of the image said about caching. (Not in Kingfisher.)
    ///
    /// Nil when it said nothing, and for an image in memory: see
    /// ``ImageCache/cacheMetadata(forKey:processorIdentifier:forcedExtension:)``.
    public internal(set) var cacheMetadata: CacheMetadata? {
        get { details?.value.cacheMetadata }
        set { change { $0.cacheMetadata = newValue } }
    }

    /// What a hit in memory does not have: one object for all loads that share an image, as results are copied often.
    final class Details: Sendable {
        struct Value: Sendable {
            var metrics: NetworkMetrics?
            var cacheStoreResult: CacheStoreResult?
            var revalidation: Revalidation?
            var cacheMetadata: CacheMetadata?

            var isEmpty: Bool {
                metrics == nil && cacheStoreResult == nil && revalidation == nil && cacheMetadata == nil
            }
        }

        let value: Value

        private init(_ value: Value) { self.value = value }

        /// Changed details; nil when there are none.
        static func changed(_ details: Details?, _ change: (inout Value) -> Void) -> Details? {
            var value = details?.value ?? Value()
            change(&value)
            return value.isEmpty ? nil : Details(value)
        }
    }

    var details: Details?

    private mutating func change(_ change: (inout Details.Value) -> Void) { details = .changed(details, change) }

    /// What the server said about a cached image.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Revalidation: Sendable {
        /// It is still the same, and the result.
        case notModified
        /// There is another one, which is the result and took its place.
        case modified
        /// Nothing: the request failed, and the cached image is the result.
        case failed(KingfisherError)
        /// Nothing yet: the cached image is the result, and the server is asked for the next time.
        case inBackground
    }

    /// Creates a result.
    /// - Parameters:
    ///   - image: The image.
    ///   - cacheType: Where it was found.
    ///   - source: The source that worked.
    ///   - originalSource: The source that was requested.
    ///   - data: Gives the image's bytes.
    ///   - metrics: How long the phases of the download took.
    public init(
        image: KFCrossPlatformImage,
        cacheType: CacheType,
        source: Source,
        originalSource: Source,
        data: @escaping @Sendable () -> Data?,
        metrics: NetworkMetrics? = nil
    ) {
        self.image = image
        self.cacheType = cacheType
        self.source = source
        self.originalSource = originalSource
        self.data = data
        if let metrics { change { $0.metrics = metrics } }
    }
}

extension RetrieveImageResult {
    /// The result of a load whose image is in memory, as its image modifier changes it.
    init(
        inMemory image: KFCrossPlatformImage,
        of source: Source,
        _ options: KingfisherParsedOptionsInfo,
        requested: Source
    ) {
        let image = options.imageModifier?.modify(image) ?? image
        self.init(
            image: image,
            cacheType: .memory,
            source: source,
            originalSource: requested,
            data: options.encoding(of: image)
        )
    }
}

extension KingfisherParsedOptionsInfo {
    /// The serializer's encoding of a cached image, made when it is needed.
    func encoding(of image: KFCrossPlatformImage) -> @Sendable () -> Data? {
        { [cacheSerializer] in cacheSerializer.data(with: image, original: nil) }
    }
}
