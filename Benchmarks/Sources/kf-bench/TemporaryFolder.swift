// A folder that is removed with the last reference.

import Foundation

/// A new folder among the temporary files.
final class TemporaryFolder: Sendable {
    let url: URL

    /// - Parameter parent: The folder around it; by default that of temporary files.
    /// - Throws: An error of making folders.
    init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appendingPathComponent("kf-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
