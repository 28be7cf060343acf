// A fingerprint by which the bytes of a file are recognised. It keeps none of them.

import CKFCodecs
package import Foundation

/// The number of some bytes and their checksum, by which the same bytes are recognised later.
package struct ContentFingerprint: Sendable, Hashable {
    private let count: Int
    private let checksum: UInt32

    /// Reads all bytes once, which takes little time compared with decoding them.
    package init(_ data: Data) {
        count = data.count
        checksum = data.withUnsafeBytes { bytes in kf_crc32(bytes.start, bytes.count) }
    }
}
