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
    private let source: Source?
    private let processing: ProcessingKey
    private let store: StoreKey
    private let settings: Settings
    /// Set when the options hold numbers that are NaN, so that a key equals itself.
    ///
    /// Code of the user that cannot be compared makes keys differ, too. Such loads may still share transfers, images
    /// and entries made of the same bytes.
    private let unique: Unique?

    private struct Settings: Equatable, Sendable {
        let forceRefresh: Bool
        let refreshCached: Bool
        let refreshFailureIsError: Bool
        let respectCacheControl: Bool
        let layers: CacheLayers
        let originalLayers: CacheLayers
        let onlyFromCache: Bool
        let backgroundDecode: Bool
        let savesData: Bool
        let connectTimeout: TimeInterval?
        let downloadTimeout: TimeInterval?
        let totalTimeout: TimeInterval?
        let downloader: ObjectIdentifier?
        let memoryExtending: ExpirationExtending
        let diskExtending: ExpirationExtending
        /// What changes the request, redirects, the response and its bytes.
        let code: [ComparableCode?]

        init(_ options: KingfisherParsedOptionsInfo) {
            forceRefresh = options.forceRefresh
            refreshCached = options.refreshCached
            refreshFailureIsError = options.refreshFailureIsError
            respectCacheControl = options.respectCacheControl
            layers = options.layersToQuery
            // Without the disk, neither is the original looked up there.
            originalLayers = options.fromMemoryCacheOrRefresh ? .memory : options.originalQueryCacheLayers
            onlyFromCache = options.onlyFromCache
            backgroundDecode = options.backgroundDecode
            savesData = options.lowDataModeSource != nil
            connectTimeout = options.connectTimeout
            downloadTimeout = options.downloadTimeout
            totalTimeout = options.totalTimeout
            downloader = options.downloader.map { ObjectIdentifier($0) }
            memoryExtending = options.memoryCacheAccessExtendingExpiration
            diskExtending = options.diskCacheAccessExtendingExpiration
            code = ComparableCode.of(
                options.requestModifier,
                options.redirectHandler,
                options.responseModifier,
                options.decryptor,
                options.dataModifier
            )
        }
    }

    private final class Unique: Sendable {}

    init(_ wanted: KeyedSource) {
        source = wanted.source.filteredKey(wanted.options) == nil ? wanted.source : nil
        processing = ProcessingKey(wanted.options)
        store = StoreKey(wanted.query)
        settings = Settings(wanted.options)
        unique = store == store && settings == settings ? nil : Unique()
    }

    static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.unique === rhs.unique && lhs.store.key == rhs.store.key && lhs.source == rhs.source
            && (lhs.unique != nil
                || (lhs.processing == rhs.processing && lhs.store == rhs.store && lhs.settings == rhs.settings))
    }

    func hash(into hasher: inout Hasher) { hasher.combine(store.key) }
}
