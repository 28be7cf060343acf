// The disk part of a cache: its public interface. The work is done in KFStorage; the files beside this one call it.

public import Foundation
import KFStorage
import KFSupport

/// A value that can be kept as bytes.
public protocol DataTransformable {
    /// The value as bytes.
    func toData() throws -> Data
    /// The value that these bytes were made from.
    static func fromData(_ data: Data) throws -> Self
    /// A value that stands for a value that was not loaded.
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

/// The namespace of the disk part of a cache.
public enum DiskStorage {
    /// Values in files, by key.
    ///
    /// Each entry is one file, which holds the value's bytes and nothing else.
    ///
    /// Safe to use from any thread, and by several storages and processes at once. All functions wait for the file
    /// system on the caller's thread; only counting the bytes that are there happens in the background.
    public final class Backend<T: DataTransformable & Sendable>: Sendable {
        /// The directory the files are in.
        public let directoryURL: URL
        let files: FileStore
        let clock: @Sendable () -> Date
        let state: Locked<BackendState>
        /// Whether this storage makes the directory, and makes it again when it is gone.
        let makesDirectory: Bool
        /// Counts the bytes of all entries.
        let firstScan: Task<Void, Never>

        /// Creates a storage without its directory.
        private init(_ config: Config, makesDirectory: Bool, clock: @escaping @Sendable () -> Date) {
            directoryURL = config.location
            self.makesDirectory = makesDirectory
            self.clock = clock
            files = FileStore(path: directoryURL.path, clock: clock)
            files.configure(sizeLimit: Int(clamping: config.sizeLimit))
            var kept = config
            kept.cachePathBlock = nil
            state = Locked(BackendState(config: kept))
            firstScan = Self.scan(files)
        }

        /// Creates a storage and its directory.
        ///
        /// The bytes of existing entries are counted in the background; nothing waits for that.
        /// - Parameter config: Where it is and how large it may be.
        /// - Throws: ``KingfisherError/CacheErrorReason/cannotCreateDirectory(path:error:)``.
        public convenience init(config: Config) throws(KingfisherError) {
            self.init(config, makesDirectory: true) { Date() }
            do { try makeDirectory() } catch {
                throw .cacheError(reason: .cannotCreateDirectory(path: directoryURL.path, error: error))
            }
        }

        /// Creates a storage even if its directory cannot be created.
        ///
        /// Storing and reading then first try to create it again, and fail if that fails.
        /// - Parameters:
        ///   - config: Where it is and how large it may be.
        ///   - creatingDirectory: Whether to make the directory now, and again when it has been cleared. Otherwise the
        ///     first store makes it.
        ///   - clock: Returns the current time.
        package convenience init(
            noThrowConfig config: Config,
            creatingDirectory: Bool,
            clock: @escaping @Sendable () -> Date = { Date() }
        ) {
            self.init(config, makesDirectory: creatingDirectory, clock: clock)
            guard creatingDirectory else { return }
            do { try makeDirectory() } catch {
                record(error)
                state.withLock { $0.isWithoutDirectory = true }
            }
        }

        /// The configuration.
        ///
        /// The directory does not change with it. A lower size limit holds from the next store on.
        public var config: Config {
            get { state.withLock { $0.config } }
            set {
                state.withLock { $0.config = newValue }
                applySizeLimit()
            }
        }

        /// The last failure of the directory, in words, with advice; nil if there was none.
        ///
        /// The failure may be over by now. (Not in Kingfisher, whose errors about a whole directory name it, and have
        /// no room for a reason.)
        public var directoryFailure: String? { state.withLock { $0.directoryFailure } }

        // MARK: One entry

        /// Writes a value.
        ///
        /// It can be read as soon as this returns, by every process. When it exceeds the size limit, the least recently
        /// used entries are removed, unless another thread or process is doing so. A value that alone is larger than
        /// the limit is not kept, which is not an error; an entry under its key is removed even so.
        /// - Parameters:
        ///   - value: The value.
        ///   - key: Its key.
        ///   - expiration: How long it is valid; nil means the value of the configuration. With one that is over
        ///     already, nothing is stored, and the key's entry stays.
        ///   - writeOptions: With `withoutOverwriting`, an existing entry is kept, and is an error. Files are always
        ///     written atomically; other options are accepted for compatibility.
        ///   - forcedExtension: The extension of the file, instead of the configured one.
        /// - Throws: ``KingfisherError``, a cache error; the entry that was there before is still there then.
        public func store(
            value: T,
            forKey key: String,
            expiration: StorageExpiration? = nil,
            writeOptions: Data.WritingOptions = [],
            forcedExtension: String? = nil
        ) throws(KingfisherError) {
            try makeDirectoryIfMissing()  // before any work is done in vain
            let data: Data
            do { data = try value.toData() } catch {
                throw .cacheError(reason: .cannotConvertToData(object: value, error: error))
            }
            try write(data, forKey: key, expiration, writeOptions, forcedExtension)
        }

        /// Reads a value.
        ///
        /// - Parameters:
        ///   - key: Its key.
        ///   - forcedExtension: The extension of the file, instead of the configured one.
        ///   - extendingExpiration: The effect of the access on the expiry.
        /// - Returns: The value; nil if there is none or it has expired.
        /// - Throws: ``KingfisherError``, a cache error, when there is an entry that cannot be read.
        public func value(
            forKey key: String,
            forcedExtension: String? = nil,
            extendingExpiration: ExpirationExtending = .cacheTime
        ) throws(KingfisherError) -> T? {
            try value(
                forKey: key,
                referenceDate: clock(),
                extendingExpiration: extendingExpiration,
                forcedExtension: forcedExtension
            )
        }

        /// Whether a key has an entry that has not expired; does not extend the expiry.
        public func isCached(forKey key: String, forcedExtension: String? = nil) -> Bool {
            isCached(forKey: key, referenceDate: clock(), forcedExtension: forcedExtension)
        }

        /// Whether a key has an entry that has not expired at a date; does not extend the expiry.
        public func isCached(forKey key: String, referenceDate: Date, forcedExtension: String? = nil) -> Bool {
            files.contains(cacheFileName(forKey: key, forcedExtension: forcedExtension), at: referenceDate)
        }

        /// Removes an entry; it is not an error if there is none.
        ///
        /// - Parameters:
        ///   - key: Its key.
        ///   - forcedExtension: The extension of the file, instead of the configured one.
        /// - Throws: ``KingfisherError``, a cache error, when there is one that cannot be removed.
        public func remove(forKey key: String, forcedExtension: String? = nil) throws(KingfisherError) {
            let name = cacheFileName(forKey: key, forcedExtension: forcedExtension)
            try translating { () throws(StorageError) in _ = try files.remove(name) }
        }

        /// The URL of the file that holds the entry of a key, or would hold it.
        public func cacheFileURL(forKey key: String, forcedExtension: String? = nil) -> URL {
            url(of: cacheFileName(forKey: key, forcedExtension: forcedExtension))
        }

        // MARK: All entries

        /// Removes all entries.
        ///
        /// The directory stays, and is made if it had been removed.
        /// - Throws: ``KingfisherError``, a cache error, when a file cannot be removed.
        public func removeAll() throws(KingfisherError) { try removeAll(skipCreatingDirectory: false) }

        /// Removes the entries that have expired.
        ///
        /// An entry that cannot be removed does not prevent the removal of others.
        /// - Returns: The URLs of their files.
        /// - Throws: ``KingfisherError``, a cache error, when the directory cannot be listed.
        public func removeExpiredValues() throws(KingfisherError) -> [URL] {
            try removeExpiredValues(referenceDate: clock())
        }

        /// When the size limit is reached, removes the least recently used entries until half of it is free.
        ///
        /// - Returns: The URLs of their files.
        /// - Throws: ``KingfisherError``, a cache error, when the directory cannot be listed.
        public func removeSizeExceededValues() throws(KingfisherError) -> [URL] {
            let limit = Int(clamping: config.sizeLimit)
            guard limit > 0 else { return [] }
            return try listing { () throws(StorageError) in try files.trim(above: limit - 1, to: limit / 2) }.map(url)
        }

        /// The bytes of all entries, including those that have expired and are not removed yet.
        ///
        /// - Throws: ``KingfisherError``, a cache error, when the directory cannot be listed.
        public func totalSize() throws(KingfisherError) -> UInt {
            UInt(try listing { () throws(StorageError) in try files.totalSize() })
        }
    }
}
