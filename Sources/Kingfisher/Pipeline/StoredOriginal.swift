// Where on disk the bytes are that an image was decoded from. For image views.

import Foundation
import KFStorage

/// Where the bytes of an image view's last load may be on disk.
struct StoredOriginal: Sendable {
    private let cache: ImageCache
    private let key: String
    private let forcedExtension: String?
    /// The file, if the source is one: its bytes need not be in the cache.
    private let file: URL?

    /// That of a source.
    init(of source: Source, _ options: KingfisherParsedOptionsInfo) {
        cache = options.targetCache ?? KingfisherManager.shared.cache
        key = source.cacheKey(options)
        forcedExtension = options.forcedExtension
        file = source.localFile
    }

    /// The bytes, read on the calling thread; its expiry stays as it is.
    func bytes() -> Data? {
        let storage = cache.diskStorage
        let cached = try? storage.value(forKey: key, forcedExtension: forcedExtension, extendingExpiration: .none)
        return cached ?? file.flatMap { try? Data(contentsOf: $0) }
    }
}
