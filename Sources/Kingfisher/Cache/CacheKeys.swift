// The keys that images have in caches: of their source, and of the processor that made them. For caches and loads.

/// The keys of an image in a cache.
struct EntryKey: Sendable {
    /// The key of its source.
    let source: String
    /// The key of the image: with the identifier of the processor.
    let computed: String

    init(_ key: String, _ options: KingfisherParsedOptionsInfo) { (source, computed) = (key, key.computedKey(options)) }
    init(_ source: Source, _ options: KingfisherParsedOptionsInfo) { self.init(source.cacheKey(options), options) }
}

extension String {
    /// The key of the image that the processor with this identifier makes of the image with this key.
    func computedKey(with identifier: String) -> String { identifier.isEmpty ? self : "\(self)@\(identifier)" }

    /// The key of the image that the processor of these options makes of the image with this key.
    func computedKey(_ options: KingfisherParsedOptionsInfo) -> String {
        computedKey(with: options.processor.identifier)
    }
}

extension Source {
    /// The key in the caches for a load with these options.
    func cacheKey(_ options: KingfisherParsedOptionsInfo) -> String { filteredKey(options) ?? cacheKey }

    /// The key that the options' filter gives; nil where none applies.
    func filteredKey(_ options: KingfisherParsedOptionsInfo) -> String? {
        guard let filter = options.cacheKeyFilter, case .network(let resource) = self,
            resource.cacheKey == resource.downloadURL.cacheKey
        else { return nil }
        return filter.cacheKey(for: resource.downloadURL)
    }
}
