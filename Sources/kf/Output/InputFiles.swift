// The files that sources name, so that no result replaces one of them by accident; for `kf fetch` and `kf process`.

import Foundation

/// A file or a directory, recognized under any of its names.
struct FileIdentity: Hashable {
    private let device: dev_t
    private let number: ino_t

    /// Nil for a file that does not exist.
    init?(_ path: String) {
        var status = stat()
        guard stat(path.systemName, &status) == 0 else { return nil }
        (device, number) = (status.st_dev, status.st_ino)
    }
}

/// The files that images are read from.
struct InputFiles: Sendable {
    private let identities: Set<FileIdentity>

    init(_ paths: [String]) { identities = Set(paths.compactMap(FileIdentity.init)) }

    func contains(_ path: String) -> Bool { FileIdentity(path).map { identities.contains($0) } ?? false }
}
