// The files of `local://` sources, and no others. For the renderer.

import CDispatch  // `struct stat` comes to this module through it
import Foundation
import Glibc
@_spi(Server) import Kingfisher

/// The folder whose files may be sources.
struct LocalFiles {
    /// What their sources begin with.
    static let scheme = Array("local://".utf8)

    private let root: [UInt8]
    private let querySeparator: [UInt8]

    init(root: String, querySeparator: String) {
        (self.root, self.querySeparator) = (Array(root.utf8), Array(querySeparator.utf8))
    }

    /// A file by its source, such as `local:///photos/a.jpg`.
    ///
    /// What follows the two slashes is the path, byte by byte: it was decoded when the request was read, and so a `%`
    /// in it begins no escape. A query behind it is left out, unless it is a part of the file's name.
    ///
    /// Neither `..` nor symbolic links lead out of the folder: what the path stands for in the end must be in it.
    /// Looking that up needs the file system, which should be a local one.
    func file(_ source: [UInt8]) throws(RenderingError) -> LocalFile {
        let name = source.dropFirst(Self.scheme.count)
        let query = querySeparator.isEmpty ? nil : name.firstRange(of: querySeparator)
        let nameBeforeQuery = query.map { name[..<$0.lowerBound] } ?? name
        guard let file = file(named: name) ?? file(named: nameBeforeQuery) else { throw Self.missing }
        return file
    }

    private func file(named name: ArraySlice<UInt8>) -> LocalFile? {
        let asked: [UInt8] = root + [Self.slash] + name
        guard let folder = Self.resolved(root), let file = Self.resolved(asked),
            file.starts(with: folder == [Self.slash] ? folder : folder + [Self.slash]),
            let version = LocalFile.Version(of: file)
        else { return nil }
        return LocalFile(path: file, asked: asked, version: version)
    }

    /// What the keys of files begin with whose sources begin with a text; nil if there are none.
    func keyPrefix(of source: String) -> String? {
        let path: [UInt8] = [Self.slash] + source.utf8.dropFirst(Self.scheme.count)
        // The last part may be the beginning of a name.
        guard let end = path.lastIndex(of: Self.slash), let folder = Self.resolved(root + path[...end]) else {
            return nil
        }
        let resolved: [UInt8] = (folder == [Self.slash] ? [] : folder) + path[end...]
        return "local://" + String(decoding: resolved, as: UTF8.self)
    }

    private static let slash = UInt8(ascii: "/")

    /// The path without links and dots; nil if there is nothing.
    private static func resolved(_ path: [UInt8]) -> [UInt8]? {
        guard !path.contains(0), let resolved = realpath(cString(path), nil) else { return nil }
        defer { free(resolved) }
        return Array(UnsafeRawBufferPointer(start: resolved, count: Int(strlen(resolved))))
    }

    /// A path as the system takes it.
    fileprivate static func cString(_ path: [UInt8]) -> [CChar] { path.map { CChar(bitPattern: $0) } + [0] }

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
        init?(of path: [UInt8]) {
            var status = stat()
            guard stat(LocalFiles.cString(path), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            (device, node, byteCount) = (UInt(status.st_dev), UInt(status.st_ino), Int(status.st_size))
            (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
    }

    private let path: [UInt8]
    /// The path with its links and dots.
    private let asked: [UInt8]
    private let version: Version

    fileprivate init(path: [UInt8], asked: [UInt8], version: Version) {
        (self.path, self.asked, self.version) = (path, asked, version)
    }

    var byteCount: Int { version.byteCount }

    /// When it was changed, as a field of HTTP.
    var lastModified: String { textOfHTTP(Date(timeIntervalSince1970: Double(version.seconds))) }

    /// Whether the path that was asked for still leads to this file, as it was.
    var isUnchanged: Bool { Version(of: asked) == version }

    /// Has the number of the file in it: names that are not UTF-8 may be the same as text.
    var cacheKey: String {
        let path = String(decoding: path, as: UTF8.self)
        return "local://\(path)?\(version.seconds).\(version.nanoseconds)-\(version.byteCount)-\(version.node)"
    }

    func data() async throws -> Data {
        let descriptor = open(LocalFiles.cString(path), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        return try file.readToEnd() ?? Data()
    }
}
