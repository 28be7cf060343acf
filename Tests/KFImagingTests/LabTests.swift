// L*a*b* in TIFF: colours and greys, of 8 and 16 bits, that relate to either white.

import Foundation
import KFImaging
import Testing

/// A white, as x and y, and the matrices that make light of sRGB of amounts that relate to it, and the other way round.
private struct White {
    let x, y: Double
    let fromRGB, toRGB: [[Double]]

    /// Adapted to D50 by Bradford's transform.
    static let d50 = White(
        x: 0.3457,
        y: 0.3585,
        fromRGB: [
            [0.4360747, 0.3850649, 0.1430804], [0.2225045, 0.7168786, 0.0606169], [0.0139322, 0.0971045, 0.7141733],
        ],
        toRGB: [
            [3.1338561, -1.6168667, -0.4906146], [-0.9787684, 1.9161415, 0.0334540],
            [0.0719453, -0.2289914, 1.4052427],
        ]
    )
    static let d65 = White(
        x: 0.3127,
        y: 0.3290,
        fromRGB: [
            [0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041],
        ],
        toRGB: [
            [3.2404542, -1.5371385, -0.4985314], [-0.9692660, 1.8760108, 0.0415560],
            [0.0556434, -0.2040259, 1.0572252],
        ]
    )

    private var light: [Double] { [x / y, 1, (1 - x - y) / y] }

    /// L*, a* and b* of an sRGB colour.
    func lab(_ color: [Double]) -> [Double] {
        let linear = color.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
        let curved = zip(product(fromRGB, linear), light).map { amount, white in
            let part = amount / white
            return part > 216.0 / 24389 ? cbrt(part) : (24389.0 / 27 * part + 16) / 116
        }
        return [116 * curved[1] - 16, 500 * (curved[0] - curved[1]), 200 * (curved[1] - curved[2])]
    }

    /// The sRGB colour of L*, a* and b*.
    func color(_ lab: [Double]) -> [Double] {
        let middle = (lab[0] + 16) / 116
        let amounts = zip([middle + lab[1] / 500, middle, middle - lab[2] / 200], light).map { value, white in
            white * (value > 6.0 / 29 ? value * value * value : (116 * value - 16) * 27 / 24389)
        }
        return product(toRGB, amounts).map { amount in
            let value = min(max(amount, 0), 1)
            return value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
        }
    }

    private func product(_ matrix: [[Double]], _ values: [Double]) -> [Double] {
        matrix.map { zip($0, values).reduce(0) { $0 + $1.0 * $1.1 } }
    }
}

/// A TIFF of one row of L*a*b* samples; `alpha` is the number by which a fourth sample is declared to be one.
private func file(_ samples: Data, width: Int, depth: Int, white: White?, alpha: Int? = nil) -> Data {
    var tags: [(tag: Int, type: Int, count: Int, value: Int)] = [
        (256, 3, 1, width), (257, 3, 1, 1), (258, 3, 1, depth), (259, 3, 1, 1), (262, 3, 1, 8),
        (273, 4, 1, 24), (277, 3, 1, alpha == nil ? 3 : 4), (278, 3, 1, 1), (279, 4, 1, samples.count),
    ]
    if white != nil { tags.append((318, 5, 2, 8)) }
    if let alpha { tags.append((338, 3, 1, alpha)) }
    var data = Data("II".utf8) + littleEndian(42, 2) + littleEndian(24 + samples.count)
    for part in [white?.x ?? 0, white?.y ?? 0] {
        data += littleEndian(Int((part * 10_000).rounded())) + littleEndian(10_000)
    }
    data += samples + littleEndian(tags.count, 2)
    for (tag, type, count, value) in tags {
        data += littleEndian(tag, 2) + littleEndian(type, 2) + littleEndian(count) + littleEndian(value)
    }
    return data + littleEndian(0)
}

@Suite struct LabTests {
    private let greys = (0...255).map { [Double](repeating: Double($0) / 255, count: 3) }
    private let colors: [[Double]] = (0..<512).map { index in
        [index & 7, index >> 3 & 7, index >> 6].map { Double($0) / 7 }
    }

    /// Decodes colours that were stored in L*a*b*, and returns them beside those that the stored numbers stand for.
    private func decoded(_ colors: [[Double]], depth: Int, _ white: White, named: Bool) throws -> (Bitmap, Bitmap) {
        let (most, steps) = depth == 8 ? (255.0, 1.0) : (65_535, 256)
        var samples = Data()
        var expected: [UInt32] = []
        for color in colors {
            let lab = white.lab(color)
            let lightness = (lab[0] / 100 * most).rounded()
            let chroma = lab.dropFirst().map { min(max(($0 * steps).rounded(), -128 * steps), 128 * steps - 1) }
            for number in [lightness] + chroma { samples += littleEndian(Int(number), depth / 8) }
            let stored = white.color([lightness * 100 / most, chroma[0] / steps, chroma[1] / steps])
            expected.append(stored.reduce(UInt32(0xFF)) { $0 << 8 | UInt32(($1 * 255).rounded()) })
        }
        let data = file(samples, width: colors.count, depth: depth, white: named ? white : nil)
        return (try Codecs.decode(data).bitmap(), Bitmap.of([expected]))
    }

    @Test("Colours are those of the formula, for the white that is meant and for one that is named")
    func likeFormula() throws {
        for (white, named) in [(White.d50, false), (.d50, true), (.d65, true)] {
            let (bitmap, expected) = try decoded(colors, depth: 8, white, named: named)
            let likeness = bitmap.likeness(to: expected)
            #expect(likeness > 55, "\(white.x): \(likeness) dB")
            let (deep, deepExpected) = try decoded(colors, depth: 16, white, named: named)
            #expect(deep.likeness(to: deepExpected) > 45, "\(white.x): \(deep.likeness(to: deepExpected)) dB")
        }
    }

    @Test("Colours that were multiplied by alpha are the same as those that were not", arguments: [8, 16])
    func associatedAlpha(depth: Int) throws {
        let (most, steps) = depth == 8 ? (255, 1) : (65_535, 256)
        // Lightness is a share of `most`; the other two have a sign. All are whole numbers after halving.
        let colors = [(80, 60, -40), (60, -80, 100), (100, 0, 0), (50, 120, 120), (50, -100, -100)]
        func samples(_ alpha: Int, _ scale: Double) -> Data {
            colors.reduce(Data()) { data, color in
                let numbers = [color.0 * most / 100, color.1 * steps, color.2 * steps].map {
                    Int((Double($0) * scale).rounded())
                }
                return (numbers + [alpha]).reduce(data) { $0 + littleEndian($1, depth / 8) }
            }
        }
        let alpha = (most + 1) / 2
        let straight = samples(alpha, 1)
        let multiplied = samples(alpha, Double(alpha) / Double(most))
        let one = try Codecs.decode(file(straight, width: 5, depth: depth, white: nil, alpha: 2)).bitmap()
        let other = try Codecs.decode(file(multiplied, width: 5, depth: depth, white: nil, alpha: 1)).bitmap()
        #expect(one.hasAlpha && other.hasAlpha)
        for (a, b) in zip(one.rows.joined(), other.rows.joined()) {
            #expect(a.isNear(b, within: depth == 8 ? 3 : 1), "\(a), \(b)")
        }
    }

    @Test("Greys stay grey", arguments: [8, 16])
    func neutralGreys(depth: Int) throws {
        let (bitmap, _) = try decoded(greys, depth: depth, .d50, named: false)
        for (x, pixel) in bitmap.rows[0].enumerated() {
            #expect(pixel.isNear(Pixel(r: UInt8(x), g: UInt8(x), b: UInt8(x)), within: 1), "\(pixel), not \(x)")
        }
    }
}
