// What is known of a file of a disk storage. Knows nothing of how that is found out.

import Foundation
import KFStorage

extension DiskStorage {
    /// What is known of a file, without its bytes.
    struct FileMeta: Sendable {
        /// Where it is.
        let fileURL: URL
        /// When it was written or last read.
        let lastAccessDate: Date?
        /// When it expires; `distantFuture` means never.
        let estimatedExpirationDate: Date?
        /// Whether it is a directory, which is no entry.
        let isDirectory: Bool
        /// Its length in bytes.
        let fileSize: Int

        /// Whether the one was used after the other: sorts the most recently used first, and what was never used last.
        static func lastAccessDate(lhs: FileMeta, rhs: FileMeta) -> Bool {
            lhs.lastAccessDate ?? .distantPast > rhs.lastAccessDate ?? .distantPast
        }
    }
}
