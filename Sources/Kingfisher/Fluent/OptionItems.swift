// The options as elements of an array: one line each. Their meaning is documented at the properties.

public import Foundation
public import KFImaging

extension KingfisherOptionsInfoItem {
    /// See ``KingfisherParsedOptionsInfo/targetCache``.
    public static func targetCache(_ cache: ImageCache) -> Self { Self { $0.targetCache = cache } }
    /// See ``KingfisherParsedOptionsInfo/originalCache``.
    public static func originalCache(_ cache: ImageCache) -> Self { Self { $0.originalCache = cache } }
    /// See ``KingfisherParsedOptionsInfo/downloader``.
    public static func downloader(_ downloader: ImageDownloader) -> Self { Self { $0.downloader = downloader } }
    /// See ``KingfisherParsedOptionsInfo/downloadPriority``.
    public static func downloadPriority(_ priority: Float) -> Self { Self { $0.downloadPriority = priority } }
    /// See ``KingfisherParsedOptionsInfo/connectTimeout``.
    public static func connectTimeout(_ seconds: TimeInterval) -> Self { Self { $0.connectTimeout = seconds } }
    /// See ``KingfisherParsedOptionsInfo/downloadTimeout``.
    public static func downloadTimeout(_ seconds: TimeInterval) -> Self { Self { $0.downloadTimeout = seconds } }
    /// See ``KingfisherParsedOptionsInfo/totalTimeout``.
    public static func totalTimeout(_ seconds: TimeInterval) -> Self { Self { $0.totalTimeout = seconds } }
    /// See ``KingfisherParsedOptionsInfo/forceRefresh``.
    public static var forceRefresh: Self { Self { $0.forceRefresh = true } }
    /// See ``KingfisherParsedOptionsInfo/alsoPrefetchToMemory``.
    public static var alsoPrefetchToMemory: Self { Self { $0.alsoPrefetchToMemory = true } }
    /// See ``KingfisherParsedOptionsInfo/fromMemoryCacheOrRefresh``.
    public static var fromMemoryCacheOrRefresh: Self { Self { $0.fromMemoryCacheOrRefresh = true } }
    /// See ``KingfisherParsedOptionsInfo/cacheMemoryOnly``.
    public static var cacheMemoryOnly: Self { Self { $0.cacheMemoryOnly = true } }
    /// See ``KingfisherParsedOptionsInfo/queryCacheLayers``.
    public static func queryCacheLayers(_ layers: CacheLayers) -> Self { Self { $0.queryCacheLayers = layers } }
    /// See ``KingfisherParsedOptionsInfo/storeCacheLayers``.
    public static func storeCacheLayers(_ layers: CacheLayers) -> Self { Self { $0.storeCacheLayers = layers } }
    /// See ``KingfisherParsedOptionsInfo/originalQueryCacheLayers``.
    public static func originalQueryCacheLayers(_ layers: CacheLayers) -> Self {
        Self { $0.originalQueryCacheLayers = layers }
    }
    /// See ``KingfisherParsedOptionsInfo/originalStoreCacheLayers``.
    public static func originalStoreCacheLayers(_ layers: CacheLayers) -> Self {
        Self { $0.originalStoreCacheLayers = layers }
    }
    /// See ``KingfisherParsedOptionsInfo/waitForCache``.
    public static var waitForCache: Self { Self { $0.waitForCache = true } }
    /// See ``KingfisherParsedOptionsInfo/onlyFromCache``.
    public static var onlyFromCache: Self { Self { $0.onlyFromCache = true } }
    /// See ``KingfisherParsedOptionsInfo/backgroundDecode``.
    public static var backgroundDecode: Self { Self { $0.backgroundDecode = true } }
    /// See ``KingfisherParsedOptionsInfo/callbackQueue``.
    public static func callbackQueue(_ queue: CallbackQueue) -> Self { Self { $0.callbackQueue = queue } }
    /// See ``KingfisherParsedOptionsInfo/scaleFactor``.
    public static func scaleFactor(_ factor: CGFloat) -> Self { Self { $0.scaleFactor = factor } }
    /// See ``KingfisherParsedOptionsInfo/requestModifier``.
    public static func requestModifier(_ modifier: any AsyncImageDownloadRequestModifier) -> Self {
        Self { $0.requestModifier = modifier }
    }
    /// See ``KingfisherParsedOptionsInfo/redirectHandler``.
    public static func redirectHandler(_ handler: any ImageDownloadRedirectHandler) -> Self {
        Self { $0.redirectHandler = handler }
    }
    /// See ``KingfisherParsedOptionsInfo/responseModifier``.
    public static func responseModifier(_ modifier: any ImageDownloadResponseModifier) -> Self {
        Self { $0.responseModifier = modifier }
    }
    /// See ``KingfisherParsedOptionsInfo/decryptor``.
    public static func decryptor(_ decryptor: any ImageDataDecryptor) -> Self { Self { $0.decryptor = decryptor } }
    /// See ``KingfisherParsedOptionsInfo/dataModifier``.
    public static func dataModifier(_ modifier: any ImageDownloadDataModifier) -> Self {
        Self { $0.dataModifier = modifier }
    }
    /// See ``KingfisherParsedOptionsInfo/onDataReceived``.
    public static func onDataReceived(_ block: @escaping @Sendable (SessionDataTask, Data) -> Void) -> Self {
        Self { $0.onDataReceived = block }
    }
    /// Accepted and without effect: here the cache type is always found without blocking the calling thread.
    public static var asyncCacheTypeCheck: Self { Self { _ in } }
    /// See ``KingfisherParsedOptionsInfo/processor``.
    public static func processor(_ processor: any ImageProcessor) -> Self { Self { $0.processor = processor } }
    /// See ``KingfisherParsedOptionsInfo/onlyLoadFirstFrame``.
    public static var onlyLoadFirstFrame: Self { Self { $0.onlyLoadFirstFrame = true } }
    /// See ``KingfisherParsedOptionsInfo/preloadAllAnimationData``.
    public static var preloadAllAnimationData: Self { Self { $0.preloadAllAnimationData = true } }
    /// See ``KingfisherParsedOptionsInfo/decodingLimits``.
    public static func decodingLimits(_ limits: ImageDecodingLimits) -> Self { Self { $0.decodingLimits = limits } }
    /// See ``KingfisherParsedOptionsInfo/animatedProcessing``.
    public static func animatedProcessing(_ policy: AnimatedProcessingPolicy) -> Self {
        Self { $0.animatedProcessing = policy }
    }
    /// See ``KingfisherParsedOptionsInfo/vectorProcessing``.
    public static func vectorProcessing(_ policy: VectorProcessingPolicy) -> Self {
        Self { $0.vectorProcessing = policy }
    }
    /// See ``KingfisherParsedOptionsInfo/cacheSerializer``.
    public static func cacheSerializer(_ serializer: any CacheSerializer) -> Self {
        Self { $0.cacheSerializer = serializer }
    }
    /// See ``KingfisherParsedOptionsInfo/imageModifier``.
    public static func imageModifier(_ modifier: any ImageModifier) -> Self { Self { $0.imageModifier = modifier } }
    /// See ``KingfisherParsedOptionsInfo/cacheOriginalImage``.
    public static var cacheOriginalImage: Self { Self { $0.cacheOriginalImage = true } }
    /// See ``KingfisherParsedOptionsInfo/cacheDamagedImages``.
    public static var cacheDamagedImages: Self { Self { $0.cacheDamagedImages = true } }
    /// See ``KingfisherParsedOptionsInfo/loadDiskFileSynchronously``.
    public static var loadDiskFileSynchronously: Self { Self { $0.loadDiskFileSynchronously = true } }
    /// See ``KingfisherParsedOptionsInfo/memoryCacheExpiration``.
    public static func memoryCacheExpiration(_ expiration: StorageExpiration) -> Self {
        Self { $0.memoryCacheExpiration = expiration }
    }
    /// See ``KingfisherParsedOptionsInfo/memoryCacheAccessExtendingExpiration``.
    public static func memoryCacheAccessExtendingExpiration(_ extending: ExpirationExtending) -> Self {
        Self { $0.memoryCacheAccessExtendingExpiration = extending }
    }
    /// See ``KingfisherParsedOptionsInfo/diskCacheExpiration``.
    public static func diskCacheExpiration(_ expiration: StorageExpiration) -> Self {
        Self { $0.diskCacheExpiration = expiration }
    }
    /// See ``KingfisherParsedOptionsInfo/diskCacheAccessExtendingExpiration``.
    public static func diskCacheAccessExtendingExpiration(_ extending: ExpirationExtending) -> Self {
        Self { $0.diskCacheAccessExtendingExpiration = extending }
    }
    /// See ``KingfisherParsedOptionsInfo/diskStoreWriteOptions``.
    public static func diskStoreWriteOptions(_ options: Data.WritingOptions) -> Self {
        Self { $0.diskStoreWriteOptions = options }
    }
    /// See ``KingfisherParsedOptionsInfo/processingQueue``.
    public static func processingQueue(_ queue: CallbackQueue) -> Self { Self { $0.processingQueue = queue } }
    /// See ``KingfisherParsedOptionsInfo/alternativeSources``.
    public static func alternativeSources(_ sources: [Source]) -> Self { Self { $0.alternativeSources = sources } }
    /// See ``KingfisherParsedOptionsInfo/refreshCached``.
    public static var refreshCached: Self { Self { $0.refreshCached = true } }
    /// See ``KingfisherParsedOptionsInfo/refreshFailureIsError``.
    public static var refreshFailureIsError: Self { Self { $0.refreshFailureIsError = true } }
    /// See ``KingfisherParsedOptionsInfo/respectCacheControl``.
    public static var respectCacheControl: Self { Self { $0.respectCacheControl = true } }
    /// See ``KingfisherParsedOptionsInfo/onStaleImage``.
    public static func onStaleImage(_ block: (@Sendable (RetrieveImageResult) -> Void)?) -> Self {
        Self { $0.onStaleImage = block }
    }
    /// See ``KingfisherParsedOptionsInfo/lowDataModeSource``.
    public static func lowDataMode(_ source: Source?) -> Self { Self { $0.lowDataModeSource = source } }
    /// See ``KingfisherParsedOptionsInfo/retryStrategy``.
    public static func retryStrategy(_ strategy: any RetryStrategy) -> Self { Self { $0.retryStrategy = strategy } }
    /// See ``KingfisherParsedOptionsInfo/skipFailedURLs``.
    public static var skipFailedURLs: Self { Self { $0.skipFailedURLs = true } }
    /// See ``KingfisherParsedOptionsInfo/retryFailed``.
    public static var retryFailed: Self { Self { $0.retryFailed = true } }
    /// See ``KingfisherParsedOptionsInfo/cacheKeyFilter``.
    public static func cacheKeyFilter(_ filter: any CacheKeyFilter) -> Self { Self { $0.cacheKeyFilter = filter } }
    /// See ``KingfisherParsedOptionsInfo/cacheTags``.
    public static func cacheTags(_ tags: Set<String>) -> Self { Self { $0.cacheTags = tags } }
    /// See ``KingfisherParsedOptionsInfo/forcedExtension``.
    public static func forcedCacheFileExtension(_ fileExtension: String?) -> Self {
        Self { $0.forcedExtension = fileExtension }
    }
    /// See ``KingfisherParsedOptionsInfo/progressiveJPEG``.
    public static func progressiveJPEG(_ progressive: ImageProgressive) -> Self {
        Self { $0.progressiveJPEG = progressive }
    }
    /// See ``KingfisherParsedOptionsInfo/transition``.
    public static func transition(_ transition: ImageTransition) -> Self { Self { $0.transition = transition } }
    /// See ``KingfisherParsedOptionsInfo/forceTransition``.
    public static var forceTransition: Self { Self { $0.forceTransition = true } }
    /// See ``KingfisherParsedOptionsInfo/keepCurrentImageWhileLoading``.
    public static var keepCurrentImageWhileLoading: Self { Self { $0.keepCurrentImageWhileLoading = true } }
    /// See ``KingfisherParsedOptionsInfo/sizedToView``.
    public static var sizedToView: Self { Self { $0.sizedToView = true } }
    /// See ``KingfisherParsedOptionsInfo/onFailureImage``.
    public static func onFailureImage(_ image: KFCrossPlatformImage?) -> Self {
        Self { $0.onFailureImage = .some(image) }
    }
}
