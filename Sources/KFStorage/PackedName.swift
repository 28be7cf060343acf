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
        guard let high = half(bytes, start), let low = half(bytes, start + 8) else { return nil }
        return high << 32 | low
    }

    /// The number of eight digits, taken at once: one after the other they would be a time to be noticed in every reading.
    private static func half(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> UInt64? {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let raw = UnsafeRawBufferPointer(bytes)
        let text = UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        // Of letters one bit is set that is not in digits, and their lowest four bits count from 1. Of anything else comes
        // some value, too, but not one that is written like that.
        let values = (text & (ones &* 15)) &+ ((text >> 6 & ones) &* 9)
        let areLetters = (values &+ (ones &* 6)) >> 4 & ones
        guard values & (ones &* 0xF0) == 0, text == values &+ (ones &* 0x30) &+ (areLetters &* 0x27) else { return nil }
        let pairs = (values | values >> 4) & 0x00FF_00FF_00FF_00FF
        let fours = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
        return (fours | fours >> 16) & 0xFFFF_FFFF
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
