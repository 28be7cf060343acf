// The one list of options, with their meaning and defaults. Array items and builder methods only refer to these.

public import Foundation
public import KFImaging
import KFTransport

/// All options of one load.
///
/// An option is added here, as a line in `OptionItems.swift` and as a line in `KFOptionSetter.swift`; a test fails
/// until all three are there.
public struct KingfisherParsedOptionsInfo: Sendable {
    /// The cache processed images are looked up and stored in; nil means the manager's.
    public var targetCache: ImageCache?

    /// The cache unprocessed downloads are looked up and stored in; nil means the target cache.
    public var originalCache: ImageCache?

    /// The downloader; nil means the manager's.
    public var downloader: ImageDownloader?

    /// A hint for the transport, from 0 to 1.
    public var downloadPriority: Float = 0.5

    /// Ignore what the caches hold and load again.
    ///
    /// The result is still stored.
    public var forceRefresh = false

    /// Prefetching only: an image that is cached on disk alone is read into memory, too.
    ///
    /// Without it such an image stays where it is. See ``ImagePrefetcher``; loads ignore it.
    public var alsoPrefetchToMemory = false

    /// Take the image from memory or load it again; the disk is not looked at.
    public var fromMemoryCacheOrRefresh = false

    /// Keep the processed image in memory only.
    public var cacheMemoryOnly = false

    /// Where the image is looked up; an empty set is a miss. (Not in Kingfisher.)
    ///
    /// ``forceRefresh`` and ``fromMemoryCacheOrRefresh`` take layers away. What is in no layer that is asked counts as
    /// missing, also for ``onlyFromCache``.
    public var queryCacheLayers: CacheLayers = .all

    /// Where the image is stored; an empty set stores it nowhere. (Not in Kingfisher.)
    ///
    /// ``cacheMemoryOnly`` takes the disk away. With the disk alone, an image that is found there is not put in memory,
    /// and storing one removes an older one from memory.
    public var storeCacheLayers: CacheLayers = .all

    /// Where the original is looked up that the image can be made of. (Not in Kingfisher.)
    public var originalQueryCacheLayers: CacheLayers = .all

    /// Where the original is stored when a processor changes it; nil means on disk with ``cacheOriginalImage``, else
    /// nowhere. (Not in Kingfisher.)
    ///
    /// On disk are the bytes as they came. For memory the original is decoded, if the processor has not done so.
    public var originalStoreCacheLayers: CacheLayers?

    /// Complete only after the image has been stored, and report how that went in
    /// ``RetrieveImageResult/cacheStoreResult``.
    public var waitForCache = false

    /// Never load; a miss is the error ``KingfisherError/CacheErrorReason/imageNotExisting(key:)``.
    public var onlyFromCache = false

    /// Decode before delivery, off the caller's thread.
    ///
    /// Decoders on Linux always do; the option is kept for compatibility and for images that the user made.
    public var backgroundDecode = false

    /// Where completion handlers are called.
    ///
    /// Async functions ignore it and return to their caller.
    public var callbackQueue: CallbackQueue = .default

    /// The scale given to images: pixels a point.
    public var scaleFactor: CGFloat = 1

    /// Changes the request just before it is sent.
    public var requestModifier: (any AsyncImageDownloadRequestModifier)?

    /// Decides on every redirection of a download.
    public var redirectHandler: (any ImageDownloadRedirectHandler)?

    /// Changes the head of a response before its status is checked; nil means the downloader's. (Not in Kingfisher.)
    public var responseModifier: (any ImageDownloadResponseModifier)?

    /// Decrypts the bytes of a download before ``dataModifier``; nil means the downloader's. (Not in Kingfisher.)
    public var decryptor: (any ImageDataDecryptor)?

    /// Changes the bytes of a download before anything is made of them or stored.
    public var dataModifier: (any ImageDownloadDataModifier)?

    /// Called with every piece of a download as it arrives.
    ///
    /// Called in order on a thread of the transport, which must not be blocked, after the piece was appended to the
    /// task's ``SessionDataTask/mutableData``, and before data modifiers. A load that joins a transfer under way is
    /// given the pieces from then on. Loads of providers have none.
    public var onDataReceived: (@Sendable (_ task: SessionDataTask, _ data: Data) -> Void)?

    /// Makes the image out of the data.
    ///
    /// Its identifier is part of the cache key.
    public var processor: any ImageProcessor = DefaultImageProcessor.default

    /// Decode the first frame of animations only.
    public var onlyLoadFirstFrame = false

    /// Decode all frames of animations at once, not when they are shown.
    ///
    /// Animations that are too large for that are decoded when they are shown nevertheless, see
    /// `ImageDecodingLimits/maxAnimationPixelCount`.
    public var preloadAllAnimationData = false

    /// How ``processor`` treats animations.
    public var animatedProcessing: AnimatedProcessingPolicy = .firstFrame

    /// How ``processor`` treats vector images. (Not in Kingfisher.)
    public var vectorProcessing: VectorProcessingPolicy = .process

    /// Converts images into the bytes of the disk cache and back.
    public var cacheSerializer: any CacheSerializer = DefaultCacheSerializer.default

    /// Changes the delivered image.
    ///
    /// The image it returns is never stored.
    public var imageModifier: (any ImageModifier)?

    /// Store the downloaded bytes too, in ``originalCache``, when a processor changes them.
    public var cacheOriginalImage = false

    /// Store images on disk of which a part is missing (`Image.isDamaged`), and their originals; false at first.
    /// (Not in Kingfisher.)
    ///
    /// Such an image is delivered and kept in memory as any other, but not on disk: its download may have been cut
    /// short in a way that HTTP does not show, and then the next download brings the whole image. Set this where the
    /// servers have nothing better. Without effect on what is stored without being decoded (a prefetch to
    /// ``PrefetchCoordinator/Destination/disk``, the files of a live photo) and on images that a program stores itself.
    public var cacheDamagedImages = false

    /// Read the disk cache on the caller's thread, so that a disk hit is delivered before the call returns.
    public var loadDiskFileSynchronously = false

    /// How long the image stays in memory; nil means the value of the cache's configuration.
    public var memoryCacheExpiration: StorageExpiration?

    /// The effect of a memory hit on the entry's expiration.
    public var memoryCacheAccessExtendingExpiration: ExpirationExtending = .cacheTime

    /// How long the image stays on disk; nil means the value of the cache's configuration.
    public var diskCacheExpiration: StorageExpiration?

    /// The effect of a disk hit on the entry's expiration.
    public var diskCacheAccessExtendingExpiration: ExpirationExtending = .cacheTime

    /// How the image is written to disk.
    ///
    /// Files are always written atomically; with `.withoutOverwriting` an existing entry is kept, and is an error.
    public var diskStoreWriteOptions: Data.WritingOptions = []

    /// Where processors run; nil means the library's own threads for pixel work.
    public var processingQueue: CallbackQueue?

    /// Tried one after the other when the source fails.
    public var alternativeSources: [Source]?

    /// Loaded instead while the downloader's network is one to save data on (``ImageDownloader/isConstrained``).
    ///
    /// Only when there is something to download: images in the caches are delivered as usual.
    public var lowDataModeSource: Source?

    /// Whether the server is asked about an image that is cached, however long it may still be used; false at first.
    ///
    /// The request is conditional if the response that is cached had a validator. A response of 304 makes the cached
    /// image the result, and renews how long it stays cached; another one replaces it. When the request fails, the
    /// cached image is the result, too (with ``respectCacheControl`` if the server allows that).
    /// ``RetrieveImageResult/revalidation`` says which of these it was, and ``onStaleImage`` shows the cached image
    /// before. For network sources; without effect with ``forceRefresh`` and ``onlyFromCache``. (Not in Kingfisher.)
    public var refreshCached = false

    /// Whether a failed request of ``refreshCached`` is an error even if there is a cached image. (Not in Kingfisher.)
    public var refreshFailureIsError = false

    /// Whether an image is cached and used as its server says (RFC 9111, RFC 5861); false at first, as in Kingfisher:
    /// then images stay for as long as the cache says.
    ///
    /// `max-age`, `Expires`, `Age`, `no-cache`, `must-revalidate`, `stale-while-revalidate` and `stale-if-error` count,
    /// and what is `no-store` is not stored. What the server says nothing about stays for as long as the cache says. An
    /// image that is not fresh any more is asked about as with ``refreshCached``; when the server cannot be reached, it
    /// is used unless that is forbidden. Using an image does not prolong its freshness.
    ///
    /// Where redirects led to an image, it may be stored and used as long as each of them allows. One that does not say
    /// how long is over at once, so the server is asked again, unless it is permanent (301, 308): that one lasts.
    ///
    /// When the response that is cached has a field `Vary`, it is used for requests that have the same in the fields it
    /// names, and replaced by the response to others. Loads with a request modifier do not take such an image from
    /// memory. Without modifiers, the requests for one cache are taken to be alike. See ``ImageCache/isShared`` for
    /// servers. (Not in Kingfisher.)
    public var respectCacheControl = false

    /// Called with the cached image when the server is asked about it, on the callback queue, before the completion.
    ///
    /// Not called for a load that joins another one of the same after that. (Not in Kingfisher.)
    public var onStaleImage: (@Sendable (RetrieveImageResult) -> Void)?

    /// Decides whether a failed load is tried again.
    public var retryStrategy: (any RetryStrategy)?

    /// Fail at once when the URL has failed for good not long ago: neither the caches nor the server are asked.
    ///
    /// The error is ``KingfisherError/RequestErrorReason/urlBlocked(url:)``. Which failures count is the decision of
    /// ``KingfisherManagerDelegate/manager(_:shouldBlock:after:)``; they are kept in ``KingfisherManager/failedURLs``.
    /// Alternative sources are tried as after any error. Providers and live photos do not count. (Not in Kingfisher.)
    public var skipFailedURLs = false

    /// Load the URL even if it has failed for good. (Not in Kingfisher.)
    ///
    /// A success makes it a URL like any other again.
    public var retryFailed = false

    /// Makes the cache key of a download from its URL; nil means the URL itself. (Not in Kingfisher.)
    ///
    /// At first that of ``KingfisherManager/cacheKeyFilter``.
    public var cacheKeyFilter: (any CacheKeyFilter)?

    /// The extension of the file in the disk cache, instead of the configured one.
    public var forcedExtension: String?

    /// Show a progressive JPEG while it arrives; nil waits for all of it.
    public var progressiveJPEG: ImageProgressive?

    /// How a view shows the image when it was not in a cache.
    public var transition: ImageTransition = .none

    /// Use ``transition`` for images from a cache, too.
    public var forceTransition = false

    /// How long connecting may take, in seconds; nil means the downloader's value.
    public var connectTimeout: TimeInterval?

    /// How long the server may send nothing, in seconds; nil means the downloader's value.
    public var downloadTimeout: TimeInterval?

    /// How long the whole transfer may take, in seconds, including redirects but not the time in the queue; nil means
    /// the downloader's value.
    public var totalTimeout: TimeInterval?

    /// Keep the image that a view shows until the new one is there, instead of showing the placeholder.
    public var keepCurrentImageWhileLoading = false

    /// Decode the image at the size of the view it is loaded into, in pixels, instead of its own. (Not in Kingfisher.)
    ///
    /// For image views and ``KFImage``; without effect elsewhere, and for views whose content mode is
    /// ``KFCrossPlatformContentMode/center``, as that of a ``KFImage`` is unless it is
    /// ``KFImage/resizable(_:)``. The load waits for the first layout if the view has no size yet. Each side
    /// is rounded up to one of four sizes in each power of two, and the image is never larger than the original. When
    /// the view grows beyond what it shows, or moves to a screen with another scale, the image is loaded again and the
    /// present one stays until then; the handlers are not called once more. A view that shrinks keeps its image.
    ///
    /// The image is made by a ``ThumbnailImageProcessor`` of that size before ``processor`` runs, and its identifier is
    /// part of the key. The original of a download is kept on disk, as with ``cacheOriginalImage``, so that another
    /// size is made of that. A larger image of the same source in memory is shown until the right one is there.
    public var sizedToView = false

    /// The image that a view shows when loading fails, none with `.some(nil)`; nil leaves the placeholder.
    public var onFailureImage: KFCrossPlatformImage??

    /// The pipeline's own part, for the manager, the downloader and the cache that carry the load out.
    var hooks = LoadHooks()

    /// Reads a list of options; nil or an empty list gives the defaults.
    /// - Parameter info: The options; later ones override earlier ones.
    public init(_ info: KingfisherOptionsInfo? = nil) {
        for item in info ?? [] { item.apply(&self) }
        originalCache = originalCache ?? targetCache
    }
}

extension KingfisherParsedOptionsInfo {
    /// Where the image is looked up, if it is.
    var layersToQuery: CacheLayers {
        fromMemoryCacheOrRefresh ? queryCacheLayers.intersection(.memory) : queryCacheLayers
    }

    /// Where the image is stored.
    var layersToStore: CacheLayers { cacheMemoryOnly ? storeCacheLayers.intersection(.memory) : storeCacheLayers }

    /// Where the original is stored: nowhere, if it is the image.
    var layersToStoreForOriginal: CacheLayers {
        guard !processor.identifier.isEmpty else { return [] }
        return originalStoreCacheLayers ?? (cacheOriginalImage ? .disk : [])
    }
}

extension KingfisherOptionsInfo {
    /// No options.
    static let empty: KingfisherOptionsInfo = []
}
