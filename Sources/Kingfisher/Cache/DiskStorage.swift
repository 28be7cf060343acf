// The disk part of a cache as users see it. The work is done in KFStorage; this is where its errors become ours.

public import Foundation
import KFStorage
import KFSupport

/// A value that can be kept as bytes.
public protocol DataTransformable {
    /// The value as bytes.
    func toData() throws -> Data
    /// The value that was made into these bytes.
    static func fromData(_ data: Data) throws -> Self
    /// A value that stands for one that was not loaded.
    static var empty: Self { get }
}

extension Data: DataTransformable {
    /// The data itself.
    public func toData() throws -> Data { self }
    /// The data itself.
    public static func fromData(_ data: Data) throws -> Data { data }
    /// No bytes.
    public static let empty = Data()
}

/// What belongs to the disk part of a cache.
public enum DiskStorage {
    /// Where a disk storage is, how large it may be and what its files are called.
    public struct Config: Sendable {
        /// The bytes all files together may take; 0 means no limit.
        public var sizeLimit: UInt
        /// How long entries are valid that are stored without an expiration.
        public var expiration: StorageExpiration = .days(7)
        /// The extension of every file, without its dot.
        public var pathExtension: String?
        /// Whether files are called by the SHA-256 of their key, or by the key itself.
        ///
        /// A key that cannot be a file name is hashed all the same.
        public var usesHashedFileName = true
        /// Whether a hashed file name gets the extension its key seems to have.
        public var autoExtAfterHashedFileName = false
        /// Makes the storage's directory out of the directory it lies in and the cache's full name.
        ///
        /// Asked once, when the storage is created.
        public var cachePathBlock: (@Sendable (_ directory: URL, _ cacheName: String) -> URL)?
        /// The name of the cache.
        public let name: String

        let directory: URL?

        /// Creates a configuration.
        /// - Parameters:
        ///   - name: The name of the cache; becomes a part of its directory's.
        ///   - sizeLimit: The bytes all files together may take; 0 means no limit.
        ///   - fileManager: Accepted for compatibility and not used: files are reached by system calls.
        ///   - directory: Where the cache's directory lies; nil means the user's caches directory, which is
        ///     `$XDG_CACHE_HOME`, or `~/.cache`.
        public init(name: String, sizeLimit: UInt, fileManager: FileManager = .default, directory: URL? = nil) {
            self.name = name
            self.sizeLimit = sizeLimit
            self.directory = directory
        }

        var cacheName: String { "com.onevcat.Kingfisher.ImageCache.\(name)" }

        /// The directory of the storage.
        var location: URL {
            let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
            let root = directory ?? caches ?? FileManager.default.temporaryDirectory
            return cachePathBlock?(root, cacheName) ?? root.appendingPathComponent(cacheName, isDirectory: true)
        }

        var naming: FileNaming {
            FileNaming(
                usesHash: usesHashedFileName,
                pathExtension: pathExtension,
                keepsExtensionOfKey: autoExtAfterHashedFileName
            )
        }
    }

    /// Values in files, by key.
    ///
    /// One file an entry, which holds the value's bytes and nothing else.
    ///
    /// Safe to use from any thread, and by several processes at once. Everything here waits for the file system.
    public final class Backend<T: DataTransformable & Sendable>: Sendable {
        /// The directory the files are in.
        public let directoryURL: URL
        let files: FileStore
        private let state: Locked<Config>

        /// Creates a storage and its directory.
        /// - Parameter config: Where it is and how large it may be.
        /// - Throws: ``KingfisherError/CacheErrorReason/cannotCreateDirectory(path:error:)``.
        public convenience init(config: Config) throws(KingfisherError) {
            self.init(noThrowConfig: config, creatingDirectory: false)
            do throws(StorageError) { try files.prepare() } catch {
                throw .cacheError(reason: .cannotCreateDirectory(path: directoryURL.path, error: error))
            }
        }

        /// Creates a storage even if its directory cannot be created.
        ///
        /// Storing then tries again, and fails as long as that fails.
        package init(
            noThrowConfig config: Config,
            creatingDirectory: Bool,
            clock: @escaping @Sendable () -> Date = { Date() }
        ) {
            directoryURL = config.location
            files = FileStore(path: directoryURL.path, clock: clock)
            var kept = config
            kept.cachePathBlock = nil
            state = Locked(kept)
            if creatingDirectory { try? files.prepare() }
        }

        /// The configuration.
        ///
        /// The directory does not change with it.
        public var config: Config {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }

        // MARK: One entry

        /// Writes a value.
        ///
        /// - Parameters:
        ///   - value: The value.
        ///   - key: Its key.
        ///   - expiration: How long it is valid; nil means what the configuration says. With one that is over
        ///     already, the key's entry is removed.
        ///   - writeOptions: Accepted for compatibility. Files are always written atomically.
        ///   - forcedExtension: The extension of the file, instead of the configured one.
        /// - Throws: ``KingfisherError``, a cache error.
        public func store(
            value: T,
            forKey key: String,
            expiration: StorageExpiration? = nil,
            writeOptions: Data.WritingOptions = [],
            forcedExtension: String? = nil
        ) throws(KingfisherError) {
            let data: Data
            do { data = try value.toData() } catch {
                throw .cacheError(reason: .cannotConvertToData(object: value, error: error))
            }
            let config = config
            let name = config.naming.fileName(forKey: key, forcedExtension: forcedExtension)
            do throws(StorageError) {
                try files.write(data, to: name, key: key, expiration: expiration ?? config.expiration)
            } catch {
                throw translated(error, key: key, data: data)
            }
        }

        /// Reads a value.
        ///
        /// - Parameters:
        ///   - key: Its key.
        ///   - forcedExtension: The extension of the file, instead of the configured one.
        ///   - extendingExpiration: What the access does to the expiry.
        /// - Returns: The value; nil if there is none or it has expired.
        /// - Throws: ``KingfisherError``, a cache error, when there is something that cannot be read.
        public func value(
            forKey key: String,
            forcedExtension: String? = nil,
            extendingExpiration: ExpirationExtending = .cacheTime
        ) throws(KingfisherError) -> T? {
            guard let entry = try entry(forKey: key, forcedExtension: forcedExtension) else { return nil }
            let value: T
            do { value = try T.fromData(entry.data) } catch {
                let url = cacheFileURL(forKey: key, forcedExtension: forcedExtension)
                throw .cacheError(reason: .cannotLoadDataFromDisk(url: url, error: error))
            }
            touch(entry, extending: extendingExpiration)
            return value
        }

        /// Whether a key has an entry that has not expired; prolongs nothing.
        public func isCached(forKey key: String, forcedExtension: String? = nil) -> Bool {
            files.contains(cacheFileName(forKey: key, forcedExtension: forcedExtension))
        }

        /// Whether a key has an entry that has not expired at a date; prolongs nothing.
        public func isCached(forKey key: String, referenceDate: Date, forcedExtension: String? = nil) -> Bool {
            files.contains(cacheFileName(forKey: key, forcedExtension: forcedExtension), at: referenceDate)
        }

        /// Removes an entry; that there is none is no error.
        ///
        /// - Parameters:
        ///   - key: Its key.
        ///   - forcedExtension: The extension of the file, instead of the configured one.
        /// - Throws: ``KingfisherError``, a cache error, when there is one that cannot be removed.
        public func remove(forKey key: String, forcedExtension: String? = nil) throws(KingfisherError) {
            let name = cacheFileName(forKey: key, forcedExtension: forcedExtension)
            try translating { () throws(StorageError) in _ = try files.remove(name) }
        }

        /// Where the entry of a key is, or would be.
        public func cacheFileURL(forKey key: String, forcedExtension: String? = nil) -> URL {
            let name = cacheFileName(forKey: key, forcedExtension: forcedExtension)
            return directoryURL.appendingPathComponent(name, isDirectory: false)
        }

        func cacheFileName(forKey key: String, forcedExtension: String? = nil) -> String {
            config.naming.fileName(forKey: key, forcedExtension: forcedExtension)
        }

        // MARK: All entries

        /// Removes all entries.
        ///
        /// - Throws: ``KingfisherError``, a cache error, when something cannot be removed.
        public func removeAll() throws(KingfisherError) {
            try translating { () throws(StorageError) in try files.removeAll() }
        }

        /// Removes the entries that have expired.
        ///
        /// - Returns: Where they were.
        /// - Throws: ``KingfisherError``, a cache error, when the directory cannot be listed.
        public func removeExpiredValues() throws(KingfisherError) -> [URL] {
            urls(try translating { () throws(StorageError) in try files.removeExpired() })
        }

        /// When the size limit is reached, removes the least recently used entries until half of it is free.
        ///
        /// - Returns: Where they were.
        /// - Throws: ``KingfisherError``, a cache error, when the directory cannot be listed.
        public func removeSizeExceededValues() throws(KingfisherError) -> [URL] {
            let limit = Int(clamping: config.sizeLimit)
            guard limit > 0 else { return [] }
            return urls(
                try translating { () throws(StorageError) in try files.trim(above: limit - 1, to: limit / 2) }
            )
        }

        /// The bytes of all entries, with those that have expired and are not removed yet.
        ///
        /// - Throws: ``KingfisherError``, a cache error, when the directory cannot be listed.
        public func totalSize() throws(KingfisherError) -> UInt {
            UInt(try translating { () throws(StorageError) in try files.totalSize() })
        }

        private func urls(_ names: [String]) -> [URL] {
            names.map { directoryURL.appendingPathComponent($0, isDirectory: false) }
        }
    }
}

// MARK: - For the cache above

extension DiskStorage.Backend {
    /// The entry of a key, not yet made into a value.
    func entry(forKey key: String, forcedExtension: String?) throws(KingfisherError) -> FileStore.Entry? {
        let name = cacheFileName(forKey: key, forcedExtension: forcedExtension)
        return try translating { () throws(StorageError) in try files.read(name) }
    }

    /// Prolongs the life of an entry that was read.
    ///
    /// What was read is good whether or not that works.
    func touch(_ entry: FileStore.Entry, extending: ExpirationExtending) {
        try? files.touch(entry.name, entry, extending: extending)
    }

    /// Removes an entry that was read and is no good.
    func discard(_ entry: FileStore.Entry) {
        try? files.discard(entry.name, entry)
    }

    /// Everything there is.
    func listing() throws(KingfisherError) -> [FileStore.Listed] {
        try translating { () throws(StorageError) in try files.entries() }
    }

    // MARK: Errors

    private func translating<Result>(_ body: () throws(StorageError) -> Result) throws(KingfisherError) -> Result {
        do throws(StorageError) { return try body() } catch { throw translated(error) }
    }

    /// The one place where the file store's errors become ours.
    private func translated(_ error: StorageError, key: String = "", data: Data = Data()) -> KingfisherError {
        let url = URL(fileURLWithPath: error.path)
        let reason: KingfisherError.CacheErrorReason =
            switch error.operation {
            case .openDirectory, .createDirectory: .diskStorageIsNotReady(cacheURL: directoryURL)
            case .write, .name: .cannotCreateCacheFile(fileURL: url, key: key, data: data, error: error)
            case .setTimes: .cannotSetCacheFileAttribute(filePath: error.path, attributes: [:], error: error)
            case .list: .fileEnumeratorCreationFailed(url: url)
            case .remove: .cannotRemoveCacheFile(fileURL: url, error: error)
            case .read: .cannotLoadDataFromDisk(url: url, error: error)
            }
        return .cacheError(reason: reason)
    }
}
