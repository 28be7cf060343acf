// The checksum of bytes. The disk store checks its files with it, and encoded results carry it.

import CKFLinux
package import Foundation

/// XXH3 with 64 bits: the same for the same bytes on every machine.
///
/// It finds damage and changes. It is not cryptographic: bytes can be made to have a given checksum.
package enum Checksum {
    /// 20 KB take 0.4 µs.
    package static func of(_ data: Data) -> UInt64 {
        data.withUnsafeBytes { kf_checksum($0.baseAddress, $0.count) }
    }
}
