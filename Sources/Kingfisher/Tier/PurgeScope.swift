// What is purged from caches, and how. For ImageCache.purge and the purge log.

/// What a purge is about. (Not in Kingfisher.)
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum PurgeScope: Hashable, Sendable {
    /// All that was made of a source: the image, processed ones and encoded results, by the cache key of the source.
    case source(key: String)
    /// All that is asked for with a tag; see ``KingfisherParsedOptionsInfo/cacheTags``.
    case tag(String)
    /// All that was made of sources whose cache keys begin with this text, such as `https://example.com/products/`.
    case prefix(String)
    /// Everything.
    case all
}

/// What becomes of images that were purged. (Not in Kingfisher.)
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum PurgeMode: Hashable, Sendable, CaseIterable {
    /// They are used until they have been loaded and made anew, which the first request for them begins.
    case invalidate
    /// They are not used any more.
    case delete
}

/// What became of an image since it was loaded.
enum PurgeState: Hashable, Sendable {
    case valid
    /// It was invalidated.
    case stale
    case deleted
}
