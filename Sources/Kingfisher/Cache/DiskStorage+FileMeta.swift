// What is known of a file of a disk storage. Knows nothing of how that is found out.

import Foundation
import KFStorage

extension DiskStorage {
    /// What is known of a file, without its bytes.
    struct FileMeta: Sendable {
        /// Where it is.
        let url: URL
        /// When it was written or last read.
        let lastAccessDate: Date?
        /// When it expires; `distantFuture` means never.
        let estimatedExpirationDate: Date?
        /// Whether it is a directory, which is no entry.
        let isDirectory: Bool
        /// Its length in bytes.
        let fileSize: Int

        init(
            fileURL: URL,
            lastAccessDate: Date?,
            estimatedExpirationDate: Date?,
            isDirectory: Bool,
            fileSize: Int
        ) {
            url = fileURL
            self.lastAccessDate = lastAccessDate
            self.estimatedExpirationDate = estimatedExpirationDate
            self.isDirectory = isDirectory
            self.fileSize = fileSize
        }

        /// Whether the one was used after the other: sorts the most recently used first, and what was never used last.
        static func lastAccessDate(lhs: FileMeta, rhs: FileMeta) -> Bool {
            lhs.lastAccessDate ?? .distantPast > rhs.lastAccessDate ?? .distantPast
        }

        /// Whether it has expired at a date; what has no expiry has.
        func expired(referenceDate: Date) -> Bool {
            estimatedExpirationDate?.isPast(referenceDate: referenceDate) ?? true
        }
    }
}
