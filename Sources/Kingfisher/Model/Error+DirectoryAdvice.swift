// Advice about a cache directory that cannot be used, for the texts of errors.

import Glibc
import KFStorage

extension Error {
    /// The advice for a directory that cannot be used for this reason.
    var directoryAdvice: String {
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
