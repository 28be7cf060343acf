// The configuration of a disk storage, and its mutable state.

public import Foundation
import KFStorage

extension DiskStorage {
    /// Where a disk storage is, how large it may be and what its files are called.
    public struct Config: Sendable {
        /// The bytes all files together may take; 0 means no limit.
        ///
        /// A store that exceeds it removes expired files and then the least recently used ones, down to nine tenths of
        /// the limit. Until that is done, files may take more, by the size of those that other threads and processes
        /// store at the same time. A value that alone is larger is not kept, and an entry under its key is removed.
        public var sizeLimit: UInt
        /// How long entries are valid that are stored without an expiration.
        public var expiration: StorageExpiration = .days(7)
        /// The extension of every file, without its dot.
        public var pathExtension: String?
        /// Whether files are called by the SHA-256 of their key, or by the key itself.
        ///
        /// A key that cannot be a file name is hashed even so.
        public var usesHashedFileName = true
        /// Whether a hashed file name gets the extension that its key appears to have.
        public var autoExtAfterHashedFileName = false
        // Implicitly unwrapped, so that programs written for Kingfisher can call it.
        // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
        /// Returns the storage's directory, given the directory it lies in and the cache's full name.
        ///
        /// By default that is the directory of that name. Called once, when the storage is created, on the thread that
        /// creates it; the configuration of a storage that exists has none. The parameters are the directory and the
        /// cache's name. Beside a directory `x`, one called `.x.tmp` holds the files being written: do not choose such
        /// a name.
        public var cachePathBlock: (@Sendable (_ directory: URL, _ cacheName: String) -> URL)! = Config.defaultPath
        /// The name of the cache.
        public let name: String

        let fileManager: FileManager
        let directory: URL?

        /// Creates a configuration.
        /// - Parameters:
        ///   - name: The name of the cache; becomes a part of its directory's.
        ///   - sizeLimit: The bytes all files together may take; 0 means no limit.
        ///   - fileManager: Files are read and written by system calls, not by the manager. Of a subclass of
        ///     `FileManager`, however, these are called: `fileExists(atPath:)` and
        ///     `createDirectory(atPath:withIntermediateDirectories:attributes:)` when the storage's directory is made,
        ///     and `fileExists(atPath:)` for a file whose status cannot be read.
        ///   - directory: Where the cache's directory lies; nil means the user's caches directory, which is
        ///     `$XDG_CACHE_HOME` if that is an absolute path, or `.cache` in the user's home: `$HOME`, or the home of
        ///     the account. Of a user without a home nothing is stored on disk, and errors say so.
        public init(name: String, sizeLimit: UInt, fileManager: FileManager = .default, directory: URL? = nil) {
            self.name = name
            self.sizeLimit = sizeLimit
            self.fileManager = fileManager
            self.directory = directory
        }

        @Sendable private static func defaultPath(_ directory: URL, _ cacheName: String) -> URL {
            directory.appendingPathComponent(cacheName, isDirectory: true)
        }

        var cacheName: String { "com.onevcat.Kingfisher.ImageCache.\(name)" }

        /// The directory of the storage.
        var location: URL {
            let root = directory ?? URL(fileURLWithPath: CachesDirectory.path, isDirectory: true)
            return (cachePathBlock ?? Self.defaultPath)(root, cacheName)
        }

        /// The file manager, if it is of a subclass and has to be called.
        var customFileManager: FileManager? { type(of: fileManager) == FileManager.self ? nil : fileManager }

        var naming: FileNaming {
            FileNaming(
                usesHash: usesHashedFileName,
                pathExtension: pathExtension,
                keepsExtensionOfKey: autoExtAfterHashedFileName
            )
        }
    }

    /// The mutable state of a storage.
    struct BackendState: Sendable {
        var config: Config
        /// Whether making the directory has failed.
        var isWithoutDirectory = false
        /// The last failure of the directory, in words.
        var directoryFailure: String?
    }
}
