// The options that only caches know: which ones a load uses, and how its entries are named.

extension KingfisherParsedOptionsInfo {
    /// Reads a list of options; nil or an empty one gives the defaults.
    /// - Parameter info: The options; later ones override earlier ones. The target cache is the original one, too,
    ///   unless another one is named.
    public init(_ info: KingfisherOptionsInfo?) {
        self.init()
        for item in info ?? [] { item.apply(&self) }
        if originalCache == nil, let targetCache { originalCache = targetCache }
    }

    private enum TargetCacheKey: OptionKey { typealias Value = ImageCache }

    /// The cache processed images are looked up and stored in; nil means the manager's.
    public var targetCache: ImageCache? {
        get { self[TargetCacheKey.self] }
        set { self[TargetCacheKey.self] = newValue }
    }

    private enum OriginalCacheKey: OptionKey { typealias Value = ImageCache }

    /// The cache unprocessed downloads are looked up and stored in; nil means the target cache.
    public var originalCache: ImageCache? {
        get { self[OriginalCacheKey.self] }
        set { self[OriginalCacheKey.self] = newValue }
    }

    /// Where unprocessed downloads are looked up and stored.
    var cacheForOriginals: ImageCache? { originalCache ?? targetCache }

    private enum CacheKeyFilterKey: OptionKey { typealias Value = any CacheKeyFilter }

    /// Makes the cache key of a download from its URL; nil means the URL itself. (Not in Kingfisher.)
    ///
    /// The default is the filter in ``KingfisherManager/cacheKeyFilter``.
    public var cacheKeyFilter: (any CacheKeyFilter)? {
        get { self[CacheKeyFilterKey.self] }
        set { self[CacheKeyFilterKey.self] = newValue }
    }

    private enum ForcedExtensionKey: OptionKey { typealias Value = String }

    /// The extension of the file in the disk cache, instead of the configured one.
    public var forcedExtension: String? {
        get { self[ForcedExtensionKey.self] }
        set { self[ForcedExtensionKey.self] = newValue }
    }

    private enum CacheTagsKey: OptionKey { typealias Value = Set<String> }

    /// Names of groups of images that can be purged together, such as `product-17`; see ``ImageCache/purge(_:mode:)``.
    /// (Not in Kingfisher.)
    ///
    /// Tags belong to the load and are not stored: a load with a purged tag does not use an entry from before the
    /// purge.
    public var cacheTags: Set<String> {
        get { self[CacheTagsKey.self] ?? [] }
        set { self[CacheTagsKey.self] = newValue.isEmpty ? nil : newValue }
    }
}
