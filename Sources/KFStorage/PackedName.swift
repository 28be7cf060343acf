// A file name in few bytes. Knows nothing of files.

/// A file name that is a SHA-256 in hexadecimal digits, with or without an extension, as the 32 bytes it stands for.
///
/// A hundred thousand names as `String` would take some 15 MB; this way they take three.
struct PackedName: Equatable, Sendable {
    var first: UInt64
    var second: UInt64
    var third: UInt64
    var fourth: UInt64

    /// How many bytes of a name are digits.
    static let digits = 64

    init(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
        (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
    }

    /// The name whose first 64 bytes are these; `nil` if they are not lowercase hexadecimal digits.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count >= Self.digits, let first = Self.number(bytes, 0), let second = Self.number(bytes, 16),
            let third = Self.number(bytes, 32), let fourth = Self.number(bytes, 48)
        else { return nil }
        self.init(first, second, third, fourth)
    }

    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> UInt64? {
        var number: UInt64 = 0
        for index in start..<start + 16 {
            let byte = bytes[index]
            switch byte {
            case 0x30...0x39: number = number << 4 | UInt64(byte - 0x30)
            case 0x61...0x66: number = number << 4 | UInt64(byte - 0x61 + 10)
            default: return nil
            }
        }
        return number
    }

    /// The name, with `suffix` after it.
    func text(_ suffix: String) -> String {
        let digits = String(unsafeUninitializedCapacity: Self.digits) { buffer in
            var end = 0
            for word in [first, second, third, fourth] {
                for shift in stride(from: 60, through: 0, by: -4) {
                    let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 15
                    buffer[end] = digit < 10 ? 0x30 + digit : 0x61 + digit - 10
                    end += 1
                }
            }
            return end
        }
        return suffix.isEmpty ? digits : digits + suffix
    }
}
