// Files that are being written and have no name yet. Knows nothing of entries.

import CKFLinux
import Glibc
import Synchronization

/// Where files are written before they get their name, so that nobody ever sees half of one.
///
/// A folder beside the directory, not inside: the directory holds entries and nothing else. Only when there can be none
/// (the directory is a mount point or is found through one, its parent is not ours, or somebody put something else there) they are hidden files
/// in the directory itself.
///
/// A file is locked while it is written. One that is not locked was left behind by a process that died. (A file without
/// a name, made with `O_TMPFILE`, would leave nothing behind; but it cannot take the place of an entry without getting a
/// name first, and takes a tenth longer.)
final class Temporaries: Sendable {
    static let prefix = ".kf-"
    let folder: Directory
    /// Whether the folder is one beside the directory.
    let isBeside: Bool

    private init(folder: Directory, isBeside: Bool) {
        self.folder = folder
        self.isBeside = isBeside
    }

    /// The temporaries of `directory`; what dead processes left there is removed.
    static func of(_ directory: Directory) throws(StorageError) -> Temporaries {
        let beside = path(beside: directory).flatMap { try? Directory.create($0, followingLinks: false) }
        let usable = beside.flatMap { $0.canServe(directory) ? $0 : nil }
        let temporaries = Temporaries(folder: usable ?? directory, isBeside: usable != nil)
        try temporaries.removeLeftovers()
        return temporaries
    }

    /// The temporaries of a directory beside which there can be none.
    static func inside(_ directory: Directory) -> Temporaries { Temporaries(folder: directory, isBeside: false) }

    /// Removes what dead processes left for `directory`, without making anything.
    static func removeLeftovers(of directory: Directory) throws(StorageError) {
        if let temporaries = existing(of: directory) { return try temporaries.removeLeftovers() }
        // There may be no folder because there has never been a writer, or because there cannot be one.
        var status = stat()
        let isAbsent = path(beside: directory).map { lstat($0, &status) != 0 && errno == ENOENT } ?? false
        if !isAbsent { try inside(directory).removeLeftovers() }
    }

    /// The folder beside `directory`, if somebody has made it.
    static func existing(of directory: Directory) -> Temporaries? {
        let path = path(beside: directory)
        guard let path, let beside = try? Directory.open(path, followingLinks: false), beside.canServe(directory) else {
            return nil
        }
        return Temporaries(folder: beside, isBeside: true)
    }

    /// Where the folder of `directory` is, or would be: the same by whatever path the directory was found; `nil` if
    /// that cannot be told.
    private static func path(beside directory: Directory) -> String? {
        directory.ownPath.flatMap(FolderName.path(besideDirectoryAt:))
    }

    private func removeLeftovers() throws(StorageError) {
        var names: [String] = []
        try folder.forEachName { if $0.hasPrefix(Self.prefix) { names.append($0) } }
        Self.removeLeftovers(names, in: folder)
    }

    /// Removes those of the files called `names` that dead processes left in `folder`.
    static func removeLeftovers(_ names: [String], in folder: Directory) {
        for name in names where name.hasPrefix(prefix) {
            // A file that cannot be opened or removed is somebody else's to care about.
            guard let file = try? folder.open(name), flock(file.number, LOCK_EX | LOCK_NB) == 0 else { continue }
            _ = try? folder.remove(name)
        }
    }

    /// What becomes of a file that has the name of a new one.
    enum Replacement: Sendable {
        /// It is replaced.
        case silent
        /// It is replaced, and its length is told.
        case told
        /// It stays, and that is a failure.
        case refused
    }

    /// Makes a new file, lets `write` fill it, and gives it its name in `directory`; on failure nothing remains.
    ///
    /// - Returns: How long the file was that was replaced, 0 if there was none, when that is to be told and can be.
    @discardableResult
    func put(
        _ name: String,
        in directory: Directory,
        _ replacement: Replacement = .silent,
        _ write: (borrowing Descriptor, FileIdentity) throws(StorageError) -> Void
    ) throws(StorageError) -> Int? {
        let temporary = try newFile(for: directory.path(of: name))
        do throws(StorageError) {
            try write(temporary.descriptor, temporary.identity)
            // Not while somebody who has looked at the file of that name is about to remove it.
            return try NameLocks.withLock(name) { () throws(StorageError) in
                if replacement == .told { return try folder.moveTelling(temporary.name, to: directory, as: name) }
                try folder.move(temporary.name, to: directory, as: name, replacing: replacement != .refused)
                return nil
            }
        } catch {
            _ = try? folder.remove(temporary.name)
            throw error
        }
    }

    /// Makes a new file that is locked.
    private func newFile(for path: @autoclosure () -> String) throws(StorageError) -> NewFile {
        for _ in 0..<100 {
            let name = Self.freshName()
            let created: Descriptor?
            // Who hears of it knows the entry's name, and not that of this file.
            do throws(StorageError) { created = try folder.create(name) } catch {
                throw StorageError(error.operation, path(), error.code)
            }
            guard let file = created else { continue }
            if let identity = Self.secure(file) { return NewFile(name: name, descriptor: file, identity: identity) }
            _ = try? folder.remove(name)
        }
        throw StorageError(.write, path(), EBUSY)
    }

    private struct NewFile: ~Copyable {
        let name: String
        let descriptor: Descriptor
        let identity: FileIdentity
    }

    /// Locks a file that was just made, and answers which it is if nobody will remove it now.
    ///
    /// Before, another process that has just started may have taken it for a leftover. Such a one holds the lock until
    /// it has removed the file: who gets the lock and finds a file that still has its name will keep it.
    static func secure(_ file: borrowing Descriptor) -> FileIdentity? {
        let isLocked = flock(file.number, LOCK_EX | LOCK_NB) == 0
        // Where locks are unknown, nobody gets one to remove anything.
        guard isLocked || errno != EWOULDBLOCK else { return nil }
        let status = file.status
        return status.st_nlink > 0 ? FileIdentity(status) : nil
    }

    /// A name that nobody has: chance once a process, then one after the other, for chance is a system call.
    ///
    /// Six bits a letter, so that it is short enough to be no memory of its own.
    static func freshName() -> String {
        let number = nextName.wrappingAdd(1, ordering: .relaxed).newValue
        let letters: StaticString = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
        let start = prefix
        return String(unsafeUninitializedCapacity: start.utf8.count + 11) { buffer in
            var (_, end) = buffer.initialize(from: start.utf8)
            for shift in stride(from: 0, to: UInt64.bitWidth, by: 6) {
                buffer[end] = letters.utf8Start[Int(number >> UInt64(shift) & 63)]
                end += 1
            }
            return end
        }
    }

    private static let nextName = Atomic(UInt64.random(in: .min ... .max))
}

extension Directory {
    /// Whether files can be written here, and renamed from here into `directory`, with nobody else meddling, and
    /// whether all who use `directory` find this folder.
    ///
    /// Who finds the directory where it was mounted once more would not: what is beside it there is not beside it here.
    fileprivate func canServe(_ directory: Directory) -> Bool {
        isOnSameFileSystem(as: directory) && isWritable && (owner == geteuid() || owner == directory.owner)
            && !isMountRoot && !directory.isMountRoot && parent != nil && parent == directory.parent
    }

    private var isMountRoot: Bool {
        BlockingGuard.check()
        return kf_is_mount_root(number) != 0
    }

    /// The directory it really lies in; `nil` if that is not ours to see.
    private var parent: FileIdentity? {
        BlockingGuard.check()
        var status = stat()
        return fstatat(number, "..", &status, 0) == 0 ? FileIdentity(status) : nil
    }

    /// Its path by its own name in the directory it really lies in, whatever links have led to it; `nil` if that cannot
    /// be told.
    fileprivate var ownPath: String? {
        BlockingGuard.check()
        let found = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            let count = buffer.baseAddress.map { readlink("/proc/self/fd/\(number)", $0, buffer.count) } ?? 0
            let bytes = UnsafeRawBufferPointer(buffer)[..<max(0, count)]
            return String(validating: bytes, as: UTF8.self)
        }
        return [found, path].compactMap { $0 }.first { path in
            var status = stat()
            return lstat(path, &status) == 0 && FileIdentity(status) == identity
        }
    }
}
