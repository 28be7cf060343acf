// The shared implementation of a disk storage's functions, and its internal interface for `CacheCore`.

import Foundation
import Glibc
import KFStorage
import KFSupport

extension DiskStorage.Backend {
    /// The name of the file an entry is in, or would be.
    func cacheFileName(forKey key: String, forcedExtension: String? = nil) -> String {
        state.withLock { $0.config.naming }.fileName(forKey: key, forcedExtension: forcedExtension)
    }

    func url(of name: String) -> URL { directoryURL.appendingPathComponent(name, isDirectory: false) }

    /// Makes the directory if that has failed before, and throws if that fails again.
    func makeDirectoryIfMissing() throws(KingfisherError) {
        if state.withLock({ $0.isWithoutDirectory }) { try makeDirectoryAgain() }
    }

    // MARK: One entry

    /// Reads a value that is valid at a date; throws when there is a file whose status or content cannot be read.
    func value(
        forKey key: String,
        referenceDate: Date,
        extendingExpiration: ExpirationExtending,
        forcedExtension: String?
    ) throws(KingfisherError) -> T? {
        guard let entry = try entry(forKey: key, forcedExtension: forcedExtension, at: referenceDate) else {
            return nil
        }
        let value: T
        do { value = try T.fromData(entry.data) } catch {
            throw .cacheError(reason: .cannotLoadDataFromDisk(url: url(of: entry.name), error: error))
        }
        touch(entry, extending: extendingExpiration)
        return value
    }

    /// Writes the bytes of a value, and user metadata to keep with them.
    func write(
        _ data: Data,
        forKey key: String,
        _ expiration: StorageExpiration?,
        _ options: Data.WritingOptions,
        _ forcedExtension: String?,
        userMetadata: [UInt8]? = nil
    ) throws(KingfisherError) {
        try makeDirectoryIfMissing()
        let config = config
        let name = config.naming.fileName(forKey: key, forcedExtension: forcedExtension)
        do throws(StorageError) {
            let isReplacing = !options.contains(.withoutOverwriting)
            if !isReplacing, unreadability(of: name) == nil {
                throw StorageError(.write, url(of: name).path, EEXIST)
            }
            if FileNaming.mainKey(ofVariant: key) != nil { try files.willWriteVariant() }
            try files.write(
                data,
                to: name,
                key: key,
                expiration: expiration ?? config.expiration,
                userMetadata: userMetadata,
                replacing: isReplacing
            )
        } catch {
            throw translated(error, key: key, data: data)
        }
    }

    /// The entry of a key, as bytes; nil if there is none that is valid at `date` (now, if not given).
    func entry(
        forKey key: String,
        forcedExtension: String?,
        at date: Date? = nil
    ) throws(KingfisherError) -> FileStore.Entry? {
        try makeDirectoryIfMissing()
        let name = cacheFileName(forKey: key, forcedExtension: forcedExtension)
        do throws(StorageError) {
            if let entry = try files.read(name, at: date) { return entry }
        } catch { throw translated(error) }
        try checkMiss(of: name, key)
        return nil
    }

    /// Extends the expiry of an entry that was read.
    ///
    /// The entry is valid whether or not that works.
    func touch(_ entry: FileStore.Entry, extending: ExpirationExtending) {
        try? files.touch(entry, extending: extending)
    }

    /// Removes the variants of an entry: its encoded results.
    func removeVariants(of key: String) throws(KingfisherError) {
        try translating { () throws(StorageError) in try files.removeVariants(of: key) }
    }

    /// Removes an entry that was read and cannot be decoded.
    func discard(_ entry: FileStore.Entry) {
        try? files.discard(entry)
    }

    /// Throws if no file was found but a subclassed file manager says that there is one.
    private func checkMiss(of name: String, _ key: String) throws(KingfisherError) {
        guard let manager = state.withLock({ $0.config.customFileManager }) else { return }
        // A file whose status can be read has expired, or was stored a moment ago.
        guard let error = unreadability(of: name) else { return }
        let url = url(of: name)
        guard manager.fileExists(atPath: url.path) else { return }
        throw .cacheError(reason: .invalidURLResource(error: error, key: key, url: url))
    }

    /// The reason why the status of a file cannot be read; nil if it can.
    private func unreadability(of name: String) -> StorageError? {
        BlockingGuard.check()
        let path = url(of: name).path
        var status = stat()
        return lstat(path, &status) == 0 ? nil : StorageError(.read, path, errno)
    }

    // MARK: All entries

    /// All entries.
    func listing() throws(KingfisherError) -> [FileStore.Listed] {
        try listing { () throws(StorageError) in try files.entries() }
    }

    /// Removes the entries that have expired at a date, and returns their URLs.
    func removeExpiredValues(referenceDate: Date) throws(KingfisherError) -> [URL] {
        try listing { () throws(StorageError) in try files.removeExpired(at: referenceDate) }.map(url)
    }

    /// Removes all entries, and the directory too if `skipCreatingDirectory` is true.
    ///
    /// - Parameter skipCreatingDirectory: Whether the directory is removed; then the next store makes it.
    /// - Throws: ``KingfisherError``, a cache error, when a file cannot be removed.
    func removeAll(skipCreatingDirectory: Bool) throws(KingfisherError) {
        try translating { () throws(StorageError) in try files.removeAll() }
        if skipCreatingDirectory {
            // It fails if an entry was stored in the meantime, which is then kept like any other.
            BlockingGuard.check()
            rmdir(directoryURL.path)
        } else if makesDirectory {
            try makeDirectoryIfMissing()
            try translating { () throws(StorageError) in try files.prepare() }
        }
    }
}
