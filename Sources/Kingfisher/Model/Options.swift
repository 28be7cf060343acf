// The options of a load that every layer knows, with their meaning and defaults; and how each layer adds its own: a
// key, and a property of the options that reads and writes under it.

public import Foundation
import KFImaging

/// All options of one load.
///
/// What only one layer knows is declared there: `CacheOptions.swift`, `NetworkOptions.swift`, `RetryOptions.swift`,
/// `LoadOptions.swift`, `ViewOptions.swift`. An option has a line in `OptionItems.swift` and one in
/// `KFOptionSetter.swift`, too; a test fails until they are there.
public struct KingfisherParsedOptionsInfo: Sendable {
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
    ///
    /// That needs a callback queue that allows it (the main queue on the main thread, or ``CallbackQueue/untouch``). A
    /// load that misses, fails, or has to process the image ends after the call has returned, as without the option. A
    /// cache's own look-up has nothing left to do after a miss, and reports that inside the call, too.
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

    /// Whether the server is asked about an image that is cached, however long it may still be used; false at first.
    ///
    /// The request is conditional if the response that is cached had a validator. A response of 304 makes the cached
    /// image the result, and renews how long it stays cached; another one replaces it. When the request fails, the
    /// cached image is the result, too (with ``respectCacheControl`` if the server allows that).
    /// ``RetrieveImageResult/revalidation`` says which of these it was, and ``onStaleImage`` gives the cached image
    /// before; a view shows it until then, without a transition. For network sources; without effect with
    /// ``forceRefresh`` and ``onlyFromCache``. (Not in Kingfisher.)
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

    /// The options that their layers declare.
    private var keyed = KeyedOptions()

    /// The defaults.
    ///
    /// `init(_:)`, which reads a list, is in `CacheOptions.swift`.
    public init() {}

    /// The value of an option that a layer declares; nil if it is not set.
    subscript<Key: OptionKey>(key: Key.Type) -> Key.Value? {
        get { keyed[key] }
        set { keyed[key] = newValue }
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

    /// How images are made of data, with numbers that images would replace replaced: loads are shared by it.
    var imageCreatingOptions: ImageCreatingOptions {
        ImageCreatingOptions(
            scale: scaleFactor,
            preloadAll: preloadAllAnimationData,
            onlyFirstFrame: onlyLoadFirstFrame
        ).sanitized
    }
}

/// A list of options.
///
/// Later ones override earlier ones.
public typealias KingfisherOptionsInfo = [KingfisherOptionsInfoItem]

/// One option, as an element of a list: a change of the options.
///
/// `OptionItems.swift` has them all.
public struct KingfisherOptionsInfoItem: Sendable {
    let apply: @Sendable (inout KingfisherParsedOptionsInfo) -> Void
}

extension KingfisherOptionsInfo {
    /// No options.
    static let empty: KingfisherOptionsInfo = []
}

extension KingfisherParsedOptionsInfo {
    private enum ImageModifierKey: OptionKey { typealias Value = any ImageModifier }

    /// Changes the delivered image.
    ///
    /// The image it returns is never stored.
    public var imageModifier: (any ImageModifier)? {
        get { self[ImageModifierKey.self] }
        set { self[ImageModifierKey.self] = newValue }
    }

    private enum ProcessingQueueKey: OptionKey { typealias Value = CallbackQueue }

    /// Where processors run; nil means the library's own threads for pixel work.
    public var processingQueue: CallbackQueue? {
        get { self[ProcessingQueueKey.self] }
        set { self[ProcessingQueueKey.self] = newValue }
    }
}

/// The key of an option that is declared by the layer it is for; the option has no value until it is set.
///
/// ```swift
/// extension KingfisherParsedOptionsInfo {
///     private enum Downloader: OptionKey { typealias Value = ImageDownloader }
///
///     public var downloader: ImageDownloader? {
///         get { self[Downloader.self] }
///         set { self[Downloader.self] = newValue }
///     }
/// }
/// ```
///
/// Options that most loads read, and whose values any layer knows, are stored properties of the options instead.
protocol OptionKey {
    /// The type of the option.
    associatedtype Value: Sendable
}

/// The values of the keys that are set.
///
/// A load sets few, so they are searched one by one; a copy is one reference.
struct KeyedOptions: Sendable {
    private struct Entry: Sendable {
        let key: ObjectIdentifier
        let box: any AnyObject & Sendable
    }

    private final class Box<Value: Sendable>: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private var entries: [Entry] = []

    /// The value of a key, nil if it is not set.
    subscript<Key: OptionKey>(key: Key.Type) -> Key.Value? {
        get {
            // Not a loop over the elements, which would retain each of them.
            for index in entries.indices where entries[index].key == ObjectIdentifier(key) {
                // SAFETY: the setter is the only one that makes entries, and gives one of this key a box of its type.
                return unsafeDowncast(entries[index].box, to: Box<Key.Value>.self).value
            }
            return nil
        }
        set {
            let index = entries.firstIndex { $0.key == ObjectIdentifier(key) }
            let entry = newValue.map { Entry(key: ObjectIdentifier(key), box: Box($0)) }
            switch (index, entry) {
            case (let index?, let entry?): entries[index] = entry
            case (let index?, nil): entries.remove(at: index)
            case (nil, let entry?): entries.append(entry)
            case (nil, nil): break
            }
        }
    }
}
