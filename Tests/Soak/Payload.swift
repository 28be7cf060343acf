// The data that the soak test stores, which shows whether it was read back whole.

import Foundation

/// The bytes stored under a key: a header, and a body that is computed from the header.
struct Payload: Equatable {
    /// The version, which grows with every store of the key by its owner.
    let version: UInt64
    private let keyHash: UInt64
    private let length: Int

    private static let headerLength = 24

    /// The payload of a version of a key; `length` bytes, though never fewer than its header takes.
    init(key: String, version: UInt64, length: Int) {
        self.version = version
        self.length = max(length, Self.headerLength)
        keyHash = Self.hash(of: key)
    }

    /// Decodes the bytes stored under `key`; `nil` if they are not what was stored: truncated, mixed, of another key.
    init?(_ data: Data, key: String) {
        guard data.count >= Self.headerLength else { return nil }
        let words = data.withUnsafeBytes { bytes in
            (0..<3).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)) }
        }
        guard words[0] == Self.hash(of: key), words[2] == UInt64(data.count) else { return nil }
        self.init(key: key, version: words[1], length: data.count)
        guard bytes == data else { return nil }
    }

    /// The bytes to store.
    var bytes: Data {
        var data = Data(capacity: length + 8)
        func append(_ word: UInt64) { withUnsafeBytes(of: word.littleEndian) { data.append(contentsOf: $0) } }
        append(keyHash)
        append(version)
        append(UInt64(length))
        var word = keyHash ^ version &* 0x9E37_79B9_7F4A_7C15
        while data.count < length {
            word ^= word << 13
            word ^= word >> 7
            word ^= word << 17
            append(word)
        }
        return data.prefix(length)
    }

    /// The FNV-1a hash, which is the same in every process.
    private static func hash(of key: String) -> UInt64 {
        key.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
