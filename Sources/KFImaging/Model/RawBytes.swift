// Raw bytes: where they begin, the numbers in them, and a fingerprint by which they are recognised. For codecs.

import CKFCodecs
package import Foundation

extension UnsafeRawBufferPointer {
    /// The first byte as C functions take it; nil when there are no bytes.
    var start: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }

    /// The little-endian number in up to seven bytes from an offset on; nil when the bytes end before that.
    func littleEndian(_ offset: Int, _ size: Int) -> Int? {
        guard offset >= 0, offset <= count - size else { return nil }
        return self[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}

extension Data {
    /// Numbers of a fixed count of bytes each, the lowest byte first.
    static func littleEndian(_ numbers: (value: Int, size: Int)...) -> Data {
        Data(numbers.flatMap { value, size in (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } })
    }
}

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
