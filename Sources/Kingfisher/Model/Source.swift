// Sources: what an image is loaded from, a resource at a URL or a provider.

public import Foundation

/// Something at a URL, and the key it is cached under.
public protocol Resource: Sendable, SourceConvertible {
    /// The key in the caches.
    var cacheKey: String { get }
    /// Where the data is.
    var downloadURL: URL { get }
}

extension Resource {
    /// This resource as a source: a file URL is read from disk, a `data:` URL holds the bytes itself, anything else is
    /// downloaded.
    /// - Parameter overrideCacheKey: A key to use instead of the resource's own.
    /// - Returns: The source.
    public func convertToSource(overrideCacheKey: String?) -> Source {
        let key = overrideCacheKey ?? cacheKey
        let text = downloadURL.absoluteString
        if text.hasFileScheme { return .provider(LocalFileImageDataProvider(of: self, cacheKey: key)) }
        if text.hasDataScheme { return .provider(DataURLImageDataProvider(text: text, cacheKey: key)) }
        return .network(KF.ImageResource(downloadURL: downloadURL, cacheKey: key))
    }

    /// This resource as a source: a file URL is read from disk, a `data:` URL holds the bytes itself, anything else is
    /// downloaded.
    public func convertToSource() -> Source { convertToSource(overrideCacheKey: nil) }
}

/// Anything that can be used in place of a ``Source``.
public protocol SourceConvertible: Sendable {
    /// The source that this is used in place of.
    func convertToSource() -> Source
}

/// The namespace of the fluent interface.
public enum KF {
    /// A URL and the key its image is cached under.
    public struct ImageResource: Resource {
        /// The key in the caches.
        public let cacheKey: String
        /// Where the data is.
        public let downloadURL: URL

        /// Creates a resource.
        /// - Parameters:
        ///   - downloadURL: Where the data is.
        ///   - cacheKey: The key in the caches; nil uses the URL's own.
        public init(downloadURL: URL, cacheKey: String? = nil) {
            self.downloadURL = downloadURL
            self.cacheKey = cacheKey ?? downloadURL.cacheKey
        }
    }
}

// Not in Compatibility, because Scripts/check-layers takes `KF.ImageResource` for this name too.

/// The older name of ``KF/ImageResource``.
@available(*, deprecated, renamed: "KF.ImageResource")
public typealias ImageResource = KF.ImageResource

extension URL: Resource {
    /// The URL's text; for file URLs a text that does not depend on where an application is installed, for `data:` URLs
    /// a hash of it.
    public var cacheKey: String {
        let text = absoluteString
        if text.hasFileScheme { return localFileCacheKey }
        return text.hasDataScheme ? text.dataURLCacheKey : text
    }
    /// The URL itself.
    public var downloadURL: URL { self }

    /// The same as `isFileURL`, which makes strings and takes longer than finding an image in memory.
    var hasFileScheme: Bool { absoluteString.hasFileScheme }

    static let localFileCacheKeyPrefix = "kingfisher.local.cacheKey"

    /// A key made from the path, starting at its last bundle directory, so that a reinstalled bundle keeps its keys.
    var localFileCacheKey: String {
        let components = pathComponents
        let bundle = components.lastIndex { $0.hasSuffix(".app") || $0.hasSuffix(".appex") }
        let tail = components[(bundle ?? components.startIndex)...]
        let key = ([Self.localFileCacheKeyPrefix] + tail).joined(separator: "/")
        return query.map { "\(key)?\($0)" } ?? key
    }
}

/// Where an image comes from.
public enum Source: Sendable, SourceConvertible {
    /// A download.
    case network(any Resource)
    /// Data from somewhere else.
    case provider(any ImageDataProvider)

    /// Identifiers of loads started by views.
    public enum Identifier {
        /// One load of one view.
        public typealias Value = UInt
    }

    /// The key in the caches.
    public var cacheKey: String {
        switch self {
        case .network(let resource): resource.cacheKey
        case .provider(let provider): provider.cacheKey
        }
    }

    /// The download's URL, or the URL a provider says its content comes from.
    public var url: URL? {
        switch self {
        case .network(let resource): resource.downloadURL
        case .provider(let provider): provider.contentURL
        }
    }

    /// The source itself.
    public func convertToSource() -> Source { self }

    /// The URL of the file the source is, unless the program has made the provider that reads it.
    var fileURL: URL? {
        switch self {
        case .network(let resource): resource.downloadURL.hasFileScheme ? resource.downloadURL : nil
        case .provider(let provider as LocalFileImageDataProvider): provider.isOfResource ? provider.fileURL : nil
        case .provider: nil
        }
    }
}

extension Source: Hashable {
    /// Sources are equal when they are of one kind and have the same key and URL.
    public static func == (lhs: Source, rhs: Source) -> Bool {
        switch (lhs, rhs) {
        case (.network, .network), (.provider, .provider): lhs.cacheKey == rhs.cacheKey && lhs.url == rhs.url
        case (.network, .provider), (.provider, .network): false
        }
    }

    /// Hashes the kind, the key and the URL, which equality compares.
    public func hash(into hasher: inout Hasher) {
        if case .network = self { hasher.combine(0) } else { hasher.combine(1) }
        hasher.combine(cacheKey)
        hasher.combine(url)
    }
}

/// The plain identity of a source: what `==` compares, read once.
struct SourceKey: Hashable, Sendable {
    private let isProvider: Bool
    private let cacheKey: String
    private let url: URL?

    init(_ source: Source) {
        if case .provider = source { isProvider = true } else { isProvider = false }
        (cacheKey, url) = (source.cacheKey, source.url)
    }
}
