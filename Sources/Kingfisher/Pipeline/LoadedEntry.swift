// The place on disk of the bytes that an image was decoded from. For image views.

import Foundation
import KFStorage

/// Where the bytes of an image view's last load may be on disk.
struct LoadedEntry: Sendable {
    private let cache: ImageCache
    private let key: String
    private let forcedExtension: String?
    /// The file, if the source is one: its bytes need not be in the cache.
    private let file: URL?

    /// The entry of a source's unprocessed image.
    init(of source: Source, _ options: KingfisherParsedOptionsInfo) {
        cache = options.targetCache ?? KingfisherManager.shared.cache
        key = source.cacheKey(options)
        forcedExtension = options.forcedExtension
        file = source.localFile
    }

    /// The entry's bytes, read on the calling thread; its expiry stays as it is.
    func bytes() -> Data? {
        let cached = try? cache.diskStorage.value(
            forKey: key,
            forcedExtension: forcedExtension,
            extendingExpiration: .none
        )
        return cached ?? file.flatMap { try? Data(contentsOf: $0) }
    }
}
