// The options as methods that can be chained: one line each. Their meaning is documented at the properties in
// Options.swift.

public import Foundation
public import FoundationNetworking
public import KFImaging

/// Something whose options can be set by chained methods.
public protocol KFOptionSetter {
    /// The options.
    var options: KingfisherParsedOptionsInfo { get set }
    /// The handlers that are called while the image is loaded, and at the end.
    var handlers: KFLoadHandlers { get set }

    /// What a chained method changes and returns; by default a copy with handlers of its own.
    func copyForMutation() -> Self
}

extension KFOptionSetter {
    /// A copy with handlers of its own.
    ///
    /// - Returns: The copy.
    public func copyForMutation() -> Self {
        var copy = self
        copy.handlers = handlers.copy()
        return copy
    }

    func with<Value>(_ option: WritableKeyPath<KingfisherParsedOptionsInfo, Value>, _ value: Value) -> Self {
        var copy = copyForMutation()
        copy.options[keyPath: option] = value
        return copy
    }
}

extension KFOptionSetter {
    /// See ``KingfisherParsedOptionsInfo/targetCache``.
    public func targetCache(_ cache: ImageCache) -> Self { with(\.targetCache, cache) }
    /// See ``KingfisherParsedOptionsInfo/originalCache``.
    public func originalCache(_ cache: ImageCache) -> Self { with(\.originalCache, cache) }
    /// See ``KingfisherParsedOptionsInfo/downloader``.
    public func downloader(_ downloader: ImageDownloader) -> Self { with(\.downloader, downloader) }
    /// See ``KingfisherParsedOptionsInfo/downloadPriority``.
    public func downloadPriority(_ priority: Float) -> Self { with(\.downloadPriority, priority) }

    /// See ``KingfisherParsedOptionsInfo/connectTimeout``.
    public func connectTimeout(_ seconds: TimeInterval) -> Self { with(\.connectTimeout, seconds) }

    /// See ``KingfisherParsedOptionsInfo/downloadTimeout``.
    public func downloadTimeout(_ seconds: TimeInterval) -> Self { with(\.downloadTimeout, seconds) }

    /// See ``KingfisherParsedOptionsInfo/totalTimeout``.
    public func totalTimeout(_ seconds: TimeInterval) -> Self { with(\.totalTimeout, seconds) }
    /// See ``KingfisherParsedOptionsInfo/forceRefresh``.
    public func forceRefresh(_ enabled: Bool = true) -> Self { with(\.forceRefresh, enabled) }
    /// See ``KingfisherParsedOptionsInfo/alsoPrefetchToMemory``.
    public func alsoPrefetchToMemory(_ enabled: Bool = true) -> Self { with(\.alsoPrefetchToMemory, enabled) }
    /// See ``KingfisherParsedOptionsInfo/fromMemoryCacheOrRefresh``.
    public func fromMemoryCacheOrRefresh(_ enabled: Bool = true) -> Self { with(\.fromMemoryCacheOrRefresh, enabled) }
    /// See ``KingfisherParsedOptionsInfo/cacheMemoryOnly``.
    public func cacheMemoryOnly(_ enabled: Bool = true) -> Self { with(\.cacheMemoryOnly, enabled) }
    /// See ``KingfisherParsedOptionsInfo/queryCacheLayers``.
    public func queryCacheLayers(_ layers: CacheLayers) -> Self { with(\.queryCacheLayers, layers) }
    /// See ``KingfisherParsedOptionsInfo/storeCacheLayers``.
    public func storeCacheLayers(_ layers: CacheLayers) -> Self { with(\.storeCacheLayers, layers) }
    /// See ``KingfisherParsedOptionsInfo/originalQueryCacheLayers``.
    public func originalQueryCacheLayers(_ layers: CacheLayers) -> Self { with(\.originalQueryCacheLayers, layers) }
    /// See ``KingfisherParsedOptionsInfo/originalStoreCacheLayers``.
    public func originalStoreCacheLayers(_ layers: CacheLayers?) -> Self { with(\.originalStoreCacheLayers, layers) }
    /// See ``KingfisherParsedOptionsInfo/waitForCache``.
    public func waitForCache(_ enabled: Bool = true) -> Self { with(\.waitForCache, enabled) }
    /// See ``KingfisherParsedOptionsInfo/onlyFromCache``.
    public func onlyFromCache(_ enabled: Bool = true) -> Self { with(\.onlyFromCache, enabled) }
    /// See ``KingfisherParsedOptionsInfo/backgroundDecode``.
    public func backgroundDecode(_ enabled: Bool = true) -> Self { with(\.backgroundDecode, enabled) }
    /// See ``KingfisherParsedOptionsInfo/callbackQueue``.
    public func callbackQueue(_ queue: CallbackQueue) -> Self { with(\.callbackQueue, queue) }
    /// See ``KingfisherParsedOptionsInfo/scaleFactor``.
    public func scaleFactor(_ factor: CGFloat) -> Self { with(\.scaleFactor, factor) }
    /// See ``KingfisherParsedOptionsInfo/requestModifier``.
    public func requestModifier(_ modifier: any AsyncImageDownloadRequestModifier) -> Self {
        with(\.requestModifier, modifier)
    }
    /// See ``KingfisherParsedOptionsInfo/requestModifier``.
    public func requestModifier(_ modifyBlock: @escaping @Sendable (inout URLRequest) -> Void) -> Self {
        with(
            \.requestModifier,
            AnyModifier {
                var request = $0
                modifyBlock(&request)
                return request
            }
        )
    }
    /// See ``KingfisherParsedOptionsInfo/redirectHandler``.
    public func redirectHandler(_ handler: any ImageDownloadRedirectHandler) -> Self {
        with(\.redirectHandler, handler)
    }
    /// See ``KingfisherParsedOptionsInfo/redirectHandler``; the block calls the payload's handler.
    public func redirectHandler(_ block: @escaping @Sendable (KF.RedirectPayload) -> Void) -> Self {
        with(
            \.redirectHandler,
            AnyRedirectHandler { task, response, request, completionHandler in
                block(
                    KF.RedirectPayload(
                        task: task,
                        response: response,
                        newRequest: request,
                        completionHandler: completionHandler
                    )
                )
            }
        )
    }
    /// See ``KingfisherParsedOptionsInfo/responseModifier``.
    public func responseModifier(_ modifier: (any ImageDownloadResponseModifier)?) -> Self {
        with(\.responseModifier, modifier)
    }
    /// See ``KingfisherParsedOptionsInfo/decryptor``.
    public func decryptor(_ decryptor: (any ImageDataDecryptor)?) -> Self { with(\.decryptor, decryptor) }
    /// See ``KingfisherParsedOptionsInfo/dataModifier``.
    public func dataModifier(_ modifier: (any ImageDownloadDataModifier)?) -> Self { with(\.dataModifier, modifier) }
    /// See ``KingfisherParsedOptionsInfo/onDataReceived``.
    public func onDataReceived(_ block: (@Sendable (SessionDataTask, Data) -> Void)?) -> Self {
        with(\.onDataReceived, block)
    }
    /// See ``KingfisherParsedOptionsInfo/processor``.
    public func setProcessor(_ processor: any ImageProcessor) -> Self { with(\.processor, processor) }
    /// See ``KingfisherParsedOptionsInfo/onlyLoadFirstFrame``.
    public func onlyLoadFirstFrame(_ enabled: Bool = true) -> Self { with(\.onlyLoadFirstFrame, enabled) }
    /// See ``KingfisherParsedOptionsInfo/preloadAllAnimationData``.
    public func preloadAllAnimationData(_ enabled: Bool = true) -> Self { with(\.preloadAllAnimationData, enabled) }
    /// See ``KingfisherParsedOptionsInfo/decodingLimits``; nil means those of the process.
    public func decodingLimits(_ limits: ImageDecodingLimits?) -> Self { with(\.decodingLimits, limits) }
    /// See ``KingfisherParsedOptionsInfo/animatedProcessing``.
    public func animatedProcessing(_ policy: AnimatedProcessingPolicy) -> Self { with(\.animatedProcessing, policy) }
    /// See ``KingfisherParsedOptionsInfo/vectorProcessing``.
    public func vectorProcessing(_ policy: VectorProcessingPolicy) -> Self { with(\.vectorProcessing, policy) }
    /// See ``KingfisherParsedOptionsInfo/cacheSerializer``.
    public func serialize(by cacheSerializer: any CacheSerializer) -> Self { with(\.cacheSerializer, cacheSerializer) }
    /// See ``KingfisherParsedOptionsInfo/imageModifier``.
    public func imageModifier(_ modifier: (any ImageModifier)?) -> Self { with(\.imageModifier, modifier) }
    /// See ``KingfisherParsedOptionsInfo/cacheOriginalImage``.
    public func cacheOriginalImage(_ enabled: Bool = true) -> Self { with(\.cacheOriginalImage, enabled) }
    /// See ``KingfisherParsedOptionsInfo/cacheDamagedImages``.
    public func cacheDamagedImages(_ enabled: Bool = true) -> Self { with(\.cacheDamagedImages, enabled) }
    /// See ``KingfisherParsedOptionsInfo/loadDiskFileSynchronously``.
    public func loadDiskFileSynchronously(_ enabled: Bool = true) -> Self { with(\.loadDiskFileSynchronously, enabled) }
    /// See ``KingfisherParsedOptionsInfo/memoryCacheExpiration``.
    public func memoryCacheExpiration(_ expiration: StorageExpiration?) -> Self {
        with(\.memoryCacheExpiration, expiration)
    }
    /// See ``KingfisherParsedOptionsInfo/memoryCacheAccessExtendingExpiration``.
    public func memoryCacheAccessExtending(_ extending: ExpirationExtending) -> Self {
        with(\.memoryCacheAccessExtendingExpiration, extending)
    }
    /// See ``KingfisherParsedOptionsInfo/diskCacheExpiration``.
    public func diskCacheExpiration(_ expiration: StorageExpiration?) -> Self {
        with(\.diskCacheExpiration, expiration)
    }
    /// See ``KingfisherParsedOptionsInfo/diskCacheAccessExtendingExpiration``.
    public func diskCacheAccessExtending(_ extending: ExpirationExtending) -> Self {
        with(\.diskCacheAccessExtendingExpiration, extending)
    }
    /// See ``KingfisherParsedOptionsInfo/processingQueue``.
    public func processingQueue(_ queue: CallbackQueue?) -> Self { with(\.processingQueue, queue) }
    /// See ``KingfisherParsedOptionsInfo/alternativeSources``.
    public func alternativeSources(_ sources: [Source]?) -> Self { with(\.alternativeSources, sources) }
    /// See ``KingfisherParsedOptionsInfo/refreshCached``.
    public func refreshCached(_ enabled: Bool = true) -> Self { with(\.refreshCached, enabled) }
    /// See ``KingfisherParsedOptionsInfo/refreshFailureIsError``.
    public func refreshFailureIsError(_ enabled: Bool = true) -> Self { with(\.refreshFailureIsError, enabled) }
    /// See ``KingfisherParsedOptionsInfo/respectCacheControl``.
    public func respectCacheControl(_ enabled: Bool = true) -> Self { with(\.respectCacheControl, enabled) }
    /// See ``KingfisherParsedOptionsInfo/onStaleImage``.
    public func onStaleImage(_ block: (@Sendable (RetrieveImageResult) -> Void)?) -> Self {
        with(\.onStaleImage, block)
    }
    /// See ``KingfisherParsedOptionsInfo/lowDataModeSource``.
    public func lowDataModeSource(_ source: Source?) -> Self { with(\.lowDataModeSource, source) }
    /// See ``KingfisherParsedOptionsInfo/retryStrategy``.
    public func retry(_ strategy: (any RetryStrategy)?) -> Self { with(\.retryStrategy, strategy) }
    /// See ``KingfisherParsedOptionsInfo/skipFailedURLs``.
    public func skipFailedURLs(_ enabled: Bool = true) -> Self { with(\.skipFailedURLs, enabled) }
    /// See ``KingfisherParsedOptionsInfo/retryFailed``.
    public func retryFailed(_ enabled: Bool = true) -> Self { with(\.retryFailed, enabled) }
    /// See ``KingfisherParsedOptionsInfo/cacheKeyFilter``.
    public func cacheKeyFilter(_ filter: (any CacheKeyFilter)?) -> Self { with(\.cacheKeyFilter, filter) }
    /// See ``KingfisherParsedOptionsInfo/diskStoreWriteOptions``.
    public func diskStoreWriteOptions(_ writingOptions: Data.WritingOptions) -> Self {
        with(\.diskStoreWriteOptions, writingOptions)
    }
    /// See ``KingfisherParsedOptionsInfo/cacheTags``.
    public func cacheTags(_ tags: Set<String>) -> Self { with(\.cacheTags, tags) }
    /// See ``KingfisherParsedOptionsInfo/forcedExtension``.
    public func forcedCacheFileExtension(_ fileExtension: String?) -> Self { with(\.forcedExtension, fileExtension) }
    /// See ``KingfisherParsedOptionsInfo/progressiveJPEG``.
    public func progressiveJPEG(_ progressive: ImageProgressive? = .init()) -> Self {
        with(\.progressiveJPEG, progressive)
    }
    /// See ``KingfisherParsedOptionsInfo/transition``.
    public func transition(_ transition: ImageTransition) -> Self { with(\.transition, transition) }
    /// A transition that fades the old image into the new one, within so many seconds.
    public func fade(duration: TimeInterval) -> Self { with(\.transition, .fade(duration)) }
    /// See ``KingfisherParsedOptionsInfo/forceTransition``.
    public func forceTransition(_ enabled: Bool = true) -> Self { with(\.forceTransition, enabled) }
    /// See ``KingfisherParsedOptionsInfo/keepCurrentImageWhileLoading``.
    public func keepCurrentImageWhileLoading(_ enabled: Bool = true) -> Self {
        with(\.keepCurrentImageWhileLoading, enabled)
    }
    /// See ``KingfisherParsedOptionsInfo/sizedToView``.
    public func sizedToView(_ enabled: Bool = true) -> Self { with(\.sizedToView, enabled) }
    /// See ``KingfisherParsedOptionsInfo/onFailureImage``; nil shows none.
    public func onFailureImage(_ image: KFCrossPlatformImage?) -> Self { with(\.onFailureImage, .some(image)) }
}
