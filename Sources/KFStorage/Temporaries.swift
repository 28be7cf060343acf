// Files that are being written and have no name yet. Knows nothing of entries.

import Glibc

/// Where files are written before they get their name, so that nobody ever sees half of one.
///
/// A folder beside the directory, not inside: the directory holds entries and nothing else. Only when there can be none
/// on the same file system (the directory is a mount point, or its parent is not ours) they are hidden files in it.
/// A file is locked while it is written. One that is not locked was left behind by a process that died.
final class Temporaries: Sendable {
    static let prefix = ".kf-"
    let folder: Directory

    private init(folder: Directory) { self.folder = folder }

    /// The temporaries of `directory`; what dead processes left there is removed.
    static func of(_ directory: Directory) throws(StorageError) -> Temporaries {
        let beside = try? Directory.create(path(beside: directory.path))
        let isUsable = beside.map { $0.isOnSameFileSystem(as: directory) && access($0.path, W_OK) == 0 } ?? false
        let temporaries = Temporaries(folder: isUsable ? beside ?? directory : directory)
        try temporaries.removeLeftovers()
        return temporaries
    }

    /// Removes what dead processes left for the directory at `path`, without making anything.
    static func removeLeftovers(of path: String) throws(StorageError) {
        guard let folder = try Directory.open(Self.path(beside: path)) else { return }
        try Temporaries(folder: folder).removeLeftovers()
    }

    private static func path(beside path: String) -> String { path + ".tmp" }

    private func removeLeftovers() throws(StorageError) {
        var names: [String] = []
        try folder.forEachName { if $0.hasPrefix(Self.prefix) { names.append($0) } }
        for name in names {
            // A file that cannot be opened or removed is somebody else's to care about.
            guard let file = try? folder.open(name), flock(file.number, LOCK_EX | LOCK_NB) == 0 else { continue }
            _ = try? folder.remove(name)
        }
    }

    /// Makes a new file, lets `write` fill it, and gives it its name in `directory`; on failure nothing remains.
    func put(
        _ name: String,
        in directory: Directory,
        _ write: (borrowing Descriptor) throws(StorageError) -> Void
    ) throws(StorageError) {
        let temporary = Self.freshName()
        guard let file = try folder.create(temporary) else {
            throw StorageError(.write, directory.path(of: name), EEXIST)
        }
        do throws(StorageError) {
            // Between making the file and locking it, another process that has just started may take it for a leftover.
            guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
                throw StorageError(.write, directory.path(of: name), ENOENT)
            }
            try write(file)
            try folder.move(temporary, to: directory, as: name)
        } catch {
            _ = try? folder.remove(temporary)
            throw error
        }
    }

    private static func freshName() -> String { prefix + String(UInt64.random(in: .min ... .max), radix: 36) }
}
