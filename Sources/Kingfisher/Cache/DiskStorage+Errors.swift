// The one place where the file store's errors become the library's.

import Foundation
import KFStorage

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
            DirectoryTroubles.note(error, ofDirectoryAt: directoryURL.path)
            throw .cacheError(reason: .fileEnumeratorCreationFailed(url: directoryURL))
        }
    }

    func translated(_ error: StorageError, key: String = "", data: Data = Data()) -> KingfisherError {
        let url = URL(fileURLWithPath: error.path)
        if error.isAboutTheDirectory || error.operation == .list {
            DirectoryTroubles.note(error, ofDirectoryAt: directoryURL.path)
        }
        let reason: KingfisherError.CacheErrorReason =
            switch error.operation {
            case .openDirectory, .createDirectory: .diskStorageIsNotReady(cacheURL: directoryURL)
            case .write, .name: .cannotCreateCacheFile(fileURL: url, key: key, data: data, error: error)
            case .setTimes, .setAttachment:
                .cannotSetCacheFileAttribute(filePath: error.path, attributes: [:], error: error)
            case .list: .invalidFileEnumeratorContent(url: directoryURL)
            case .remove: .cannotRemoveCacheFile(fileURL: url, error: error)
            case .read: .cannotLoadDataFromDisk(url: url, error: error)
            }
        return .cacheError(reason: reason)
    }
}
