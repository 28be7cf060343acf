// `ImageCache`'s functions for the whole cache: listing, clearing, cleaning.

public import Foundation
import KFStorage
import KFSupport

extension Notification.Name {
    /// Posted on the main queue when cleaning has removed files of a cache.
    ///
    /// The object is the cache; the user info holds the file names under ``KingfisherDiskCacheCleanedHashKey``.
    public static let KingfisherDidCleanDiskCache = Notification.Name(
        "com.onevcat.Kingfisher.KingfisherDidCleanDiskCache"
    )
}

/// The key in a notification's user info that holds the names of the files removed, as `[String]`.
public let KingfisherDiskCacheCleanedHashKey = "com.onevcat.Kingfisher.cleanedHash"

extension ImageCache {
    /// The properties of an image on disk that are known without reading it.
    public struct DiskEntry: Sendable, Equatable {
        /// The key with the identifier of the processor; nil if the file system could not keep it.
        public let key: String?
        /// The name of the file.
        public let fileName: String
        /// The bytes of the file.
        public let size: Int
        /// When the entry expires, or has; `distantFuture` means never.
        public let expiration: Date
        /// When the entry was stored or last read.
        public let lastAccess: Date
    }

    /// All images on disk, including those that have expired and are not removed yet, in no particular order.
    ///
    /// (Not in Kingfisher.) Throws ``KingfisherError``, a cache error, when the directory cannot be listed.
    public func diskEntries() async throws(KingfisherError) -> [DiskEntry] {
        let listing = await core.operations.ticketForAll(isBarrier: false).run { [core] in
            await core.onDisk { disk throws(KingfisherError) in try disk.listing() }
        }
        return try listing.get().map { listed in
            DiskEntry(
                key: listed.key,
                fileName: listed.name,
                size: listed.size,
                expiration: listed.expiry,
                lastAccess: listed.lastAccess
            )
        }
    }

    /// Removes all images from memory and disk; the handler is called on the main queue, also after a failure.
    public func clearCache(completion handler: (@Sendable () -> Void)? = nil) {
        // The disk's ticket first: later reads come after the removal, and images read earlier are not promoted.
        let isMemoryClear = Promise<Void>()
        let completion = handler.map { handler in
            { @Sendable [self] in finish(with: handler, on: .mainCurrentOrAsync) { await isMemoryClear.value } }
        }
        clearDiskCache(completion: completion)
        clearMemoryCache()
        isMemoryClear.fulfil(())
    }

    /// Removes all images from memory, and has the memory returned to the system a moment later.
    public func clearMemoryCache() {
        removeAllFromMemory()
        MemoryReturn.schedule()
    }

    /// Removes the files that have expired, in the background.
    @MainActor
    public func backgroundCleanExpiredDiskCache() { cleanExpiredDiskCache(completion: nil) }

    /// Removes the files that have expired, then those above the size limit; files that cannot be removed are left to
    /// the next cleaning.
    func cleanDisk() async {
        let removed = await core.cleanDisk()
        guard !removed.isEmpty else { return }
        CallbackQueue.mainAsync.execute { [self] in
            NotificationCenter.default.post(
                name: .KingfisherDidCleanDiskCache,
                object: self,
                userInfo: [KingfisherDiskCacheCleanedHashKey: removed.map(\.lastPathComponent)]
            )
        }
    }
}
