// A file name that is a digest, in few bytes. Knows nothing of files.

/// The 64 hexadecimal digits of a SHA-256, as the 32 bytes they stand for.
///
/// A hundred thousand names as `String` would take some 15 MB; this way they take three.
struct HexDigestName: Hashable, Sendable {
    /// The bytes, in their order.
    private var words: SIMD4<UInt64> = .zero

    /// How many digits a name begins with.
    static let length = 64

    /// The name that begins with these bytes; `nil` if its first 64 are not lowercase hexadecimal digits.
    init?(_ name: UnsafeBufferPointer<UInt8>) {
        guard name.count >= Self.length else { return nil }
        let isMadeOfDigits = withUnsafeMutableBytes(of: &words) { bytes in
            for index in bytes.indices {
                guard let high = Self.value(name[2 * index]) else { return false }
                guard let low = Self.value(name[2 * index + 1]) else { return false }
                bytes[index] = high << 4 | low
            }
            return true
        }
        guard isMadeOfDigits else { return nil }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// The digits.
    var text: String { withUnsafeBytes(of: words, Self.digits) }

    /// Bytes as lowercase hexadecimal digits.
    static func digits(of bytes: UnsafeRawBufferPointer) -> String {
        let digits: StaticString = "0123456789abcdef"
        return String(unsafeUninitializedCapacity: 2 * bytes.count) { buffer in
            for (index, byte) in bytes.enumerated() {
                buffer[2 * index] = digits.utf8Start[Int(byte >> 4)]
                buffer[2 * index + 1] = digits.utf8Start[Int(byte & 15)]
            }
            return 2 * bytes.count
        }
    }
}
