// What tells the bytes of one file from those of another. Keeps none of them.

import CKFCodecs
package import Foundation

/// What is remembered of bytes to know them again: how many they are, and their checksum.
package struct DataMark: Sendable, Hashable {
    private let count: Int
    private let checksum: UInt32

    /// Reads all bytes once, which takes no time next to decoding them.
    package init(_ data: Data) {
        count = data.count
        checksum = data.withUnsafeBytes { bytes in kf_png_checksum(bytes.start, bytes.count) }
    }
}
