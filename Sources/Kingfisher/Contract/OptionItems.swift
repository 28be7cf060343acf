// The options as elements of an array: one line each. Their meaning is documented at the properties in Options.swift.

public import Foundation
public import KFImaging

/// A list of options.
///
/// Later ones override earlier ones.
public typealias KingfisherOptionsInfo = [KingfisherOptionsInfoItem]

/// One option, as an element of a ``KingfisherOptionsInfo``.
public struct KingfisherOptionsInfoItem: Sendable {
    let apply: @Sendable (inout KingfisherParsedOptionsInfo) -> Void

    private static func setting<Value: Sendable>(
        _ option: any WritableKeyPath<KingfisherParsedOptionsInfo, Value> & Sendable,
        to value: Value
    ) -> Self {
        Self { $0[keyPath: option] = value }
    }
}

extension KingfisherOptionsInfoItem {
    /// See ``KingfisherParsedOptionsInfo/targetCache``.
    public static func targetCache(_ cache: ImageCache) -> Self { Self { $0.targetCache = cache } }
    /// See ``KingfisherParsedOptionsInfo/originalCache``.
    public static func originalCache(_ cache: ImageCache) -> Self { Self { $0.originalCache = cache } }
    /// See ``KingfisherParsedOptionsInfo/downloader``.
    public static func downloader(_ downloader: ImageDownloader) -> Self { Self { $0.downloader = downloader } }
    /// See ``KingfisherParsedOptionsInfo/downloadPriority``.
    public static func downloadPriority(_ priority: Float) -> Self { setting(\.downloadPriority, to: priority) }
    /// See ``KingfisherParsedOptionsInfo/connectTimeout``.
    public static func connectTimeout(_ seconds: TimeInterval) -> Self { setting(\.connectTimeout, to: seconds) }
    /// See ``KingfisherParsedOptionsInfo/downloadTimeout``.
    public static func downloadTimeout(_ seconds: TimeInterval) -> Self { setting(\.downloadTimeout, to: seconds) }
    /// See ``KingfisherParsedOptionsInfo/totalTimeout``.
    public static func totalTimeout(_ seconds: TimeInterval) -> Self { setting(\.totalTimeout, to: seconds) }
    /// See ``KingfisherParsedOptionsInfo/forceRefresh``.
    public static var forceRefresh: Self { setting(\.forceRefresh, to: true) }
    /// See ``KingfisherParsedOptionsInfo/alsoPrefetchToMemory``.
    public static var alsoPrefetchToMemory: Self { setting(\.alsoPrefetchToMemory, to: true) }
    /// See ``KingfisherParsedOptionsInfo/fromMemoryCacheOrRefresh``.
    public static var fromMemoryCacheOrRefresh: Self { setting(\.fromMemoryCacheOrRefresh, to: true) }
    /// See ``KingfisherParsedOptionsInfo/cacheMemoryOnly``.
    public static var cacheMemoryOnly: Self { setting(\.cacheMemoryOnly, to: true) }
    /// See ``KingfisherParsedOptionsInfo/queryCacheLayers``.
    public static func queryCacheLayers(_ layers: CacheLayers) -> Self { setting(\.queryCacheLayers, to: layers) }
    /// See ``KingfisherParsedOptionsInfo/storeCacheLayers``.
    public static func storeCacheLayers(_ layers: CacheLayers) -> Self { setting(\.storeCacheLayers, to: layers) }
    /// See ``KingfisherParsedOptionsInfo/originalQueryCacheLayers``.
    public static func originalQueryCacheLayers(_ layers: CacheLayers) -> Self {
        setting(\.originalQueryCacheLayers, to: layers)
    }
    /// See ``KingfisherParsedOptionsInfo/originalStoreCacheLayers``.
    public static func originalStoreCacheLayers(_ layers: CacheLayers) -> Self {
        setting(\.originalStoreCacheLayers, to: layers)
    }
    /// See ``KingfisherParsedOptionsInfo/waitForCache``.
    public static var waitForCache: Self { setting(\.waitForCache, to: true) }
    /// See ``KingfisherParsedOptionsInfo/onlyFromCache``.
    public static var onlyFromCache: Self { setting(\.onlyFromCache, to: true) }
    /// See ``KingfisherParsedOptionsInfo/backgroundDecode``.
    public static var backgroundDecode: Self { setting(\.backgroundDecode, to: true) }
    /// See ``KingfisherParsedOptionsInfo/callbackQueue``.
    public static func callbackQueue(_ queue: CallbackQueue) -> Self { setting(\.callbackQueue, to: queue) }
    /// See ``KingfisherParsedOptionsInfo/scaleFactor``.
    public static func scaleFactor(_ factor: CGFloat) -> Self { setting(\.scaleFactor, to: factor) }
    /// See ``KingfisherParsedOptionsInfo/requestModifier``.
    public static func requestModifier(_ modifier: any AsyncImageDownloadRequestModifier) -> Self {
        setting(\.requestModifier, to: modifier)
    }
    /// See ``KingfisherParsedOptionsInfo/redirectHandler``.
    public static func redirectHandler(_ handler: any ImageDownloadRedirectHandler) -> Self {
        setting(\.redirectHandler, to: handler)
    }
    /// See ``KingfisherParsedOptionsInfo/responseModifier``.
    public static func responseModifier(_ modifier: any ImageDownloadResponseModifier) -> Self {
        setting(\.responseModifier, to: modifier)
    }
    /// See ``KingfisherParsedOptionsInfo/decryptor``.
    public static func decryptor(_ decryptor: any ImageDataDecryptor) -> Self { setting(\.decryptor, to: decryptor) }
    /// See ``KingfisherParsedOptionsInfo/dataModifier``.
    public static func dataModifier(_ modifier: any ImageDownloadDataModifier) -> Self {
        setting(\.dataModifier, to: modifier)
    }
    /// See ``KingfisherParsedOptionsInfo/onDataReceived``.
    public static func onDataReceived(_ block: @escaping @Sendable (SessionDataTask, Data) -> Void) -> Self {
        Self { $0.onDataReceived = block }
    }
    /// Accepted and without effect: here the cache type is always found without blocking the calling thread.
    public static var asyncCacheTypeCheck: Self { Self { _ in } }
    /// See ``KingfisherParsedOptionsInfo/processor``.
    public static func processor(_ processor: any ImageProcessor) -> Self { setting(\.processor, to: processor) }
    /// See ``KingfisherParsedOptionsInfo/onlyLoadFirstFrame``.
    public static var onlyLoadFirstFrame: Self { setting(\.onlyLoadFirstFrame, to: true) }
    /// See ``KingfisherParsedOptionsInfo/preloadAllAnimationData``.
    public static var preloadAllAnimationData: Self { setting(\.preloadAllAnimationData, to: true) }
    /// See ``KingfisherParsedOptionsInfo/animatedProcessing``.
    public static func animatedProcessing(_ policy: AnimatedProcessingPolicy) -> Self {
        setting(\.animatedProcessing, to: policy)
    }
    /// See ``KingfisherParsedOptionsInfo/vectorProcessing``.
    public static func vectorProcessing(_ policy: VectorProcessingPolicy) -> Self {
        setting(\.vectorProcessing, to: policy)
    }
    /// See ``KingfisherParsedOptionsInfo/cacheSerializer``.
    public static func cacheSerializer(_ serializer: any CacheSerializer) -> Self {
        setting(\.cacheSerializer, to: serializer)
    }
    /// See ``KingfisherParsedOptionsInfo/imageModifier``.
    public static func imageModifier(_ modifier: any ImageModifier) -> Self { setting(\.imageModifier, to: modifier) }
    /// See ``KingfisherParsedOptionsInfo/cacheOriginalImage``.
    public static var cacheOriginalImage: Self { setting(\.cacheOriginalImage, to: true) }
    /// See ``KingfisherParsedOptionsInfo/cacheDamagedImages``.
    public static var cacheDamagedImages: Self { setting(\.cacheDamagedImages, to: true) }
    /// See ``KingfisherParsedOptionsInfo/loadDiskFileSynchronously``.
    public static var loadDiskFileSynchronously: Self { setting(\.loadDiskFileSynchronously, to: true) }
    /// See ``KingfisherParsedOptionsInfo/memoryCacheExpiration``.
    public static func memoryCacheExpiration(_ expiration: StorageExpiration) -> Self {
        setting(\.memoryCacheExpiration, to: expiration)
    }
    /// See ``KingfisherParsedOptionsInfo/memoryCacheAccessExtendingExpiration``.
    public static func memoryCacheAccessExtendingExpiration(_ extending: ExpirationExtending) -> Self {
        setting(\.memoryCacheAccessExtendingExpiration, to: extending)
    }
    /// See ``KingfisherParsedOptionsInfo/diskCacheExpiration``.
    public static func diskCacheExpiration(_ expiration: StorageExpiration) -> Self {
        setting(\.diskCacheExpiration, to: expiration)
    }
    /// See ``KingfisherParsedOptionsInfo/diskCacheAccessExtendingExpiration``.
    public static func diskCacheAccessExtendingExpiration(_ extending: ExpirationExtending) -> Self {
        setting(\.diskCacheAccessExtendingExpiration, to: extending)
    }
    /// See ``KingfisherParsedOptionsInfo/diskStoreWriteOptions``.
    public static func diskStoreWriteOptions(_ options: Data.WritingOptions) -> Self {
        setting(\.diskStoreWriteOptions, to: options)
    }
    /// See ``KingfisherParsedOptionsInfo/processingQueue``.
    public static func processingQueue(_ queue: CallbackQueue) -> Self { setting(\.processingQueue, to: queue) }
    /// See ``KingfisherParsedOptionsInfo/alternativeSources``.
    public static func alternativeSources(_ sources: [Source]) -> Self { setting(\.alternativeSources, to: sources) }
    /// See ``KingfisherParsedOptionsInfo/refreshCached``.
    public static var refreshCached: Self { setting(\.refreshCached, to: true) }
    /// See ``KingfisherParsedOptionsInfo/refreshFailureIsError``.
    public static var refreshFailureIsError: Self { setting(\.refreshFailureIsError, to: true) }
    /// See ``KingfisherParsedOptionsInfo/respectCacheControl``.
    public static var respectCacheControl: Self { setting(\.respectCacheControl, to: true) }
    /// See ``KingfisherParsedOptionsInfo/onStaleImage``.
    public static func onStaleImage(_ block: (@Sendable (RetrieveImageResult) -> Void)?) -> Self {
        setting(\.onStaleImage, to: block)
    }
    /// See ``KingfisherParsedOptionsInfo/lowDataModeSource``.
    public static func lowDataMode(_ source: Source?) -> Self { setting(\.lowDataModeSource, to: source) }
    /// See ``KingfisherParsedOptionsInfo/retryStrategy``.
    public static func retryStrategy(_ strategy: any RetryStrategy) -> Self { setting(\.retryStrategy, to: strategy) }
    /// See ``KingfisherParsedOptionsInfo/skipFailedURLs``.
    public static var skipFailedURLs: Self { setting(\.skipFailedURLs, to: true) }
    /// See ``KingfisherParsedOptionsInfo/retryFailed``.
    public static var retryFailed: Self { setting(\.retryFailed, to: true) }
    /// See ``KingfisherParsedOptionsInfo/cacheKeyFilter``.
    public static func cacheKeyFilter(_ filter: any CacheKeyFilter) -> Self { setting(\.cacheKeyFilter, to: filter) }
    /// See ``KingfisherParsedOptionsInfo/forcedExtension``.
    public static func forcedCacheFileExtension(_ fileExtension: String?) -> Self {
        setting(\.forcedExtension, to: fileExtension)
    }
    /// See ``KingfisherParsedOptionsInfo/progressiveJPEG``.
    public static func progressiveJPEG(_ progressive: ImageProgressive) -> Self {
        setting(\.progressiveJPEG, to: progressive)
    }
    /// See ``KingfisherParsedOptionsInfo/transition``.
    public static func transition(_ transition: ImageTransition) -> Self { setting(\.transition, to: transition) }
    /// See ``KingfisherParsedOptionsInfo/forceTransition``.
    public static var forceTransition: Self { setting(\.forceTransition, to: true) }
    /// See ``KingfisherParsedOptionsInfo/keepCurrentImageWhileLoading``.
    public static var keepCurrentImageWhileLoading: Self { setting(\.keepCurrentImageWhileLoading, to: true) }
    /// See ``KingfisherParsedOptionsInfo/sizedToView``.
    public static var sizedToView: Self { setting(\.sizedToView, to: true) }
    /// See ``KingfisherParsedOptionsInfo/onFailureImage``.
    public static func onFailureImage(_ image: KFCrossPlatformImage?) -> Self {
        setting(\.onFailureImage, to: .some(image))
    }
}
