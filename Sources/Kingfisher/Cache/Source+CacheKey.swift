// The key of a source for a load with its options. For loads, prefetches, views and live photos.

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
