// Colour controls and tint, against test vectors and against the formulas in double precision.

import CKFCodecs
import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@Suite struct ColorControlTests {
    typealias AdjustmentValues = (b: Double, c: Double, s: Double, ev: Double)

    private static let settings: [AdjustmentValues] = [
        (0, 1, 0, 0.7), (0, 1, 1, 1), (0, 1, 1, -1), (0.1, 1, 1, 0), (0, 1.5, 1, 0), (0, 1, 2, 0), (0, 1, 0, 0),
    ]
    /// An input, and its result for each of the settings above.
    static let vectors: [(UInt32, [UInt32])] = [
        (0xFF0000, [0x9F9F9F, 0xFF0000, 0xBC0000, 0xFF5959, 0xFF0000, 0xFF0000, 0x7F7F7F]),
        (0x00FF00, [0xFFFFFF, 0x00FF00, 0x00BC00, 0x59FF59, 0x00FF00, 0x00FF00, 0xDCDCDC]),
        (0x0000FF, [0x606060, 0x0000FF, 0x0000BC, 0x5959FF, 0x0000FF, 0x0000FF, 0x4C4C4C]),
        (0x808080, [0xA0A0A0, 0xB0B0B0, 0x5C5C5C, 0x989898, 0x4D4D4D, 0x808080, 0x808080]),
        (0x4080C0, [0x9C9C9C, 0x5AB0FF, 0x2C5C8C, 0x6C98CF, 0x004DC2, 0x0083ED, 0x7D7D7D]),
    ]

    private func adjustment(_ n: AdjustmentValues, _ space: WorkingSpace = .linear) -> ColorAdjustment {
        ColorAdjustment(brightness: n.b, contrast: n.c, saturation: n.s, inputEV: n.ev, in: space)
    }

    @Test("Adjusted colours have the values of the test vectors", arguments: vectors)
    func adjustmentVectors(input: UInt32, expected: [UInt32]) throws {
        let bitmap = Bitmap.solid(0xFF00_0000 | input, 11, 3)
        for (numbers, word) in zip(Self.settings, expected) {
            let result = try bitmap.adjusted(adjustment(numbers))
            let pixel = Pixel(r: UInt8(word >> 16), g: UInt8(word >> 8 & 255), b: UInt8(word & 255))
            #expect(result.rows.joined().allSatisfy { $0.isNear(pixel, within: 1) }, "\(numbers)")
            #expect(!result.hasAlpha)
        }
    }

    /// One premultiplied pixel by the formula.
    private func exact(_ pixel: Pixel, _ n: AdjustmentValues, _ space: WorkingSpace) -> Pixel {
        guard pixel.a > 0 else { return Pixel(r: 0, g: 0, b: 0, a: 0) }
        let rgb = [pixel.r, pixel.g, pixel.b].map { (byte: UInt8) -> Double in
            let straight = min(255, (Int(byte) * 255 + Int(pixel.a) / 2) / Int(pixel.a))
            return Curve.linear(Double(straight) / 255, space)
        }
        let luma = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]
        let bytes = rgb.map { value -> UInt8 in
            var c = luma + n.s * (value - luma)
            c = ((c - 0.5) * n.c + 0.5 + n.b) * pow(2, n.ev)
            return UInt8((Curve.encoded(min(max(c, 0), 1), space) * Double(pixel.a)).rounded())
        }
        return Pixel(r: bytes[0], g: bytes[1], b: bytes[2], a: pixel.a)
    }

    @Test("Every colour follows the formula", arguments: WorkingSpace.allCases)
    func followsFormula(space: WorkingSpace) throws {
        let settings: [AdjustmentValues] = [
            (0.05, 1.1, 1.3, 0.2), (-0.2, 0.6, 0.4, -0.5), (0, 1, 0, 0.7), (0.1, 2, 1, 1), (0, -1, 1, 0), (0, 1, -2, 3),
            (0, 4, 3, 5), (0, 4, 0, -5), (1, 1, 1.5, 0), (-0.9, 1, 0, 5), (0, 4, 0.9, 0),
        ]
        for image in [ResamplingTests.noise(41, 19, opaque: true), ResamplingTests.noise(13, 29), .solid(0, 5, 5)] {
            for numbers in settings {
                let result = try image.adjusted(adjustment(numbers, space))
                let isNear = zip(result.rows.joined(), image.rows.joined()).allSatisfy {
                    $0.isNear(exact($1, numbers, space), within: 1)
                }
                #expect(isNear, "\(numbers)")
            }
        }
    }

    @Test("Saturation leaves all 256 greys unchanged") func greysKept() throws {
        // All 256 greys, so that every entry of the tables is used.
        let greys = Bitmap.row(Array(0...255))
        let result = try greys.adjusted(adjustment((0, 1, 0.5, 0))).rows[0]
        #expect(zip(result, greys.rows[0]).allSatisfy { $0 == $1 })
    }

    @Test(
        "Values that change nothing, and values that are not finite, return the same bitmap",
        arguments: [
            (0.0, 1.0, 1.0, 0.0), (.nan, 1, 1, 0), (0, .infinity, 1, 0), (0, 1, -.infinity, 0), (0, 1, 1, .nan),
        ]
    )
    func neutralAdjustment(b: Double, c: Double, s: Double, ev: Double) throws {
        let bitmap = ResamplingTests.noise(9, 9)
        #expect(try bitmap.adjusted(adjustment((b, c, s, ev))) === bitmap)
    }

    @Test(
        "Extreme values give black or white, and a contrast of 0 gives grey",
        arguments: [
            (1e300, 1.0, 1.0, 0.0, 255), (-1e300, 1, 1, 0, 0), (0, 1, 0, 5000, 255), (0, 1, 1, -5000, 0),
            (0, 0, 1, 0, 188),
            (0, 1e300, 1, 0, 255),
        ]
    )
    func extremeValues(b: Double, c: Double, s: Double, ev: Double, expected: UInt8) throws {
        let result = try Bitmap.solid(0xFFC0_C0C0, 3, 3).adjusted(adjustment((b, c, s, ev)))
        #expect(result[1, 1].g == expected)
        #expect(try Bitmap.solid(0, 3, 3).adjusted(adjustment((b, c, s, ev)))[0, 0].a == 0)
    }

    /// Combinations of three tables, some of which are the same.
    static let tables: [String: [UInt8]] = {
        var generator = SeededGenerator(state: 9)
        let some = (0..<3).map { _ in (0..<256).map { _ in UInt8.random(in: 0...255, using: &generator) } }
        let almost = some[0].dropLast() + [some[0][255] ^ 1]
        return [
            "one": some[0] + some[0] + some[0], "three": some[0] + some[1] + some[2],
            "blue = green": some[0] + some[0] + some[1], "green = red": some[1] + some[0] + some[0],
            "blue = red": some[0] + some[1] + some[0],
            "one but for green": some[0] + almost + some[0], "one but for red": some[0] + some[0] + almost,
        ]
    }()

    @Test(
        "Each component is replaced from its own table, in every implementation",
        arguments: [0, 1, 7, 63, 64, 71, 1003],
        tables.keys.sorted()
    )
    func looksUpEachComponent(count: Int, tables: String) throws {
        var generator = SeededGenerator(state: 9)
        // All bytes occur in the longest.
        let pixels = (0..<count).map {
            UInt32.random(in: 0...(.max), using: &generator) & ~0xFF | UInt32($0 & 255) &* 0x010101
        }
        let table = try #require(Self.tables[tables])
        let expected = pixels.map { pixel -> UInt32 in
            var word = pixel & 0xFF00_0000
            for color in 0..<3 { word |= UInt32(table[color * 256 + Int(pixel >> (color * 8) & 255)]) << (color * 8) }
            return word
        }
        for map in [kf_map_bytes, kf_map_bytes_portably, mapWithAVX2] {
            var (result, inPlace) = ([UInt32](repeating: 7, count: count + 2), [7] + pixels + [7])
            result.withUnsafeMutableBufferPointer { map(pixels, $0.baseAddress.map { $0 + 1 }, count, table) }
            #expect(result == [7] + expected + [7])
            inPlace.withUnsafeMutableBufferPointer { pixels in
                guard let base = pixels.baseAddress else { return }
                map(base + 1, base + 1, count, table)
            }
            #expect(inPlace == [7] + expected + [7])
        }
    }

    private func mapWithAVX2(
        _ source: UnsafePointer<UInt32>?,
        _ target: UnsafeMutablePointer<UInt32>?,
        _ count: Int,
        _ tables: UnsafePointer<UInt8>?
    ) {
        if !kf_map_bytes_avx2(source, target, count, tables) {
            kf_map_bytes_portably(source, target, count, tables)
        }
    }

    @Test("The portable colour mix differs from the chosen one by at most a step") func portableMix() {
        var generator = SeededGenerator(state: 4)
        let pixels = (0..<1003).map { _ in UInt32.random(in: 0...(.max), using: &generator) }
        var outputs = [[UInt32]](repeating: pixels, count: 2)
        for linear in [true, false] {
            var mix = kf_color_mix(own: 1.2, red: -0.1, green: 0.05, blue: 0.2, offset: -0.02, linear: linear)
            kf_mix_colors(pixels, &outputs[0], pixels.count, &mix)
            kf_mix_colors_portably(pixels, &outputs[1], pixels.count, &mix)
            // Both are within a third of a step before they are rounded.
            let areNear = zip(outputs[0], outputs[1]).allSatisfy { one, two in
                [0, 8, 16, 24].allSatisfy { abs(Int(one >> $0 & 255) - Int(two >> $0 & 255)) <= 1 }
            }
            #expect(areNear)
        }
    }
}

@Suite struct TintTests {
    private func straight(_ word: UInt32, alpha: UInt32) -> Bitmap {
        let parts = [16, 8, 0].map { ((word >> $0 & 255) * alpha / 255) << $0 }
        return .solid(alpha << 24 | parts.reduce(0, |), 3, 2)
    }

    @Test(
        "Tinted colours have the values of the test vectors",
        arguments: [
            (UInt32(0xFFFFFF), UInt32(255), Color.blue, 0.5, UInt32(0xBCBCFF), UInt32(255)),
            (0x808080, 255, .red, 0.5, 0xCD5C5C, 255), (0, 0, .red, 0.5, 0xFF0000, 0x80),
            (0x4080C0, 128, .red, 0.25, 0xAF6599, 159),
        ]
    )
    func tintVectors(
        input: UInt32,
        alpha: UInt32,
        color: Color,
        opacity: Double,
        expected: UInt32,
        expectedAlpha: UInt32
    ) throws {
        let result = try straight(input, alpha: alpha).tinted(with: color.withAlphaComponent(opacity))
        let pixel = result[1, 1]
        #expect(abs(Int(pixel.a) - Int(expectedAlpha)) <= 1)
        for (component, shift) in [(pixel.r, 16), (pixel.g, 8), (pixel.b, 0)] {
            let straight = Double(component) * 255 / Double(pixel.a)
            // This is the precision of a premultiplied byte.
            #expect(abs(straight - Double(expected >> shift & 255)) <= 1.5 * 255 / Double(pixel.a))
        }
    }

    @Test("An opaque tint fills the rectangle") func opaqueTint() throws {
        for image in [ResamplingTests.noise(6, 4), ResamplingTests.noise(6, 4, opaque: true), .solid(0, 6, 4)] {
            let result = try image.tinted(with: Color(red: 0.2, green: 0.4, blue: 0.6))
            #expect(result.rows.joined().allSatisfy { $0 == Pixel(r: 51, g: 102, b: 153) })
            #expect(!result.hasAlpha)
        }
    }

    @Test("Every pixel of a tint follows the formula", arguments: WorkingSpace.allCases)
    func tintFormula(space: WorkingSpace) throws {
        let color = Color(red: 0.9, green: 0.3, blue: 0.1, alpha: 0.35)
        for image in [ResamplingTests.noise(17, 11), ResamplingTests.noise(17, 11, opaque: true)] {
            let result = try image.tinted(with: color, in: space)
            let isNear = zip(result.rows.joined(), image.rows.joined()).allSatisfy { tinted, pixel in
                let below = Double(pixel.a) / 255, opacity = 0.35 + below * 0.65
                func byte(_ component: UInt8, _ tint: Double) -> UInt8 {
                    let value = pixel.a == 0 ? 0 : min(1, Double(component) / Double(pixel.a))
                    let light = Curve.linear(tint, space) * 0.35 + Curve.linear(value, space) * below * 0.65
                    return UInt8((Curve.encoded(min(light / opacity, 1), space) * opacity * 255).rounded())
                }
                let alpha = UInt8((opacity * 255).rounded())
                let exact = Pixel(r: byte(pixel.r, 0.9), g: byte(pixel.g, 0.3), b: byte(pixel.b, 0.1), a: alpha)
                return tinted.isNear(exact, within: 1)
            }
            #expect(isNear)
        }
    }

    @Test("A transparent tint returns the same bitmap", arguments: [0, -1, Double.nan, -Double.infinity])
    func transparentTint(alpha: Double) throws {
        let image = ResamplingTests.noise(5, 5)
        #expect(try image.tinted(with: Color(white: 0.5, alpha: alpha)) === image)
    }

    @Test("Tints outside the range are clamped or converted") func extremeTints() throws {
        let strange = Color(red: .nan, green: .infinity, blue: -3, alpha: .infinity)
        for image in [ResamplingTests.noise(4, 4), ResamplingTests.noise(4, 4, opaque: true)] {
            let result = try image.tinted(with: strange)
            #expect(result.rows.joined().allSatisfy { $0 == Pixel(r: 0, g: 255, b: 0) })
        }
        let wide = try Bitmap.solid(0xFF80_8080, 1, 1).tinted(
            with: Color(displayP3Red: 0, green: 1, blue: 0, alpha: 0.5)
        )
        #expect(wide[0, 0].r < 0x5C && wide[0, 0].g > 0xCD)
    }
}

@Suite struct FilterImageTests {
    @Test("Pixels are unchanged after conversion to a filter image and back", arguments: WorkingSpace.allCases)
    func roundTrip(space: WorkingSpace) throws {
        for image in [ResamplingTests.noise(7, 5), ResamplingTests.noise(7, 5, opaque: true)] {
            let numbers = try #require(FilterImage(image, in: space))
            #expect(numbers.extent == CGRect(x: 0, y: 0, width: 7, height: 5))
            let result = try numbers.bitmap()
            let isNear = zip(result.rows.joined(), image.rows.joined()).allSatisfy { $0.isNear($1, within: 1) }
            #expect(isNear && result.hasAlpha == image.hasAlpha)
            if !image.hasAlpha { #expect(result.rows == image.rows) }
        }
    }

    @Test(
        "Invalid sizes give no filter image",
        arguments: [(-3, 0), (0, 1), (1, 0), (-1, 5), (.min, .min), (.max, .max)]
    )
    func invalidSizes(width: Int, height: Int) {
        #expect(FilterImage(width: width, height: height) { _, _ in .zero } == nil)
    }

    @Test("Pixels outside the filter image are those at its edge") func edgePixels() throws {
        let numbers = try #require(FilterImage(width: 2, height: 2) { x, y in SIMD4(Float(x), Float(y), 0, 1) })
        #expect(numbers[-5, 0] == numbers[0, 0] && numbers[9, 9] == numbers[1, 1] && numbers[0, .max] == numbers[0, 1])
    }

    @Test("Infinite and out-of-range values are clamped, and NaN is 0") func nonFiniteValues() throws {
        let numbers = try #require(
            FilterImage(width: 3, height: 1) { x, _ in
                [SIMD4(.nan, .infinity, -1, 1), SIMD4(1, 1, 1, .nan), SIMD4(9, 0.5, 0, 7)][x]
            }
        )
        let row = try numbers.bitmap().rows[0]
        #expect(row == [Pixel(r: 0, g: 255, b: 0), Pixel(r: 0, g: 0, b: 0, a: 0), Pixel(r: 255, g: 188, b: 0)])
    }

    @Test("Operations give the same result as on bitmaps") func sameAsBitmapOperations() throws {
        let adjustment = ColorAdjustment(brightness: 0.1, contrast: 1.2, saturation: 0.7, inputEV: 0.3)
        let color = Color(red: 0.8, green: 0.2, blue: 0.4, alpha: 0.4)
        for image in [ResamplingTests.noise(7, 5), ResamplingTests.noise(7, 5, opaque: true)] {
            let numbers = try #require(FilterImage(image, in: .linear))
            let pairs = [
                (try numbers.adjusted(adjustment)?.bitmap(), try image.adjusted(adjustment)),
                (try numbers.tinted(with: color)?.bitmap(), try image.tinted(with: color)),
            ]
            for (one, other) in pairs {
                let rows = try #require(one).rows
                let isNear = zip(rows.joined(), other.rows.joined()).allSatisfy { $0.isNear($1, within: 1) }
                #expect(isNear)
            }
        }
    }
}

/// A second implementation of sRGB's curve.
private enum Curve {
    static func linear(_ v: Double, _ space: WorkingSpace) -> Double {
        space == .encoded ? v : v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
    }

    static func encoded(_ x: Double, _ space: WorkingSpace) -> Double {
        space == .encoded ? x : x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055
    }
}
