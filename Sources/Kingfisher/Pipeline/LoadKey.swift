// The key by which loads share their work. For the manager.

import Foundation
import KFSupport

/// The key by which loads share their work: everything that decides where the image is found, what is made and what is
/// stored, and under which conditions loading fails.
///
/// Priority, waiting for the cache, alternative sources and the image modifier are not part of it: they differ from
/// subscriber to subscriber.
struct LoadKey: Hashable, Sendable {
    /// Nil where a filter makes the cache key: what has one key then is the same.
    private let source: SourceKey?
    private let processing: ProcessingKey
    private let store: StoreKey
    private let settings: Settings
    private struct Settings: Equatable, Sendable {
        let forceRefresh: Bool
        let refreshCached: Bool
        let refreshFailureIsError: Bool
        let respectCacheControl: Bool
        let layers: CacheLayers
        let originalLayers: CacheLayers
        let onlyFromCache: Bool
        let savesData: Bool
        let connectTimeout: TimeInterval?
        let downloadTimeout: TimeInterval?
        let totalTimeout: TimeInterval?
        let downloader: ObjectIdentifier?
        let memoryExtending: ExpirationExtending
        let diskExtending: ExpirationExtending
        /// What changes the request, redirects, the response and its bytes.
        ///
        /// Loads with code that cannot be compared may still share transfers, images and entries made of the same bytes.
        let code: [CodeKey]

        init(_ options: KingfisherParsedOptionsInfo) {
            forceRefresh = options.forceRefresh
            refreshCached = options.refreshCached
            refreshFailureIsError = options.refreshFailureIsError
            respectCacheControl = options.respectCacheControl
            layers = options.layersToQuery
            // Without the disk, neither is the original looked up there.
            originalLayers = options.fromMemoryCacheOrRefresh ? .memory : options.originalQueryCacheLayers
            onlyFromCache = options.onlyFromCache
            savesData = options.lowDataModeSource != nil
            connectTimeout = options.connectTimeout
            downloadTimeout = options.downloadTimeout
            totalTimeout = options.totalTimeout
            downloader = options.downloader.map { ObjectIdentifier($0) }
            memoryExtending = options.memoryCacheAccessExtendingExpiration
            diskExtending = options.diskCacheAccessExtendingExpiration
            code = [
                CodeKey(options.requestModifier), CodeKey(options.redirectHandler), CodeKey(options.responseModifier),
                CodeKey(options.decryptor), CodeKey(options.dataModifier),
            ]
        }
    }

    init(_ wanted: KeyedSource) {
        source = wanted.source.filteredKey(wanted.options) == nil ? SourceKey(wanted.source) : nil
        var options = wanted.options
        // Stills are the same with and without it; animations are made again for those who want them otherwise.
        options.preloadAllAnimationData = false
        processing = ProcessingKey(options)
        store = StoreKey(wanted.query)
        settings = Settings(wanted.options)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(store.key) }
}
