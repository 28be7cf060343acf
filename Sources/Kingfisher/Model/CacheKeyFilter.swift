// Makes cache keys of URLs, so that URLs that differ in a signature share an entry. For users and the manager.

public import Foundation

/// Makes the cache keys of URLs. (Not in Kingfisher.)
///
/// It applies to downloads whose key is their URL; a ``KF/ImageResource`` with a key of its own keeps that, and so do
/// providers. Loads of URLs with one key share an entry, and also their download if they are under way at the same
/// time, and how that ends; otherwise each downloads its own URL. See ``KingfisherManager/cacheKeyFilter`` and
/// ``KingfisherOptionsInfoItem/cacheKeyFilter(_:)``.
///
/// Caches know nothing of it: ask them for the key that the filter makes.
public protocol CacheKeyFilter: Sendable {
    /// The cache key of a URL.
    ///
    /// Called several times a load, on any thread; it must give the same key each time.
    /// - Parameter url: The URL of a download.
    /// - Returns: The key.
    func cacheKey(for url: URL) -> String
}

/// A cache key filter made from a closure. (Not in Kingfisher.)
public struct AnyCacheKeyFilter: CacheKeyFilter {
    private let key: @Sendable (URL) -> String

    /// Creates a filter.
    /// - Parameter key: Gives the key of a URL.
    public init(_ key: @escaping @Sendable (URL) -> String) { self.key = key }

    /// The closure's result.
    public func cacheKey(for url: URL) -> String { key(url) }
}

/// Leaves query items out of the key, such as those of a signature. (Not in Kingfisher.)
///
/// ```swift
/// manager.cacheKeyFilter = QueryItemsCacheKeyFilter(removing: ["Expires", "Signature", "Key-Pair-Id"])
/// ```
public struct QueryItemsCacheKeyFilter: CacheKeyFilter, Hashable {
    /// The names of the items, as they are written in URLs.
    public let names: Set<String>

    /// Creates a filter.
    /// - Parameter names: The names of the items to leave out; upper and lower case differ.
    public init(removing names: Set<String>) { self.names = names }

    /// The key of the URL without the items.
    public func cacheKey(for url: URL) -> String {
        let text = url.absoluteString
        let end = text.firstIndex(of: "#") ?? text.endIndex
        guard let start = text[..<end].firstIndex(of: "?") else { return url.cacheKey }
        let items = text[text.index(after: start)..<end].split(separator: "&", omittingEmptySubsequences: false)
        let kept = items.filter { item in !names.contains(String(item.prefix { $0 != "=" })) }
        guard kept.count < items.count else { return url.cacheKey }
        return text[..<start] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&")) + text[end...]
    }
}
