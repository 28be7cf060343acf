// What the functions of a disk storage have in common, and what the cache above needs of it. Knows nothing of images.

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

    // MARK: One entry

    /// Reads a value that is valid at a date, or only asks whether there is one.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - referenceDate: The date.
    ///   - actuallyLoad: Whether to read it; otherwise what is there is `T.empty`, and is not prolonged.
    ///   - extendingExpiration: What the access does to the expiry.
    ///   - forcedExtension: The extension of the file, instead of the configured one.
    /// - Returns: The value; nil if there is none or it has expired.
    /// - Throws: ``KingfisherError``, a cache error, when there is something that cannot be looked at or read.
    func value(
        forKey key: String,
        referenceDate: Date,
        actuallyLoad: Bool,
        extendingExpiration: ExpirationExtending,
        forcedExtension: String?
    ) throws(KingfisherError) -> T? {
        guard actuallyLoad else {
            try beReady()
            let name = cacheFileName(forKey: key, forcedExtension: forcedExtension)
            if mayBeCached(name) {
                if files.contains(name, at: referenceDate) { return T.empty }
                try noteMiss(of: name, key)
            }
            return nil
        }
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

    /// Writes bytes that were made of a value, and an attachment to keep with them.
    func write(
        _ data: Data,
        forKey key: String,
        _ expiration: StorageExpiration?,
        _ options: Data.WritingOptions,
        _ forcedExtension: String?,
        attachment: [UInt8]? = nil
    ) throws(KingfisherError) {
        try beReady()
        let config = config
        let name = config.naming.fileName(forKey: key, forcedExtension: forcedExtension)
        do throws(StorageError) {
            let isReplacing = !options.contains(.withoutOverwriting)
            if !isReplacing, unreadability(of: name) == nil {
                throw StorageError(.write, url(of: name).path, EEXIST)
            }
            try files.write(
                data,
                to: name,
                key: key,
                expiration: expiration ?? config.expiration,
                attachment: attachment,
                replacing: isReplacing
            )
        } catch {
            throw translated(error, key: key, data: data)
        }
        state.withLock { state in
            if case .some(.some(var names)) = state.assumedNames {
                names.insert(name)
                state.assumedNames = names
            }
        }
        listIfNeverListed()
    }

    /// The entry of a key, not yet made into a value; nil if there is none that is valid at `date` (now, if not given).
    func entry(
        forKey key: String,
        forcedExtension: String?,
        at date: Date? = nil,
        withAttachment: Bool = false
    ) throws(KingfisherError) -> FileStore.Entry? {
        let (failure, naming, isAssumed) = state.withLock { ($0.failure, $0.config.naming, $0.assumedNames != nil) }
        if failure != nil { try beReady() }
        let name = naming.fileName(forKey: key, forcedExtension: forcedExtension)
        if isAssumed, !mayBeCached(name) { return nil }
        do throws(StorageError) {
            if let entry = try files.read(name, at: date, withAttachment: withAttachment) { return entry }
        } catch { throw translated(error) }
        try noteMiss(of: name, key)
        return nil
    }

    /// Prolongs the life of an entry that was read.
    ///
    /// What was read is good whether or not that works.
    func touch(_ entry: FileStore.Entry, extending: ExpirationExtending) {
        try? files.touch(entry, extending: extending)
    }

    /// Removes an entry that was read and is no good.
    func discard(_ entry: FileStore.Entry) {
        try? files.discard(entry)
    }

    /// Notes that nothing was found; throws if nothing can be learnt of a file that the file manager says is there.
    ///
    /// That is asked only of a file manager of the user's own: for all others a file that cannot be looked at is not there.
    private func noteMiss(of name: String, _ key: String) throws(KingfisherError) {
        let (custom, isAssumed) = state.withLock { ($0.config.customFileManager, $0.assumedNames != nil) }
        guard let manager = custom, isAssumed || files.mayHave(name) else { return }
        // A file that can be looked at has expired, or was stored a moment ago.
        guard let error = unreadability(of: name) else { return }
        let url = url(of: name)
        guard manager.fileExists(atPath: url.path) else { return }
        throw .cacheError(reason: .invalidURLResource(error: error, key: key, url: url))
    }

    /// Why nothing can be learnt of a file; nil if something can.
    private func unreadability(of name: String) -> StorageError? {
        BlockingGuard.check()
        let path = url(of: name).path
        var status = stat()
        return lstat(path, &status) == 0 ? nil : StorageError(.read, path, errno)
    }

    // MARK: All entries

    /// Everything there is.
    func listing() throws(KingfisherError) -> [FileStore.Listed] {
        try listing { () throws(StorageError) in try files.entries() }
    }

    /// Removes the entries that have expired at a date, and answers where they were.
    func removeExpiredValues(referenceDate: Date) throws(KingfisherError) -> [URL] {
        try listing { () throws(StorageError) in try files.removeExpired(at: referenceDate) }.map(url)
    }

    /// Removes all entries, and the directory too if it is not to be there afterwards.
    ///
    /// - Parameter skipCreatingDirectory: Whether the directory goes; then the next store makes it.
    /// - Throws: ``KingfisherError``, a cache error, when something cannot be removed.
    func removeAll(skipCreatingDirectory: Bool) throws(KingfisherError) {
        try translating { () throws(StorageError) in try files.removeAll() }
        if skipCreatingDirectory {
            // Not if something was stored in the meantime: that is an entry like any other.
            BlockingGuard.check()
            rmdir(directoryURL.path)
        } else if makesDirectory {
            try beReady()
            try translating { () throws(StorageError) in try files.prepare() }
        }
    }

    // MARK: The names that are known

    /// Whether a look-up goes to the disk: always, unless names were assigned that lack this one.
    func mayBeCached(_ name: String) -> Bool { state.withLock { $0.mayBeCached(name) } }

    /// The names of the files as far as this process knows; nil as long as they are not known.
    ///
    /// For tests written for Kingfisher: look-ups find only names that are assigned, and what is stored from then on; with
    /// nil, all.
    var maybeCached: Set<String>? {
        get { state.withLock { $0.assumedNames } ?? files.knownNames }
        set { state.withLock { $0.assumedNames = .some(newValue) } }
    }

    /// Whether the directory has been listed; assigning false has look-ups go to the disk, whatever names were assigned.
    var maybeCachedSetupCompleted: Bool {
        get { state.withLock { $0.assumedCompletion } ?? (files.isScanned && !state.withLock { $0.isBeingListed }) }
        set { state.withLock { $0.assumedCompletion = newValue } }
    }
}
