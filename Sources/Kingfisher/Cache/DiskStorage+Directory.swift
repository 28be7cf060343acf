// The directory of a disk storage: made, made again, listed in the background; and the one place where the file store's
// errors become the library's. Knows nothing of entries.

import Foundation
import KFStorage
import KFSupport

extension DiskStorage.Backend {
    /// For how many seconds a directory that could not be made is not tried again.
    static var secondsBetweenAttempts: TimeInterval { 1 }

    /// Whether nothing is known to be wrong with the directory.
    var isReady: Bool { state.withLock { $0.failure == nil } }

    /// Throws if the directory could not be made and cannot be made now either.
    func beReady() throws(KingfisherError) {
        guard let failure = state.withLock({ $0.failure }) else { return }
        let now = clock()
        // The clock may have been set back in between: that must not keep us from trying.
        guard abs(now.timeIntervalSince(failure)) >= Self.secondsBetweenAttempts else { throw notReady }
        // Of several threads that come at once, one tries.
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
            DirectoryTroubles.note(error, ofDirectoryAt: directoryURL.path)
            throw notReady
        }
        state.withLock { $0.failure = nil }
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

    /// Finds out in the background what is in the directory; nobody waits for that.
    func list() {
        let (mustStart, manager) = state.withLock { state -> (Bool, FileManager?) in
            let manager = state.wasListed ? nil : state.config.customFileManager
            defer { (state.isBeingListed, state.wasListed) = (true, true) }
            return (!state.isBeingListed, manager)
        }
        guard mustStart else { return }
        Task(executorPreference: WorkExecutor.io) { [weak self, files, listed, path = directoryURL.path] in
            // A listing of the user's own making does not count, only whether there was one: a name that it lacks
            // would be a file that is there and is never found.
            let hasFailed = manager.map { (try? $0.contentsOfDirectory(atPath: path)) == nil } ?? false
            files.startScan()
            self?.state.withLock { state in
                state.isBeingListed = false
                if hasFailed { state.assumedNames = .some(nil) }
            }
            listed.keep(())
        }
    }

    /// Whether the directory is being listed, or somebody here makes room in it.
    package var isSettling: Bool { state.withLock { $0.isBeingListed } || files.isMakingRoom }

    /// Has the directory listed if it was not, because it was not there to be.
    func listIfNeverListed() {
        if state.withLock({ !$0.wasListed }) { list() }
    }

    /// Hands the size limit on.
    func applySizeLimit() {
        // Whoever comes last applies the last one, whatever others do in the meantime.
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
