// The files of `local://` sources, and no others. For the renderer.

import Foundation
import Glibc
import KFImageURLs
import Kingfisher

/// The folder whose files may be sources.
struct LocalFiles {
    let root: String

    /// A file by its source, such as `local:///photos/a.jpg`.
    ///
    /// Neither `..` nor symbolic links lead out of the folder: what the path stands for in the end must be in it.
    /// Looking that up needs the file system, which should be a local one.
    func file(_ source: String) throws(RenderingError) -> LocalFile {
        let path = String(source.dropFirst("local://".count))
        guard let decoded = path.removingPercentEncoding, !decoded.utf8.contains(0),
            let folder = Self.resolved(root), let file = Self.resolved(root + "/" + decoded),
            file.hasPrefix(folder == "/" ? folder : folder + "/")
        else { throw Self.missing }
        var status = stat()
        guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw Self.missing }
        let changed = status.st_mtim
        return LocalFile(
            path: file,
            version: "\(changed.tv_sec).\(changed.tv_nsec)-\(status.st_size)-\(status.st_ino)",
            byteCount: Int(status.st_size)
        )
    }

    /// The path without links and dots; nil if there is nothing.
    private static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    static let missing = RenderingError(
        status: 404,
        kind: "source_not_found",
        reason: "There is no such file in the folder of KF_LOCAL_FILESYSTEM_ROOT."
    )
}

/// A file that exists; a changed one has another key.
struct LocalFile: ImageDataProvider {
    let path: String
    fileprivate let version: String
    let byteCount: Int

    fileprivate init(path: String, version: String, byteCount: Int) {
        (self.path, self.version, self.byteCount) = (path, version, byteCount)
    }

    var cacheKey: String { "local://\(path)?\(version)" }

    func data() async throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
}
