// The files of `local://` sources, and no others. For the renderer.

import CDispatch  // `struct stat` comes to this module through it
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
        guard let decoded = percentDecoded(path), !decoded.utf8.contains(0) else { throw Self.missing }
        let asked = root + "/" + decoded
        guard let folder = Self.resolved(root), let file = Self.resolved(asked),
            file.hasPrefix(folder == "/" ? folder : folder + "/"), let version = LocalFile.Version(of: file)
        else { throw Self.missing }
        return LocalFile(path: file, asked: asked, version: version)
    }

    /// What the keys of files begin with whose sources begin with a text; nil if there are none.
    func keyPrefix(of source: String) -> String? {
        guard let decoded = percentDecoded(String(source.dropFirst("local://".count))), !decoded.utf8.contains(0)
        else { return nil }
        let path = "/" + decoded
        // The last part may be the beginning of a name.
        guard let end = path.lastIndex(of: "/"), let folder = Self.resolved(root + path[...end]) else { return nil }
        return "local://\(folder == "/" ? "" : folder)\(path[end...])"
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
    /// What tells a file from another one of its name, and from itself after a change.
    fileprivate struct Version: Equatable {
        let device: UInt
        let node: UInt
        let byteCount: Int
        let seconds: Int
        let nanoseconds: Int

        /// Nil for what is no regular file.
        init?(of path: String) {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            (device, node, byteCount) = (UInt(status.st_dev), UInt(status.st_ino), Int(status.st_size))
            (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
    }

    let path: String
    /// The path with its links and dots.
    private let asked: String
    private let version: Version

    fileprivate init(path: String, asked: String, version: Version) {
        (self.path, self.asked, self.version) = (path, asked, version)
    }

    var byteCount: Int { version.byteCount }

    /// Whether the path that was asked for still leads to this file, as it was.
    var isUnchanged: Bool { Version(of: asked) == version }

    var cacheKey: String {
        "local://\(path)?\(version.seconds).\(version.nanoseconds)-\(version.byteCount)-\(version.node)"
    }

    func data() async throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
}
