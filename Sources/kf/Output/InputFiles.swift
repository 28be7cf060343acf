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

    /// The files among some sources, as they were typed.
    init(_ sources: [String]) {
        identities = Set(
            sources.compactMap { source in
                guard case .file(let url)? = (try? SourceArgument(source))?.location else { return nil }
                return Identity(url.path)
            }
        )
    }

    func contains(_ path: String) -> Bool { Identity(path).map { identities.contains($0) } ?? false }
}
