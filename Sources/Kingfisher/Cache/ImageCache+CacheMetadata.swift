// How the cache metadata of a response is kept with an entry of the disk cache.

import Foundation
import KFStorage
import KFSupport

extension ImageCache {
    /// Whether several people are given what is in the cache, as on a server; false at first, and true with a
    /// ``sharedTier``. (Not in Kingfisher.)
    ///
    /// Loads with ``KingfisherParsedOptionsInfo/respectCacheControl`` then do what RFC 9111 asks of a shared cache:
    /// they do not store what is `private`, nor, unless the server allows that, what came for credentials or from a
    /// loader (``ImageLoading``), and `s-maxage` and `proxy-revalidate` count. A group is shared if one of its caches
    /// is.
    public final var isShared: Bool {
        get {
            if let group = self as? ImageCacheGroup, group.caches.contains(where: \.isShared) { return true }
            return core.isShared.withLock { $0 } || core.tier != nil
        }
        set { core.isShared.withLock { $0 = newValue } }
    }

    /// The cache metadata of the response that an image on disk was made from. (Not in Kingfisher.)
    ///
    /// It stays with the entry as long as that exists, also when it has expired, and is removed with it.
    ///
    /// Nil if there is no entry, or no metadata was kept with it; throws ``KingfisherError``, a cache error, when there
    /// is metadata that cannot be read.
    public func cacheMetadata(
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil
    ) async throws(KingfisherError) -> CacheMetadata? {
        let computedKey = key.computedKey(with: identifier)
        let bytes = await core.operations.ticket(forKey: computedKey).run { [core] in
            await core.onDisk { disk throws(KingfisherError) in
                let name = disk.cacheFileName(forKey: computedKey, forcedExtension: forcedExtension)
                return try disk.translating { () throws(StorageError) in try disk.files.userMetadata(of: name) }
            }
        }
        return try bytes.get().flatMap { CacheMetadata(encoded: $0) }
    }

    /// Replaces the cache metadata of an entry, for instance after the server has confirmed it. (Not in Kingfisher.)
    ///
    /// The image does not change, nor does the time it stays cached.
    ///
    /// - Parameters:
    ///   - metadata: The new metadata; nil to keep none.
    ///   - old: When given, the metadata that the entry must have for the change to happen: the entry may have been
    ///     replaced while the request was under way.
    ///   - key: The key of the image.
    ///   - identifier: The identifier of the processor that made it.
    ///   - forcedExtension: The extension of the file, instead of the configured one.
    /// - Returns: Whether the new metadata is kept now: false if there is no entry, or one with other metadata than
    ///   `old`, or the file system has no room for it.
    /// - Throws: ``KingfisherError``, a cache error, when the entry cannot be changed.
    @discardableResult
    public func updateCacheMetadata(
        _ metadata: CacheMetadata?,
        replacing old: CacheMetadata? = nil,
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil
    ) async throws(KingfisherError) -> Bool {
        try await core.updateCacheMetadata(
            metadata,
            replacing: old,
            forKey: key.computedKey(with: identifier),
            forcedExtension,
            renewing: false
        )
    }
}

extension CacheCore {
    /// Replaces the cache metadata of an entry, which may then stay cached as long as if it had been stored now.
    func updateCacheMetadata(
        _ metadata: CacheMetadata?,
        replacing old: CacheMetadata?,
        forKey computedKey: String,
        _ forcedExtension: String?,
        renewing isRenewing: Bool
    ) async throws(KingfisherError) -> Bool {
        let bytes = metadata?.encoded()
        let isMeant = (old?.encoded()).map { expected in
            { @Sendable (kept: [UInt8]?) -> Bool in
                if kept == expected { return true }
                // Fields that are too long are not kept.
                let now = kept.flatMap { CacheMetadata(encoded: $0) }
                return now != nil && now == CacheMetadata(encoded: expected)
            }
        }
        let updating = await operations.ticket(forKey: computedKey).run { [self] in
            // Where its bytes are read, too: going elsewhere takes longer than writing an attribute.
            await onDisk(by: .cpu) { disk throws(KingfisherError) in
                let name = disk.cacheFileName(forKey: computedKey, forcedExtension: forcedExtension)
                return try disk.translating { () throws(StorageError) in
                    try disk.files.setUserMetadata(bytes, of: name, renewing: isRenewing, where: isMeant)
                }
            }
        }
        return try updating.get()
    }
}
