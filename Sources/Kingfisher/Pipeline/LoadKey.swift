// What makes two loads the same work. Knows nothing of the work.

import Foundation
import KFSupport

/// What makes two loads the same work: everything that decides on where the image is found, what is made and what is
/// stored.
///
/// Priority, waiting for the cache, alternative sources and the image modifier are not part of it: they differ from
/// caller to caller.
struct LoadKey: Hashable, Sendable {
    private let source: Source
    private let image: ImageRecipe
    private let store: StoreRecipe
    private let settings: Settings
    /// Set when the options hold code of the user that cannot be compared, or numbers that are NaN: such loads share
    /// transfers, and images and entries that are made of the same bytes; a key equals itself.
    private let unique: Unique?

    private struct Settings: Equatable, Sendable {
        let flags: [Bool]
        let downloader: ObjectIdentifier?
        let extensions: [ExpirationExtending]
        let request: ComparableCode?
        let redirects: ComparableCode?
    }

    private final class Unique: Sendable {}

    init(_ source: KeyedSource) {
        let options = source.options
        let request = options.requestModifier.map { ComparableCode($0) }
        let redirects = options.redirectHandler.map { ComparableCode($0) }
        self.source = source.source
        image = ImageRecipe(options)
        store = StoreRecipe(source.query)
        settings = Settings(
            flags: [
                options.forceRefresh, options.fromMemoryCacheOrRefresh, options.onlyFromCache,
                options.backgroundDecode, options.lowDataModeSource != nil,
            ],
            downloader: options.downloader.map { ObjectIdentifier($0) },
            extensions: [
                options.memoryCacheAccessExtendingExpiration, options.diskCacheAccessExtendingExpiration,
            ],
            request: request,
            redirects: redirects
        )
        let isComparable =
            store.isComparable && request?.isComparable != false && redirects?.isComparable != false
            && settings == settings
        unique = isComparable ? nil : Unique()
    }

    static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.unique === rhs.unique && lhs.store.key == rhs.store.key && lhs.source == rhs.source
            && (lhs.unique != nil
                || (lhs.image == rhs.image && lhs.store == rhs.store && lhs.settings == rhs.settings))
    }

    func hash(into hasher: inout Hasher) { hasher.combine(store.key) }
}
