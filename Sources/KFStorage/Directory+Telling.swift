// Replacing and removing files so that it is known how long they were. Knows nothing of who wants to know.

import CKFLinux
import Glibc

/// Who looks at a file and then replaces or removes it by its name may do that to another one. These two look at what they
/// have moved out of everybody's way: of several that replace or remove one another's files at the same time, no two hear
/// of the same one.
extension Directory {
    /// Moves `name` to `newName` in `target`, over a file that is there, and answers exactly how long that was.
    ///
    /// - Returns: 0 if there was none; `nil` if it cannot be told.
    func moveTelling(_ name: String, to target: Directory, as newName: String) throws(StorageError) -> Int? {
        BlockingGuard.check()
        // Between looking and moving it may come and go, but hardly so often.
        for _ in 0..<8 {
            if kf_rename_if_free(number, name, target.number, newName) == 0 { return 0 }
            guard errno == EEXIST else { throw StorageError(.write, target.path(of: newName), errno) }
            guard let status = try target.status(of: newName) else { continue }
            guard status.isRegularFile else { break }
            if kf_exchange(number, name, target.number, newName) == 0 {
                return try removeReplaced(name, by: newName, in: target)
            }
            guard errno == ENOENT else { break }
        }
        try move(name, to: target, as: newName)
        return nil
    }

    /// Removes what has come to lie at `name` when `newName` took its place, and answers its length.
    private func removeReplaced(_ name: String, by newName: String, in target: Directory) throws(StorageError) -> Int? {
        // Somebody who has just started may have taken it for a leftover.
        guard let status = try status(of: name) else { return nil }
        if status.isDirectory {
            _ = kf_exchange(number, name, target.number, newName)
            throw StorageError(.write, target.path(of: newName), EISDIR)
        }
        try remove(name)
        return status.isRegularFile ? Int(status.st_size) : 0
    }

    /// Removes the file `name` by way of `folder`, and answers exactly how long it was.
    ///
    /// - Returns: `nil` if there is none; 0 if it is no file.
    func removeTelling(_ name: String, by folder: Directory) throws(StorageError) -> Int? {
        BlockingGuard.check()
        // A directory stays where it is.
        guard let status = try status(of: name) else { return nil }
        let place = Temporaries.freshName()
        guard status.isRegularFile, renameat(number, name, folder.number, place) == 0 else {
            // Somebody else was faster; by now there may be another one, which is none of this removal's business.
            if status.isRegularFile, errno == ENOENT, !folder.isRemoved { return nil }
            return try remove(name) ? (status.isRegularFile ? Int(status.st_size) : 0) : nil
        }
        let moved = try folder.status(of: place) ?? status
        guard !moved.isDirectory else {
            _ = kf_rename_if_free(folder.number, place, number, name)
            throw StorageError(.remove, path(of: name), EISDIR)
        }
        try folder.remove(place)
        return moved.isRegularFile ? Int(moved.st_size) : 0
    }
}
