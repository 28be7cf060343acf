// Bytes in files, one file per entry. Knows nothing of keys, images or threads to run on.

import CKFLinux
package import Foundation
import Glibc
import KFSupport

/// Entries in the files of one directory: bytes by file name, each with an expiry.
///
/// A file holds the entry's bytes and nothing else. Its modification time is the expiry, its access time the last
/// access; the rest lies in extended attributes (``EntryMetadata``). Files are written elsewhere and renamed into place:
/// every reader, in every process, sees a whole entry or none. A file that is shorter or longer than what was
/// written is removed when it is read, and is a miss.
///
/// The directory is held open, made when something is written, and found again when it was removed or moved.
/// All functions block on the file system; they may be called from any thread, but not from one that must not wait.
package final class FileStore: Sendable {
    /// The directory, as a path.
    package let path: String
    let clock: @Sendable () -> Date
    /// Milliseconds that only go forward.
    let ticks: @Sendable () -> Int64
    let state = Locked(FileStoreState())
    let recent = RecentMetadata()
    /// Held over whole scans and walks, and while room is made: who makes room waits for it, and who has written far more
    /// than is allowed.
    let turn = Locked(())

    /// A store over the directory at `path`, which need not exist.
    ///
    /// Touches nothing.
    /// - Parameters:
    ///   - path: Where the directory is, or will be.
    ///   - clock: Says what entries' expiry is measured by.
    ///   - ticks: Milliseconds of a clock that only goes forward; says how old knowledge is.
    package init(
        path: String,
        clock: @escaping @Sendable () -> Date = { Date() },
        ticks: @escaping @Sendable () -> Int64 = { kf_coarse_milliseconds() }
    ) {
        let path = Self.absolute(path)
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        self.clock = clock
        self.ticks = ticks
    }

    deinit { state.withLock { $0.report() } }

    /// What `path` means now: where the process is later does not matter.
    private static func absolute(_ path: String) -> String {
        guard let first = path.utf8.first, first != UInt8(ascii: "/") else { return path }
        let current = FileManager.default.currentDirectoryPath
        return current.isEmpty ? path : current + "/" + path
    }

    /// Makes the directory, and removes what processes that died while writing have left.
    package func prepare() throws(StorageError) {
        guard let directory = try currentDirectory(making: true) else { return }
        try Temporaries.removeLeftovers(of: directory)
    }

    // MARK: Removing

    /// Removes the entry called `name` and answers whether there was one.
    @discardableResult
    package func remove(_ name: String) throws(StorageError) -> Bool {
        try check(name)
        let outcome = try changing(name) { () throws(StorageError) in
            guard let directory = try currentDirectory(making: false) else { return .seen(nil) }
            return try removeFile(name, from: directory)
        }
        guard case .removed = outcome else { return false }
        return true
    }

    /// Removes a file because that was asked for, and finds out how long it was if others have to hear of it.
    func removeFile(_ name: String, from directory: Directory) throws(StorageError) -> Account.Outcome {
        let mustTell = state.withLock { $0.mustTellExactly }
        guard mustTell, let folder = temporariesFolder(of: directory) else {
            return try directory.remove(name) ? .removed(.asked) : .seen(nil)
        }
        return try directory.removeTelling(name, by: folder).map { .removed(.asked, size: $0) } ?? .seen(nil)
    }

    // MARK: The directory

    func check(_ name: String) throws(StorageError) {
        guard FileNaming.isSafe(name) else { throw StorageError(.name, name, EINVAL) }
    }

    /// The directory, opened when it was not; `nil` if there is none and it is not to be made.
    func directory(making: Bool) throws(StorageError) -> Directory? {
        if let directory = state.withLock({ $0.directory }) {
            joinLedger(of: directory)
            return directory
        }
        // The system would take what comes before a zero for the whole.
        guard !path.utf8.contains(0) else { throw StorageError(.openDirectory, path, EINVAL) }
        guard !FolderName.isTaken(byDirectoryAt: path) else { throw StorageError(.useDirectory, path, EINVAL) }
        let opened = making ? try Directory.create(path) : try Directory.open(path)
        guard let opened else { return nil }
        let directory = state.withLock { state in
            let directory = state.directory ?? opened
            state.directory = directory
            return directory
        }
        joinLedger(of: directory)
        return directory
    }

    /// Lets go of `directory` if it is no longer what the path means, and answers whether that was so.
    func forget(_ directory: Directory) -> Bool {
        guard !directory.isAtItsPath else { return false }
        forgetDirectory(directory)
        return true
    }

    /// Lets go of the directory, if it is `directory` or whatever it is, and of all that is known of its entries.
    func forgetDirectory(_ directory: Directory? = nil) {
        _ = state.withLock { state -> FileStoreState.Remains? in
            guard directory == nil || state.directory === directory else { return nil }
            return state.forgetDirectory()
        }
    }

    /// From now on writes inside the directory if `error` came of the folder beside it, and answers whether that was so.
    ///
    /// That may be forbidden by now, or nothing may be moved from there: by quotas of single folders, or in a sandbox.
    func leaveFolder(after error: StorageError) -> Bool {
        let (directory, temporaries) = state.withLock { ($0.directory, $0.temporaries) }
        guard let directory, let temporaries, temporaries.isBeside, directory.isWritable,
            error.code == EXDEV || !temporaries.folder.isWritable
        else { return false }
        state.withLock { if $0.temporaries === temporaries { $0.temporaries = .inside(directory) } }
        return true
    }

    /// The directory as its path means it now; `nil` if there is none and it is not to be made.
    func currentDirectory(making: Bool) throws(StorageError) -> Directory? {
        if let directory = state.withLock({ $0.directory }) { _ = forget(directory) }
        return try directory(making: making)
    }

    /// The directory, and where files are made for it; without `making`, it is an error if there is none.
    func placesToWrite(making: Bool = true) throws(StorageError) -> (Directory, Temporaries) {
        guard let directory = try currentDirectory(making: making) else {
            throw StorageError(.createDirectory, path, ENOENT)
        }
        let now = ticks()
        let (known, isToLook) = state.withLock { state -> (Temporaries?, Bool) in
            let known = state.directory === directory ? state.temporaries : nil
            return (known, state.beginLedgerSearch(at: now, making: true, urgent: known == nil))
        }
        if let known, !isToLook { return (directory, known) }

        let temporaries = if let known { known } else { try Temporaries.of(directory) }
        var finding = Ledger.Finding.absent
        if isToLook, temporaries.isBeside { finding = Ledger.find(temporaries.folder, beside: directory) }
        state.withLock { state in
            guard state.directory === directory else { return }
            if state.temporaries == nil { state.temporaries = temporaries }
            if isToLook { state.endLedgerSearch(finding) }
        }
        return (directory, temporaries)
    }

    // MARK: The ledger

    /// Takes up the ledger that others have made, if there is one: before a change, so that they hear of it.
    ///
    /// Who has not written anything has no ledger of his own.
    func joinLedger() {
        let now = ticks()
        // What is said in one that was removed or replaced nobody hears.
        if state.withLock({ $0.ledger != nil && now - $0.checkedAt >= 1_000 }) { checkPlaces() }
        // Who has written looks for it when he writes; but not who could not make the folder that others may have made since.
        let hasNone = state.withLock { $0.ledger == nil && $0.temporaries?.isBeside != true }
        guard hasNone, let directory = try? currentDirectory(making: false) else { return }
        joinLedger(of: directory, urgent: true)
    }

    /// Takes up the ledger that others have made since it was last looked for: after a change that they have to hear of.
    func joinLedgerMadeMeanwhile() {
        let now = ticks()
        let places = state.withLock { state -> (Directory, Temporaries)? in
            guard let directory = state.directory, let temporaries = state.temporaries, temporaries.isBeside,
                state.beginLedgerSearch(at: now, making: false, urgent: true)
            else { return nil }
            return (directory, temporaries)
        }
        guard let (directory, temporaries) = places else { return }
        let finding = Ledger.find(temporaries.folder, beside: directory, making: false)
        state.withLock { if $0.directory === directory { $0.endLedgerSearch(finding) } }
    }

    /// The same for who only reads, whose counts may wait: at most once a second.
    private func joinLedger(of directory: Directory, urgent: Bool = false) {
        let now = ticks()
        guard state.withLock({ $0.beginLedgerSearch(at: now, making: false, urgent: urgent) }) else { return }
        let finding = existingLedger(of: directory)
        state.withLock { if $0.directory === directory { $0.endLedgerSearch(finding) } }
    }

    /// The ledger that others have made for `directory`.
    func existingLedger(of directory: Directory) -> Ledger.Finding {
        guard let temporaries = Temporaries.existing(of: directory) else { return .absent }
        return Ledger.find(temporaries.folder, beside: directory, making: false)
    }
}
