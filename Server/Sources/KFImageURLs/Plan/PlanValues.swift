// Gravities, colours and formats as URLs write them. For the plan, options and settings, and for the geometry.

/// A place within a larger area.
package struct Gravity: Hashable, Sendable {
    /// The sides, and what is not a side.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case center = "ce"
        case north = "no"
        case south = "so"
        case east = "ea"
        case west = "we"
        case northEast = "noea"
        case northWest = "nowe"
        case southEast = "soea"
        case southWest = "sowe"
        /// A point, relative to the larger area.
        case focusPoint = "fp"
        /// Where the most is to be seen; only the pixels tell.
        case smart = "sm"
    }

    package var kind = Kind.center
    /// The distance from the side, or to the right of the centre; for a focus point its place, from 0 to 1.
    ///
    /// From 1 on these are pixels, below 1 it is relative to the width of the larger area.
    package var x = 0.0
    /// The same for the height.
    package var y = 0.0

    package init(_ kind: Kind = .center, x: Double = 0, y: Double = 0) {
        (self.kind, self.x, self.y) = (kind, x, y)
    }
}

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

/// A format as URLs write it; some cannot be written, see ``URLSettings/writableFormats``.
package enum FileFormat: String, CaseIterable, Hashable, Sendable {
    case jpeg, png, webp, avif, gif, ico, svg, heic, bmp, tiff, jxl

    /// A format by its name in a URL; `jpg` and `tif` are accepted, too.
    package init?(name: String) {
        switch name {
        case "jpg": self = .jpeg
        case "tif": self = .tiff
        default: self.init(rawValue: name)
        }
    }
}
