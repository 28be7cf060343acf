// Colours as URLs write them. For backgrounds and for trimming.

/// An opaque colour.
package struct Color: Hashable, Sendable {
    package var red: UInt8
    package var green: UInt8
    package var blue: UInt8

    package init(red: UInt8, green: UInt8, blue: UInt8) {
        (self.red, self.green, self.blue) = (red, green, blue)
    }

    /// Three or six hexadecimal digits, without `#`.
    package init?(hex: String) {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == hex.utf8.count else { return nil }
        let values: [Int]
        switch digits.count {
        case 3: values = digits.map { $0 * 17 }
        case 6: values = stride(from: 0, to: 6, by: 2).map { digits[$0] * 16 + digits[$0 + 1] }
        default: return nil
        }
        self.init(red: UInt8(values[0]), green: UInt8(values[1]), blue: UInt8(values[2]))
    }
}
