// Internal functions of a cache under short names, with parameters that only loads pass.

import Foundation
import KFSupport

@testable import Kingfisher

extension ImageCache {
    var operations: KeyedSerialQueue { core.operations }

    /// Stores an image with its cache metadata, as a load does.
    func store(
        _ image: KFCrossPlatformImage,
        forKey key: String,
        options: KingfisherParsedOptionsInfo,
        cacheMetadata: CacheMetadata?,
        completionHandler: @escaping @Sendable (CacheStoreResult) -> Void
    ) {
        var options = options
        options.load.cacheMetadata = cacheMetadata
        store(image, forKey: key, options: options, completionHandler: completionHandler)
    }

    /// Stores bytes with their cache metadata, as a load does with an original.
    func storeToDisk(
        _ data: Data,
        forKey key: String,
        forcedExtension: String? = nil,
        cacheMetadata: CacheMetadata?,
        completionHandler: @escaping @Sendable (CacheStoreResult) -> Void
    ) {
        var options = KingfisherParsedOptionsInfo()
        options.load.cacheMetadata = cacheMetadata
        options.forcedExtension = forcedExtension
        let stored = Promise<CacheStoreResult>()
        putOriginal(data, forKey: key, options, stored)
        _ = Task { completionHandler(await stored.value) }
    }
}
