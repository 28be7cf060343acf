// The initializers of `ImageCache` that take a name and a directory.

public import Foundation
import KFSupport

extension ImageCache {
    /// Creates a cache in the user's caches directory: `$XDG_CACHE_HOME`, or `~/.cache`.
    ///
    /// `~` is `$HOME`, or the home of the account where that is not set, as in services of systemd.
    /// When the directory cannot be created, the disk part is not used until it can be. The name becomes part of the
    /// directory's name; it must not be empty, and `default` is the name of ``default``.
    public convenience init(name: String) { self.init(name: name, directory: nil) }

    /// Creates a cache whose directory lies in another one, even if it cannot be made. (Not in Kingfisher.)
    ///
    /// When the directory cannot be made, images are kept in memory only; every attempt to store one reports why and
    /// tries again.
    ///
    /// - Parameters:
    ///   - name: The cache's name; must not be empty, and caches with one name share their files.
    ///   - directory: Where the cache's directory lies; nil means the user's caches directory.
    public convenience init(name: String, directory: URL?) {
        precondition(!name.isEmpty, "A cache needs a name: it becomes part of its directory's name.")
        let config = DiskStorage.Config(name: name, sizeLimit: 0, directory: directory)
        self.init(
            memoryStorage: Self.memoryStorage(),
            diskStorage: DiskStorage.Backend(noThrowConfig: config, creatingDirectory: true)
        )
    }

    /// Creates a cache in a directory of your choice.
    ///
    /// - Parameters:
    ///   - name: The name of the cache; not empty.
    ///   - cacheDirectoryURL: Where the cache's directory lies; nil means the user's caches directory.
    ///   - diskCachePathClosure: Returns the cache's directory, given that one and the full name; by default the
    ///     directory of that name in it.
    /// - Throws: ``KingfisherError/CacheErrorReason/cannotCreateDirectory(path:error:)``.
    public convenience init(
        name: String,
        cacheDirectoryURL: URL?,
        diskCachePathClosure: DiskCachePathClosure? = nil
    ) throws(KingfisherError) {
        precondition(!name.isEmpty, "A cache needs a name: it becomes part of its directory's name.")
        var config = DiskStorage.Config(name: name, sizeLimit: 0, directory: cacheDirectoryURL)
        config.cachePathBlock = diskCachePathClosure
        let diskStorage = try DiskStorage.Backend<Data>(config: config)
        self.init(memoryStorage: Self.memoryStorage(), diskStorage: diskStorage)
    }

    /// The bytes that a new cache may keep in memory: a quarter of the memory the process may use.
    package static var usualMemoryLimit: Int { Int(clamping: UsableMemory.bytes / 4) }

    private static func memoryStorage() -> MemoryStorage.Backend<KFCrossPlatformImage> {
        MemoryStorage.Backend(config: MemoryStorage.Config(totalCostLimit: usualMemoryLimit))
    }
}
