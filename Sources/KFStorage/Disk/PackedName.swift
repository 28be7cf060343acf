// A file name in few bytes. Knows nothing of files.

/// The 64 hexadecimal digits of a SHA-256, as the 32 bytes they stand for.
///
/// A hundred thousand names as `String` would take some 15 MB; this way they take three.
struct PackedName: Hashable, Sendable {
    private var words: SIMD4<UInt64>

    /// How many bytes of a name are digits.
    static let length = 64

    /// The name that begins with these bytes; `nil` if its first 64 are not lowercase hexadecimal digits.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count >= Self.length else { return nil }
        words = .zero
        for place in 0..<Self.length {
            let byte = bytes[place]
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            words[place / 16] = words[place / 16] << 4 | UInt64(digit)
        }
    }

    /// The name for the 32 bytes of a hash.
    init(digest: UnsafeRawBufferPointer) {
        words = .zero
        for place in 0..<4 {
            words[place] = UInt64(bigEndian: digest.loadUnaligned(fromByteOffset: 8 * place, as: UInt64.self))
        }
    }

    /// The digits.
    var text: String {
        let digits: StaticString = "0123456789abcdef"
        return String(unsafeUninitializedCapacity: Self.length) { buffer in
            for place in 0..<Self.length {
                let shift = UInt64(60 - place % 16 * 4)
                buffer[place] = digits.utf8Start[Int(words[place / 16] >> shift & 15)]
            }
            return Self.length
        }
    }
}
