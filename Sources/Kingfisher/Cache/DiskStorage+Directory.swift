// The directory of a disk storage: made, made again, listed in the background; and the only file where the file store's
// errors become the library's. Knows nothing of entries.

import Foundation
import KFStorage
import KFSupport

extension DiskStorage.Backend {
    /// For how many seconds a directory that could not be made is not tried again.
    static var secondsBetweenAttempts: TimeInterval { 1 }

    /// Whether nothing is known to be wrong with the directory.
    var isReady: Bool { state.withLock { $0.failure == nil } }

    /// Throws if the directory could not be made before and cannot be made now.
    func beReady() throws(KingfisherError) {
        guard let failure = state.withLock({ $0.failure }) else { return }
        let now = clock()
        // The clock may have been set back in between: that must not prevent another attempt.
        guard abs(now.timeIntervalSince(failure)) >= Self.secondsBetweenAttempts else { throw notReady }
        // Of several threads that get here at once, one tries.
        let isOurs = state.withLock { state in
            guard state.failure == failure else { return false }
            state.failure = now
            return true
        }
        guard isOurs else {
            guard isReady else { throw notReady }
            return
        }
        do { try makeDirectory() } catch {
            note(error)
            throw notReady
        }
        state.withLock { ($0.failure, $0.directoryFailure) = (nil, nil) }
        list()
    }

    private var notReady: KingfisherError { .cacheError(reason: .diskStorageIsNotReady(cacheURL: directoryURL)) }

    /// Makes the directory, with all that leads to it.
    func makeDirectory() throws {
        let path = directoryURL.path
        if let manager = config.customFileManager, !manager.fileExists(atPath: path) {
            try manager.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: nil)
        }
        try files.prepare()
    }

    /// Finds out in the background what is in the directory; nothing waits for that.
    func list() {
        let mustStart = state.withLock { state in
            defer { (state.isBeingListed, state.wasListed) = (true, true) }
            return !state.isBeingListed
        }
        guard mustStart else { return }
        Task(executorPreference: WorkExecutor.io) { [weak self, files, listed] in
            files.startScan()
            self?.state.withLock { $0.isBeingListed = false }
            listed.fulfil(())
        }
    }

    /// Whether the directory is being listed, or room is being made in it by this process.
    package var isSettling: Bool { state.withLock { $0.isBeingListed } || files.isMakingRoom }

    /// Lists the directory if that has not happened because it did not exist.
    func listIfNeverListed() {
        if state.withLock({ !$0.wasListed }) { list() }
    }

    /// Passes the size limit on to the file store.
    func applySizeLimit() {
        // The thread that assigns last applies the last limit, whatever others do in the meantime.
        var limit: UInt
        repeat {
            limit = config.sizeLimit
            files.configure(sizeLimit: Int(clamping: limit))
        } while config.sizeLimit != limit
    }
}

extension DiskStorage.Backend {
    /// Does something with one entry.
    func translating<Result>(_ body: () throws(StorageError) -> Result) throws(KingfisherError) -> Result {
        do throws(StorageError) { return try body() } catch { throw translated(error) }
    }

    /// Does something with all entries, which have to be listed for that.
    func listing<Result>(_ body: () throws(StorageError) -> Result) throws(KingfisherError) -> Result {
        try beReady()
        do throws(StorageError) { return try body() } catch {
            guard error.isAboutTheDirectory else { throw translated(error) }
            note(error)
            throw .cacheError(reason: .fileEnumeratorCreationFailed(url: directoryURL))
        }
    }

    func translated(_ error: StorageError, key: String = "", data: Data = Data()) -> KingfisherError {
        let url = URL(fileURLWithPath: error.path)
        if error.isAboutTheDirectory || error.operation == .list {
            note(error)
        }
        let reason: KingfisherError.CacheErrorReason =
            switch error.operation {
            case .openDirectory, .createDirectory: .diskStorageIsNotReady(cacheURL: directoryURL)
            case .write, .name: .cannotCreateCacheFile(fileURL: url, key: key, data: data, error: error)
            case .setTimes, .setUserMetadata:
                .cannotSetCacheFileAttribute(filePath: error.path, attributes: [:], error: error)
            case .list: .invalidFileEnumeratorContent(url: directoryURL)
            case .remove: .cannotRemoveCacheFile(fileURL: url, error: error)
            case .read: .cannotLoadDataFromDisk(url: url, error: error)
            }
        return .cacheError(reason: reason)
    }

    /// Keeps what is wrong with the directory, and what to do about it.
    func note(_ error: any Error) {
        let path = directoryURL.path
        let cause = (error as? StorageError).map { $0.path == path ? $0.reason : "\($0)" } ?? error.plainDescription
        state.withLock { $0.directoryFailure = "\(cause); \(error.directoryAdvice)" }
    }
}
