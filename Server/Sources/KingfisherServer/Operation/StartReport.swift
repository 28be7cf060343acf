// What a server will work with besides its settings: the store that it shares, and its folder. For `check`, and the
// log.

import Glibc
package import Kingfisher

/// Sentences about a server that is about to start, and what is wrong without keeping it from that.
package struct StartReport {
    /// Which store is shared, and whether servers agree by it who makes a result.
    package let tier: String
    /// Where results are kept on disk.
    package let folder: String
    /// Why none can be; nil if they can.
    package let folderComplaint: String?

    /// - Parameters:
    ///   - tier: The store that the configuration makes; nil for none.
    ///   - folder: The folder of the cache, which is made if it is missing.
    package init(tier: (any SharedTier)?, folder: String) {
        self.folder = folder
        self.tier =
            switch (tier, tier?.leases) {
            case (nil, _): "none; what this server makes, no other one has"
            case (let tier?, nil): "\(tier.name); each server makes what is not there, since KF_LEASES is not set"
            case (let tier?, _?): "\(tier.name); one server makes what is not there"
            }
        folderComplaint = Self.obstacle(in: folder).map { reason in
            "Results are not kept on disk, and purges are forgotten when the server ends: \(folder) cannot be written"
                + " (\(reason)). XDG_CACHE_HOME is the folder that it is in."
        }
    }

    /// Why no file can be written in a folder; nil if it can.
    private static func obstacle(in folder: String) -> String? {
        var path = ""
        for name in folder.split(separator: "/") {
            path += "/" + name
            if mkdir(path, 0o755) != 0, errno != EEXIST, errno != EACCES, errno != EROFS { break }
        }
        let file = "\(folder)/.kf-server-\(getpid())"
        let descriptor = open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return String(cString: strerror(errno)) }
        let isWritten = write(descriptor, "k", 1) == 1
        let reason = isWritten ? nil : String(cString: strerror(errno))
        close(descriptor)
        unlink(file)
        return reason
    }
}
