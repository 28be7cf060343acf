// The error of a file operation: the operation, the path, the system's reason; and advice where a directory cannot be
// used.

import Glibc

/// A file operation that failed.
package struct StorageError: Error, Equatable, CustomStringConvertible {
    /// The operation.
    package enum Operation: String, Sendable {
        case openDirectory = "open directory"
        case createDirectory = "create directory"
        case name = "use as a file name"
        case read
        case write
        case setTimes = "set the times of"
        case setUserMetadata = "set the user metadata of"
        case remove
        case list
    }

    /// The operation that failed.
    package let operation: Operation
    /// Where: the full path, or the name itself when that was refused.
    package let path: String
    /// Why: the value of `errno`.
    package let code: Int32

    package init(_ operation: Operation, _ path: String, _ code: Int32) {
        (self.operation, self.path, self.code) = (operation, path, code)
    }

    /// The operation, the path and the reason, in one line.
    package var description: String { "could not \(operation.rawValue) \(path): \(reason)" }

    /// Why, in words.
    package var reason: String { String(cString: strerror(code)) }

    /// Whether the store as a whole cannot be used, and not only one entry.
    package var isAboutTheDirectory: Bool { operation == .openDirectory || operation == .createDirectory }
}

extension Error {
    /// The advice for a directory that cannot be used for this reason.
    package var directoryAdvice: String {
        let error = self as? StorageError
        if error?.path.hasPrefix(CachesDirectory.none) == true {
            return "user \(geteuid()) has no home: set XDG_CACHE_HOME to an absolute path, or name a directory"
        }
        return switch error?.code ?? 0 {
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
