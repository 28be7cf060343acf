// The directory of a disk storage: made, and made again when it is gone. The only file where the file store's errors
// become the library's.

import Foundation
import KFStorage
import KFSupport

extension DiskStorage.Backend {
    /// Makes the directory after that has failed, and throws if it fails again.
    func makeDirectoryAgain() throws(KingfisherError) {
        do { try makeDirectory() } catch {
            record(error)
            throw .cacheError(reason: .diskStorageIsNotReady(cacheURL: directoryURL))
        }
        state.withLock { ($0.isWithoutDirectory, $0.directoryFailure) = (false, nil) }
        Self.scan(files)
    }

    /// Makes the directory, and its parents.
    func makeDirectory() throws {
        let path = directoryURL.path
        if let manager = config.customFileManager, !manager.fileExists(atPath: path) {
            try manager.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: nil)
        }
        try files.prepare()
    }

    /// Counts the bytes of all entries in the background; nothing waits for that.
    @discardableResult
    static func scan(_ files: FileStore) -> Task<Void, Never> {
        Task(executorPreference: WorkExecutor.io) { files.startScan() }
    }

    /// Waits until the first scan is over and this process is not evicting entries.
    package func waitUntilIdle() async {
        await firstScan.value
        await WorkExecutor.io.run { [files] in files.waitForRoom() }
    }

    /// Passes the size limit on to the file store.
    func applySizeLimit() {
        // The thread that assigns last applies the last limit, whatever other threads do in the meantime.
        var limit: UInt
        repeat {
            limit = config.sizeLimit
            files.configure(sizeLimit: Int(clamping: limit))
        } while config.sizeLimit != limit
    }
}

extension DiskStorage.Backend {
    /// Does work on one entry, and throws the file store's errors as the library's.
    func translating<Result>(_ body: () throws(StorageError) -> Result) throws(KingfisherError) -> Result {
        do throws(StorageError) { return try body() } catch { throw translated(error) }
    }

    /// Does work on all entries, which requires listing them, and throws the file store's errors as the library's.
    func listing<Result>(_ body: () throws(StorageError) -> Result) throws(KingfisherError) -> Result {
        try makeDirectoryIfMissing()
        do throws(StorageError) { return try body() } catch {
            guard error.isAboutTheDirectory else { throw translated(error) }
            record(error)
            throw .cacheError(reason: .fileEnumeratorCreationFailed(url: directoryURL))
        }
    }

    func translated(_ error: StorageError, key: String = "", data: Data = Data()) -> KingfisherError {
        let url = URL(fileURLWithPath: error.path)
        if error.isAboutTheDirectory || error.operation == .list {
            record(error)
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

    /// Records the failure of the directory, and the advice for it.
    func record(_ error: any Error) {
        let path = directoryURL.path
        let cause = (error as? StorageError).map { $0.path == path ? $0.reason : "\($0)" } ?? error.plainDescription
        state.withLock { $0.directoryFailure = "\(cause); \(error.directoryAdvice)" }
    }
}
