// What the tests of this folder share: fixtures, pixels, likeness.

import Foundation
import KFImaging
import Testing

/// The bytes of a fixture.
func fixture(_ name: String) throws -> Data {
    let folder = try #require(Bundle.module.url(forResource: "Fixtures", withExtension: nil))
    return try Data(contentsOf: folder.appendingPathComponent(name))
}

/// Every picture there is.
func allFixtureNames() throws -> [String] {
    let folder = try #require(Bundle.module.url(forResource: "Fixtures", withExtension: nil))
    return try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { !$0.hasSuffix(".md") && !$0.hasSuffix(".txt") }.sorted()
}

/// A decoded fixture.
func picture(_ name: String, maxPixelSize: Int? = nil) throws -> Image {
    try Codecs.decode(fixture(name), options: DecodingOptions(maxPixelSize: maxPixelSize))
}

/// One premultiplied pixel.
struct Pixel: Equatable, CustomStringConvertible {
    var r: UInt8
    var g: UInt8
    var b: UInt8
    var a: UInt8 = 255

    var description: String { "(\(r), \(g), \(b), \(a))" }

    func isNear(_ other: Pixel, within tolerance: Int) -> Bool {
        zip([r, g, b, a], [other.r, other.g, other.b, other.a]).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
    }
}

extension Bitmap {
    /// Pixels from words 0xAARRGGBB, row by row.
    static func of(_ rows: [[UInt32]], hasAlpha: Bool? = nil) -> Bitmap {
        Bitmap(width: rows.first?.count ?? 1, height: rows.count, hasAlpha: hasAlpha) { memory, bytesPerRow in
            for (y, row) in rows.enumerated() {
                for (x, word) in row.enumerated() {
                    memory.storeBytes(of: word.littleEndian, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                }
            }
        }
    }

    /// Grey levels of a given alpha in one row.
    static func row(_ levels: [UInt32]) -> Bitmap { of([levels.map { 0xFF00_0000 | $0 << 16 | $0 << 8 | $0 }]) }

    static func solid(_ word: UInt32, _ width: Int, _ height: Int) -> Bitmap {
        of([[UInt32]](repeating: [UInt32](repeating: word, count: width), count: height))
    }

    subscript(x: Int, y: Int) -> Pixel {
        withUnsafeBytes { bytes in
            let place = y * bytesPerRow + x * 4
            return Pixel(r: bytes[place + 2], g: bytes[place + 1], b: bytes[place], a: bytes[place + 3])
        }
    }

    var rows: [[Pixel]] { (0..<height).map { y in (0..<width).map { self[$0, y] } } }

    /// How alike two bitmaps of one size are, in decibels; infinite when they are the same, 0 when sizes differ.
    func likeness(to other: Bitmap) -> Double {
        guard width == other.width, height == other.height else { return 0 }
        let sum = withUnsafeBytes { one in
            other.withUnsafeBytes { two in
                // Padding is zero in both.
                zip(one, two).reduce(0) { $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
            }
        }
        return sum == 0 ? .infinity : 10 * log10(255 * 255 / (Double(sum) / Double(width * height * 4)))
    }
}

extension Image {
    /// The displayed pixels.
    func bitmap() throws -> Bitmap { try #require(normalized.cgImage) }
}

/// Numbers that look random and are the same in every run.
struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
