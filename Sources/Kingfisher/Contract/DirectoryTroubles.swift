// Why directories of caches could not be used, for the words of errors that have no room for it. Decides nothing.

import Glibc
import KFStorage
import KFSupport

/// What was last wrong with a cache's directory.
///
/// The error cases about a directory as a whole are Kingfisher's, which name the directory and no reason; who reads the
/// words is to learn the reason all the same. So it is kept here, by the directory's path.
enum DirectoryTroubles {
    private static let reasons = Locked(Reasons())

    /// The reasons, by path.
    struct Reasons: Sendable {
        /// More are not kept, the latest are: the directories of a process are few, and the words do without.
        static let most = 64
        private var byPath: [String: String] = [:]
        /// The paths, those of the latest reasons last.
        private var paths: [String] = []

        mutating func keep(_ reason: String, of path: String) {
            paths.removeAll { $0 == path }
            if paths.count >= Self.most { byPath[paths.removeFirst()] = nil }
            paths.append(path)
            byPath[path] = reason
        }

        func reason(of path: String) -> String? { byPath[path] }
    }

    /// Keeps why the directory at `path` could not be used, or listed.
    static func note(_ error: any Error, ofDirectoryAt path: String) {
        let reason = words(for: error, at: path)
        reasons.withLock { $0.keep(reason, of: path) }
    }

    /// What was last wrong with the directory at `path`, and what to do about it; `nil` if that is not known.
    static func reason(ofDirectoryAt path: String) -> String? { reasons.withLock { $0.reason(of: path) } }

    private static func words(for error: any Error, at path: String) -> String {
        guard let error = error as? StorageError else { return "\(error.plainDescription); \(advice(for: 0))" }
        let cause = error.path == path ? error.reason : "\(error)"
        return "\(cause); \(advice(for: error.code))"
    }

    private static func advice(for code: Int32) -> String {
        switch code {
        case EACCES, EPERM: "let this user (number \(geteuid())) read and write there, or choose another directory"
        case EROFS: "choose a directory on a file system that can be written to"
        case ENOTDIR, EEXIST, ELOOP: "remove what is in its way, or choose another directory"
        case ENOSPC, EDQUOT: "make room on the disk"
        case EMFILE, ENFILE: "allow more open files (ulimit -n), or find out what keeps them open"
        case ENAMETOOLONG, EINVAL: "choose another name for the directory"
        case EIO: "check the disk"
        default: "check that the path is a directory this user may read and write"
        }
    }
}
