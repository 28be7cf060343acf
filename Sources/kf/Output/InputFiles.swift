// The files that sources name, so that no result replaces one of them by accident; for `kf fetch` and `kf process`.

import Foundation

/// The files that images are read from, recognized under any of their names.
struct InputFiles: Sendable {
    private struct Identity: Hashable {
        let device: dev_t
        let number: ino_t

        init?(_ path: String) {
            var status = stat()
            guard stat(path.systemName, &status) == 0 else { return nil }
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    private let identities: Set<Identity>

    init(_ paths: [String]) { identities = Set(paths.compactMap(Identity.init)) }

    func contains(_ path: String) -> Bool { Identity(path).map { identities.contains($0) } ?? false }
}
