// Colours as they are typed: `#rgb`, `#rrggbb`, `#rrggbbaa` or a name.

import Foundation

/// A colour with an opacity, eight bits a channel, not premultiplied.
struct HexColor: Equatable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8
    var alpha: UInt8 = 255

    /// The colours that have a name.
    static let named: [String: HexColor] = [
        "black": HexColor(red: 0, green: 0, blue: 0),
        "blue": HexColor(red: 0, green: 0, blue: 255),
        "brown": HexColor(red: 153, green: 102, blue: 51),
        "clear": HexColor(red: 0, green: 0, blue: 0, alpha: 0),
        "cyan": HexColor(red: 0, green: 255, blue: 255),
        "darkgray": HexColor(red: 85, green: 85, blue: 85),
        "gray": HexColor(red: 128, green: 128, blue: 128),
        "green": HexColor(red: 0, green: 255, blue: 0),
        "lightgray": HexColor(red: 170, green: 170, blue: 170),
        "magenta": HexColor(red: 255, green: 0, blue: 255),
        "orange": HexColor(red: 255, green: 128, blue: 0),
        "purple": HexColor(red: 128, green: 0, blue: 128),
        "red": HexColor(red: 255, green: 0, blue: 0),
        "white": HexColor(red: 255, green: 255, blue: 255),
        "yellow": HexColor(red: 255, green: 255, blue: 0),
    ]

    /// The ways to write a colour, for people.
    static let spellings = ["#rgb", "#rrggbb", "#rrggbbaa"] + named.keys.sorted()
}

extension HexColor {
    /// Reads `#rgb`, `#rrggbb`, `#rrggbbaa` or a name; nil for anything else.
    init?(_ text: some StringProtocol) {
        if let color = Self.named[text.lowercased().replacingOccurrences(of: "grey", with: "gray")] {
            self = color
            return
        }
        guard text.first == "#", text.dropFirst().allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        var digits = text.dropFirst().compactMap(\.hexDigitValue)
        if digits.count == 3 { digits = digits.flatMap { [$0, $0] } }
        guard digits.count == 6 || digits.count == 8 else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { (place: Int) -> UInt8 in
            UInt8(digits[place] * 16 + digits[place + 1])
        }
        self.init(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count == 4 ? bytes[3] : 255)
    }
}
