//! URLs with changing signatures share one entry.
import Foundation
import Kingfisher

KingfisherManager.shared.cacheKeyFilter = QueryItemsCacheKeyFilter(removing: ["Expires", "Signature", "Key-Pair-Id"])

func isCached(_ signed: URL) -> Bool {
    let key = KingfisherManager.shared.cacheKeyFilter?.cacheKey(for: signed) ?? signed.cacheKey
    return ImageCache.default.isCached(forKey: key)
}
