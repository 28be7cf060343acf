// The directory of a disk storage: made, made again; and the only file where the file store's errors become the
// library's. Knows nothing of entries.

import Foundation
import KFStorage
import KFSupport

extension DiskStorage.Backend {
    /// Makes the directory if that has failed before, and throws if it fails again.
    func beReady() throws(KingfisherError) {
        guard state.withLock({ $0.isWithoutDirectory }) else { return }
        do { try makeDirectory() } catch {
            note(error)
            throw .cacheError(reason: .diskStorageIsNotReady(cacheURL: directoryURL))
        }
        state.withLock { ($0.isWithoutDirectory, $0.directoryFailure) = (false, nil) }
        Self.scan(files)
    }

    /// Makes the directory, with all that leads to it.
    func makeDirectory() throws {
        let path = directoryURL.path
        if let manager = config.customFileManager, !manager.fileExists(atPath: path) {
            try manager.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: nil)
        }
        try files.prepare()
    }

    /// Finds out in the background how many bytes the entries take; nothing waits for that.
    @discardableResult
    static func scan(_ files: FileStore) -> Task<Void, Never> {
        Task(executorPreference: WorkExecutor.io) { files.startScan() }
    }

    /// Waits until the first scan is over and no room is being made by this process.
    package func settle() async {
        await firstScan.value
        await WorkExecutor.io.run { [files] in files.waitForRoom() }
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
