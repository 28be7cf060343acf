// Files that are being written: they get their names once they are whole, and nothing is left of them where the process
// ends before. For OutputFile and Interruption.

import Foundation
import KFSupport

/// Makes files so that none is ever seen unfinished, and none stays beside the file that it was to become.
///
/// A file has no name while it is written, where the file system can do that: then the kernel removes it, whatever ends
/// the process. Elsewhere it has a hidden name, which signals that ``Interruption`` catches remove.
final class UnfinishedFiles: Sendable {
    /// Those of the process.
    static let shared = UnfinishedFiles()

    /// The hidden names of files that are being written.
    ///
    /// Whoever creates or renames such a file holds the lock, so that `removeAll` misses none.
    private let names = Locked<Set<[CChar]>>([])
    /// The flag `O_TMPFILE`, which the Glibc module lacks: a file without a name, in a directory.
    private static let unnamedFlag = 0o20_000_000 | O_DIRECTORY

    /// Makes a file, or replaces one.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - mode: The mode of a new file, without the bits of the umask.
    ///   - fill: Writes the file to a descriptor; returns 0 or the error's number. It may be called again for another
    ///     file.
    /// - Returns: 0 or the error's number; then the path is as it was.
    func make(_ path: String, mode: mode_t, fill: (_ descriptor: Int32) -> Int32) -> Int32 {
        makeUnnamed(path, mode: mode, fill: fill) ?? makeNamed(path, mode: mode, fill: fill)
    }

    /// Removes all files that have hidden names, and calls `end`, which ends the process.
    ///
    /// Until it returns, no other thread makes such a file or gives one its final name.
    func removeAll(before end: () -> Void) {
        names.withLock { names in
            for name in names { unlink(name) }
            names = []
            end()
        }
    }

    // MARK: Without a name

    /// Returns 0 or the error's number; nil where files need names.
    func makeUnnamed(_ path: String, mode: mode_t, fill: (Int32) -> Int32) -> Int32? {
        let directory = path.directory.isEmpty ? "." : path.directory
        let descriptor = open(directory.systemName, O_WRONLY | O_CLOEXEC | Self.unnamedFlag, mode)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var code = fill(descriptor)
        if code == 0 { code = Self.finishWriting(descriptor) }
        return code == 0 ? giveName(path, to: descriptor) : code
    }

    /// Returns 0 or the error's number: some file systems report a full disk only when a descriptor is closed.
    private static func finishWriting(_ descriptor: Int32) -> Int32 {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy >= 0 && close(copy) == 0 ? 0 : errno
    }

    /// Returns 0 or the error's number; nil where that is not possible.
    private func giveName(_ path: String, to descriptor: Int32) -> Int32? {
        func link(_ name: [CChar]) -> Bool {
            linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0
        }
        if link(path.systemName) { return 0 }
        guard errno == EEXIST else { return nil }
        // Links replace nothing, but renaming does.
        let name = Self.hiddenName(beside: path)
        return names.withLock { _ -> Int32? in
            guard link(name) else { return nil }
            return Self.move(name, to: path)
        }
    }

    // MARK: With a hidden name

    /// Returns 0 or the error's number.
    func makeNamed(_ path: String, mode: mode_t, fill: (Int32) -> Int32) -> Int32 {
        let name = Self.hiddenName(beside: path)
        let (descriptor, problem) = names.withLock { names -> (Int32, Int32) in
            let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
            guard descriptor >= 0 else { return (descriptor, errno) }
            names.insert(name)
            return (descriptor, 0)
        }
        guard descriptor >= 0 else { return problem }
        let filled = fill(descriptor)
        let closed = close(descriptor) == 0 ? 0 : errno
        let code = filled == 0 ? closed : filled
        return names.withLock { names -> Int32 in
            names.remove(name)
            guard code != 0 else { return Self.move(name, to: path) }
            unlink(name)
            return code
        }
    }

    /// A name beside a path, so that renaming stays within one file system.
    private static func hiddenName(beside path: String) -> [CChar] {
        let directory = path.directory.isEmpty ? "." : path.directory
        return "\(directory)/.kf-\(getpid())-\(UInt32.random(in: 0 ... .max))".systemName
    }

    /// Returns 0 or the error's number; then the file is removed.
    private static func move(_ name: [CChar], to path: String) -> Int32 {
        guard rename(name, path.systemName) != 0 else { return 0 }
        let code = errno
        unlink(name)
        return code
    }
}
