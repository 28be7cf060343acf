// A folder that is removed with the last reference. Knows nothing of what is in it.

import Foundation

/// A new folder among the temporary files.
final class TemporaryFolder: Sendable {
    let url: URL

    /// - Parameter parent: Where to make it; among the temporary files, if not given.
    /// - Throws: What making folders throws.
    init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appendingPathComponent("kf-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
