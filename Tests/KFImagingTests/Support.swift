// Helpers that the tests of this folder share: fixtures, pixels, likeness.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

/// Where fixtures are decoded: with `KF_TEST_ISOLATION=required` in the environment, in decoder processes.
let fixtureIsolation: DecodingIsolation = {
    let name = ProcessInfo.processInfo.environment["KF_TEST_ISOLATION"] ?? ""
    guard let wanted = DecodingIsolation(rawValue: name) else { return .inProcess }
    ImageDecodingLimits.default.isolation = wanted
    return wanted
}()

/// The bytes of a file of the catalogue.
func fixture(_ name: String) throws -> Data {
    _ = fixtureIsolation
    return try Data(contentsOf: Catalogue.url(name))
}

/// The names of all files of the catalogue that are an image, without the right pixels of others.
func allFixtureNames() throws -> [String] {
    try CatalogueRow.all().filter { !$0.isReference && !$0.file.hasSuffix(".txt") }.map(\.file).sorted()
}

/// The path of a decoder that finds no Landlock.
func decoderWithoutLandlock() throws -> String { try decoder("without-landlock") }

/// The path of a decoder in some surroundings, which the planted decoder knows by its name.
func decoder(_ surroundings: String) throws -> String {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID())-\(surroundings)").path
    let program = try #require(ProgramFolders.own.last) + "/kf-planted-decoder"
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: program)
    return path
}

/// A decoded fixture.
func picture(_ name: String, maxPixelSize: Int? = nil) throws -> Image {
    try Codecs.decode(fixture(name), options: DecodingOptions(maxPixelSize: maxPixelSize))
}

/// One premultiplied pixel.
typealias Pixel = Bitmap.Pixel

extension Bitmap.Pixel {
    init(r: UInt8, g: UInt8, b: UInt8, a: UInt8 = 255) { self.init(red: r, green: g, blue: b, alpha: a) }

    var r: UInt8 { red }
    var g: UInt8 { green }
    var b: UInt8 { blue }
    var a: UInt8 { alpha }

    /// The premultiplied pixel of a colour with straight alpha.
    static func premultiplied(_ r: Int, _ g: Int, _ b: Int, _ a: Int) -> Pixel {
        func byte(_ value: Int) -> UInt8 { UInt8((2 * value * a + 255) / 510) }
        return Pixel(r: byte(r), g: byte(g), b: byte(b), a: UInt8(a))
    }

    func isNear(_ other: Pixel, within tolerance: Int) -> Bool {
        zip([r, g, b, a], [other.r, other.g, other.b, other.a]).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
    }
}

extension Bitmap {
    /// Pixels from words 0xAARRGGBB, row by row.
    static func of(_ width: Int, _ height: Int, _ color: (_ x: Int, _ y: Int) -> UInt32) -> Bitmap {
        of((0..<height).map { y in (0..<width).map { x in color(x, y) } })
    }

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

    var rows: [[Pixel]] { (0..<height).map { y in (0..<width).map { self[$0, y] } } }

    /// The likeness of two bitmaps in decibels; infinite when they are the same, 0 when sizes differ.
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

extension ImagingError {
    /// The format of a damaged file; nil for other errors.
    var malformedType: ImageContentType? { if case .malformed(let type, _) = self { type } else { nil } }
}

extension Image {
    /// The displayed pixels.
    func bitmap() throws -> Bitmap { try #require(normalized.cgImage) }
}

/// One line of a fixture with many small images: a file and its pixels.
struct ImageListFixture {
    let name: String
    let size: PixelSize
    let data: Data
    /// Premultiplied, row by row.
    let pixels: [Pixel]

    static func lines(of fixtureName: String) throws -> [ImageListFixture] {
        try String(decoding: fixture(fixtureName), as: UTF8.self).split(separator: "\n").map { line in
            let fields = line.split(separator: " ").map(String.init)
            let straight = hexadecimal(fields[4])
            let pixels = stride(from: 0, to: straight.count, by: 4).map { place -> Pixel in
                let values = straight[place..<place + 4].map(Int.init)
                return Pixel.premultiplied(values[0], values[1], values[2], values[3])
            }
            let size = PixelSize(Int(fields[1]) ?? 0, Int(fields[2]) ?? 0)
            return ImageListFixture(name: fields[0], size: size, data: Data(hexadecimal(fields[3])), pixels: pixels)
        }
    }

    private static func hexadecimal(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8).map { $0 < 0x60 ? $0 - 0x30 : $0 - 0x57 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
