// The options of the cache, and the cache made from them.

import ArgumentParser
import Foundation
import Kingfisher

/// The options of the cache.
struct CacheArguments: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Keep the cache in this directory instead of the user's own.", valueName: "directory"),
        completion: .directory
    )
    var cacheDir: String?

    /// The name of the tool's cache.
    ///
    /// It is part of its folder's name, so nothing else in the directory is touched.
    static let name = "kf"

    /// The cache.
    ///
    /// If its directory cannot be used, storing fails and loading goes on.
    var cache: ImageCache { ImageCache(name: Self.name, directory: directory) }

    /// The cache for commands that only read it: its directory is not made.
    func existingCache() -> ImageCache {
        let config = DiskStorage.Config(name: Self.name, sizeLimit: 0, directory: directory)
        return ImageCache(
            memoryStorage: MemoryStorage.Backend(config: MemoryStorage.Config(totalCostLimit: 1 << 20)),
            diskStorage: DiskStorage.Backend(noThrowConfig: config, creatingDirectory: false)
        )
    }

    /// The problem of a directory that was named and holds no cache.
    ///
    /// Nil where there is one, where that cannot be found out, and for the user's own directory, which the first fetch
    /// makes.
    var problem: String? {
        guard let cacheDir else { return nil }
        let isThere = access(existingCache().diskStorage.directoryURL.path, F_OK) == 0 || errno != ENOENT
        return isThere ? nil : "there is no cache in \(cacheDir); kf fetch --cache-dir \(cacheDir) makes one"
    }

    func validate() throws {
        if cacheDir?.isEmpty == true { throw ValidationError("--cache-dir needs the name of a directory") }
        if cacheDir?.isOutsideUTF8 == true {
            throw ValidationError("--cache-dir needs a name in UTF-8; name another directory")
        }
    }

    private var directory: URL? { cacheDir.map { URL(fileURLWithPath: $0, isDirectory: true) } }
}
