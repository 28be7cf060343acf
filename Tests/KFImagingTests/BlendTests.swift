// Every blend mode against its formula in double precision, and the overlay.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

private typealias RGB = SIMD3<Double>

/// The formulas, for one premultiplied source pixel over one destination pixel.
private struct Reference {
    let mode: CGBlendMode

    /// Components 0…1: red, green, blue, alpha.
    func result(_ source: SIMD4<Double>, over destination: SIMD4<Double>) -> SIMD4<Double> {
        let (s, b) = (source.w, destination.w)
        if mode == .plusDarker {
            let alpha = min(1, s + b)
            let colors = source + destination + (alpha - s - b)
            return SIMD4(max(0, colors.x), max(0, colors.y), max(0, colors.z), alpha)
        }
        if let (forSource, forDestination) = factors(s, b) {
            let sum = source * forSource + destination * forDestination
            return sum.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 1))
        }
        let mixed = blend(straight(destination), straight(source)) * s * b
        let colors =
            RGB(source.x, source.y, source.z) * (1 - b) + RGB(destination.x, destination.y, destination.z) * (1 - s)
        let sum = mixed + colors
        return SIMD4(sum.x, sum.y, sum.z, s + b - s * b)
    }

    private func factors(_ s: Double, _ b: Double) -> (Double, Double)? {
        switch mode {
        case .normal: (1, 1 - s)
        case .clear: (0, 0)
        case .copy: (1, 0)
        case .sourceIn: (b, 0)
        case .sourceOut: (1 - b, 0)
        case .sourceAtop: (b, 1 - s)
        case .destinationOver: (1 - b, 1)
        case .destinationIn: (0, s)
        case .destinationOut: (0, 1 - s)
        case .destinationAtop: (1 - b, s)
        case .xor: (1 - b, 1 - s)
        case .plusLighter: (1, 1)
        default: nil
        }
    }

    private func straight(_ pixel: SIMD4<Double>) -> RGB {
        pixel.w > 0 ? RGB(pixel.x, pixel.y, pixel.z) / pixel.w : .zero
    }

    private func blend(_ b: RGB, _ s: RGB) -> RGB {
        switch mode {
        case .hue: return setLum(setSat(s, sat(b)), lum(b))
        case .saturation: return setLum(setSat(b, sat(s)), lum(b))
        case .color: return setLum(s, lum(b))
        case .luminosity: return setLum(b, lum(s))
        default: return RGB(component(b.x, s.x), component(b.y, s.y), component(b.z, s.z))
        }
    }

    private func component(_ b: Double, _ s: Double) -> Double {
        switch mode {
        case .multiply: return b * s
        case .screen: return b + s - b * s
        case .overlay: return hardLight(s, b)
        case .darken: return min(b, s)
        case .lighten: return max(b, s)
        case .colorDodge: return b <= 0 ? 0 : s >= 1 ? 1 : min(1, b / (1 - s))
        case .colorBurn: return b >= 1 ? 1 : s <= 0 ? 0 : 1 - min(1, (1 - b) / s)
        case .softLight:
            let d = b <= 0.25 ? ((16 * b - 12) * b + 4) * b : b.squareRoot()
            return s <= 0.5 ? b - (1 - 2 * s) * b * (1 - b) : b + (2 * s - 1) * (d - b)
        case .hardLight: return hardLight(b, s)
        case .difference: return abs(b - s)
        default: return b + s - 2 * b * s
        }
    }

    private func hardLight(_ b: Double, _ s: Double) -> Double {
        s <= 0.5 ? 2 * b * s : b + (2 * s - 1) - b * (2 * s - 1)
    }

    private func lum(_ c: RGB) -> Double { 0.3 * c.x + 0.59 * c.y + 0.11 * c.z }
    private func sat(_ c: RGB) -> Double { c.max() - c.min() }

    private func setSat(_ c: RGB, _ s: Double) -> RGB {
        let range = sat(c)
        return range > 0 ? (c - c.min()) * s / range : .zero
    }

    private func setLum(_ c: RGB, _ l: Double) -> RGB {
        var c = c + (l - lum(c))
        let (n, x) = (c.min(), c.max())
        if n < 0 { c = (c - l) * l / (l - n) + l }
        if x > 1 { c = (c - l) * (1 - l) / (x - l) + l }
        return c
    }
}

@Suite struct BlendTests {
    private func image(_ words: UInt32...) -> Image { Image(cgImage: .of([words])) }

    private func blended(_ source: UInt32, _ mode: CGBlendMode, over word: UInt32?, alpha: CGFloat = 1) throws -> Pixel
    {
        let background = word.map { Color(premultipliedPixel: $0) }
        return try #require(image(source).blended(mode, alpha: alpha, background: background)).bitmap()[0, 0]
    }

    private func pixel(_ word: UInt32) -> Pixel {
        Pixel(r: UInt8(word >> 16 & 255), g: UInt8(word >> 8 & 255), b: UInt8(word & 255), a: UInt8(word >> 24))
    }

    @Test(
        "Every blend mode gives its test vector for opaque colours",
        arguments: [
            (CGBlendMode.normal, 0xFF40_80C0), (.multiply, 0xFF30_4030), (.screen, 0xFFD0_C0D0),
            (.overlay, 0xFFA1_8060),
            (.darken, 0xFF40_8040), (.lighten, 0xFFC0_80C0), (.colorDodge, 0xFFFF_FFFF), (.colorBurn, 0xFF04_0201),
            (.softLight, 0xFFA9_8060), (.hardLight, 0xFF60_80A1), (.difference, 0xFF80_0080), (.exclusion, 0xFFA0_7FA0),
            (.hue, 0xFF58_98D9), (.saturation, 0xFFC0_8040), (.color, 0xFF58_98D9), (.luminosity, 0xFFA8_6827),
            (.clear, 0), (.copy, 0xFF40_80C0), (.sourceIn, 0xFF40_80C0), (.sourceOut, 0), (.sourceAtop, 0xFF40_80C0),
            (.destinationOver, 0xFFC0_8040), (.destinationIn, 0xFFC0_8040), (.destinationOut, 0),
            (.destinationAtop, 0xFFC0_8040), (.xor, 0), (.plusDarker, 0xFF01_0101), (.plusLighter, 0xFFFF_FFFF),
        ] as [(CGBlendMode, UInt32)]
    )
    func opaqueVectors(mode: CGBlendMode, expected: UInt32) throws {
        let tolerance = mode.rawValue >= 12 && mode.rawValue <= 15 ? 2 : 1
        #expect(try blended(0xFF40_80C0, mode, over: 0xFFC0_8040).isNear(pixel(expected), within: tolerance))
    }

    @Test(
        "Blend modes give their test vectors for translucent colours",
        arguments: [
            (CGBlendMode.normal, 0xE040_10A0), (.sourceIn, 0x6018_0048), (.sourceOut, 0x6018_0048),
            (.sourceAtop, 0x8028_1058), (.destinationOver, 0xE058_4088), (.destinationIn, 0x6030_3030),
            (.destinationOut, 0x2010_1010), (.destinationAtop, 0xC048_3078), (.xor, 0x8028_1058),
            (.plusLighter, 0xFF70_40D0),
        ] as [(CGBlendMode, UInt32)]
    )
    func translucentVectors(mode: CGBlendMode, expected: UInt32) throws {
        #expect(try blended(0xC030_0090, mode, over: 0x8040_4040).isNear(pixel(expected), within: 1))
    }

    @Test("plusDarker never gets below black") func plusDarkerClampsAtBlack() throws {
        #expect(try blended(0xFF40_80C0, .plusDarker, over: 0xFF80_8080) == pixel(0xFF00_0141))
    }

    @Test("Opacity is applied before blending, not after") func opacityBeforeBlending() throws {
        #expect(try blended(0xFFFF_0000, .copy, over: 0xFF00_00FF, alpha: 0.5) == pixel(0x8080_0000))
        #expect(try blended(0xFFFF_0000, .clear, over: 0xFF00_00FF, alpha: 0.5) == pixel(0))
        #expect(try blended(0xFFFF_0000, .normal, over: nil, alpha: 0.25) == pixel(0x4040_0000))
    }

    @Test("Every blend mode follows its formula", arguments: CGBlendMode.allCases)
    func modeFormulas(mode: CGBlendMode) throws {
        var generator = SeededGenerator(state: UInt64(mode.rawValue) + 7)
        func word(_ alpha: UInt32) -> UInt32 {
            (0..<3).reduce(alpha << 24) { $0 | UInt32.random(in: 0...alpha, using: &generator) << ($1 * 8) }
        }
        let rows = (0..<16).map { y in (0..<37).map { _ in word(y < 4 ? 255 : .random(in: 0...255, using: &generator)) }
        }
        let isSeparable = !(CGBlendMode.hue.rawValue...CGBlendMode.luminosity.rawValue).contains(mode.rawValue)
        var worst = 0.0
        for destination in [word(255), word(255), word(200), word(90), word(20), 0xFFFF_FFFF, 0xFF00_0000, 0x8080_8080]
        {
            let background = Color(premultipliedPixel: destination)
            #expect(background.premultipliedPixel == destination)
            let image = Image(cgImage: .of(rows))
            let result = try #require(image.blended(mode, alpha: 1, background: background)).bitmap()
            for (y, row) in rows.enumerated() {
                for (x, source) in row.enumerated() {
                    let expected = Reference(mode: mode).result(numbers(source), over: numbers(destination)) * 255
                    worst = max(
                        worst,
                        (numbers(result[x, y]) - expected).max(),
                        (expected - numbers(result[x, y])).max()
                    )
                }
            }
        }
        // Half a step more, for the result is rounded and the formula is not.
        #expect(worst <= (isSeparable ? 1.5 : 2.5))
    }

    @Test("A tint follows the formula of its blend mode", arguments: CGBlendMode.allCases)
    func tintFormulas(mode: CGBlendMode) throws {
        var generator = SeededGenerator(state: UInt64(mode.rawValue) + 70)
        func word(_ alpha: UInt32) -> UInt32 {
            (0..<3).reduce(alpha << 24) { $0 | UInt32.random(in: 0...alpha, using: &generator) << ($1 * 8) }
        }
        let rows = (0..<8).map { y in (0..<37).map { _ in word(y < 4 ? 255 : .random(in: 0...255, using: &generator)) }
        }
        let isSeparable = !(CGBlendMode.hue.rawValue...CGBlendMode.luminosity.rawValue).contains(mode.rawValue)
        var worst = 0.0
        for source in [word(255), word(200), word(90), 0, 0xFFFF_FFFF, 0xFF00_0000] {
            let image = Image(cgImage: .of(rows), scale: 3)
            let result = try #require(image.tinted(with: Color(premultipliedPixel: source), mode))
            #expect(result.scale == 3)
            let bitmap = try result.bitmap()
            for (y, row) in rows.enumerated() {
                for (x, destination) in row.enumerated() {
                    let expected = Reference(mode: mode).result(numbers(source), over: numbers(destination)) * 255
                    let found = numbers(bitmap[x, y])
                    worst = max(worst, (found - expected).max(), (expected - found).max())
                }
            }
        }
        #expect(worst <= (isSeparable ? 1.5 : 2.5))
    }

    @Test("Images longer than a Cairo surface are tinted in parts") func tintsLongImages() throws {
        let long = Image(cgImage: .solid(0x8040_4040, 32_770, 1))
        for (mode, expected): (CGBlendMode, UInt32) in [(.sourceIn, 0x8080_0000), (.plusDarker, 0xFFBF_0000)] {
            let result = try #require(long.tinted(with: .red, mode)).bitmap()
            #expect(result.rows[0].allSatisfy { $0.isNear(pixel(expected), within: 1) })
        }
        let empty = Image()
        #expect(empty.tinted(with: .red, .sourceIn) === empty)
    }

    private func numbers(_ word: UInt32) -> SIMD4<Double> { numbers(pixel(word)) / 255 }
    private func numbers(_ pixel: Pixel) -> SIMD4<Double> {
        SIMD4(Double(pixel.r), Double(pixel.g), Double(pixel.b), Double(pixel.a))
    }

    @Test(
        "Without a background, modes that keep the source are the identity and others clear",
        arguments: CGBlendMode.allCases
    )
    func transparentBackground(mode: CGBlendMode) throws {
        let words: [UInt32] = [0xFF12_3456, 0x8000_4080, 0x0101_0001, 0, 0xFFFF_FFFF]
        let image = Image(cgImage: .of([words]), scale: 2)
        let result = try #require(image.blended(mode, alpha: 1, background: nil))
        let isKept = mode.rawValue <= 15 || [17, 19, 21, 24, 25, 26, 27].contains(mode.rawValue)
        #expect(try result.bitmap().rows == (isKept ? image.bitmap().rows : [words.map { _ in pixel(0) }]))
        #expect(result.scale == 2)
    }

    @Test("NSCompositingOperation maps to the blend mode of the same name") func compositingOperations() {
        let names = NSCompositingOperation.allCases.map { ("\($0)", $0.blendMode) }
        for (name, mode) in names where name != "highlight" {
            #expect(name == (mode == .normal ? "sourceOver" : "\(mode)"))
        }
        #expect(NSCompositingOperation.highlight.blendMode == .normal)
        #expect(NSCompositingOperation.allCases.map(\.rawValue) == Array(0...28))
        #expect(CGBlendMode.allCases.map(\.rawValue) == Array(0...27))
        #expect(NSCompositingOperation.plusLighter.rawValue == 13 && NSCompositingOperation.luminosity.rawValue == 28)
    }

    @Test("Images longer than a Cairo surface are blended in parts") func blendsLongImages() throws {
        let long = Image(cgImage: .solid(0xFF40_80C0, 32_770, 1))
        let result = try #require(long.blended(.multiply, alpha: 1, background: .white)).bitmap()
        #expect(result.rows[0].allSatisfy { $0.isNear(Pixel(r: 0x40, g: 0x80, b: 0xC0), within: 1) })
        let high = Image(cgImage: .solid(0xFF40_80C0, 1, 32_770))
        #expect(try #require(high.blended(.copy, alpha: 1, background: .red)).bitmap()[0, 32_769].b == 0xC0)
    }

    @Test(
        "An opacity that is out of range or not a number is limited to 0 to 1",
        arguments: [CGFloat.nan, .infinity, 2, 1e300]
    )
    func opacityLimits(alpha: CGFloat) throws {
        #expect(try blended(0xFF40_80C0, .normal, over: nil, alpha: alpha) == pixel(0xFF40_80C0))
        #expect(try blended(0xFF40_80C0, .normal, over: nil, alpha: -alpha).a == (alpha.isNaN ? 255 : 0))
    }
}

@Suite struct OverlayTests {
    @Test(
        "Overlays have the colours of the test vectors",
        arguments: [(0, 0xFFFF_0000), (0.5, 0xFF80_0080), (0.7, 0xFF4D_00B3), (1, 0xFF00_00FF)] as [(CGFloat, UInt32)]
    )
    func vectors(fraction: CGFloat, expected: UInt32) throws {
        let blue = Image(cgImage: .solid(0xFF00_00FF, 3, 2))
        let result = try #require(blue.overlaid(.red, fraction: fraction)).bitmap()
        #expect(result.rows.joined().allSatisfy { $0 == Bitmap.solid(expected, 1, 1)[0, 0] })
        #expect(!result.hasAlpha)
    }

    @Test("An overlay keeps the transparency of the image")
    func transparencyStays() throws {
        let transparent = Image(cgImage: .of([[0x8000_0080, 0]]))
        let result = try #require(transparent.overlaid(.red, fraction: 0.5)).bitmap()
        #expect(result.rows == [[Pixel(r: 0x40, g: 0, b: 0x40, a: 0x80), Pixel(r: 0, g: 0, b: 0, a: 0)]])
    }

    @Test("The alpha of the overlay colour is applied") func overlayColorAlpha() throws {
        let blue = Image(cgImage: .solid(0xFF00_00FF, 1, 1))
        let half = try #require(blue.overlaid(Color.red.withAlphaComponent(0.5), fraction: 0)).bitmap()[0, 0]
        #expect(half == Pixel(r: 128, g: 0, b: 128))
        #expect(blue.overlaid(.clear, fraction: 0) === blue)
    }

    @Test("An invalid fraction or colour leaves the image as it is", arguments: [CGFloat.nan, .infinity, 7])
    func invalidFraction(fraction: CGFloat) {
        let image = Image(cgImage: .solid(0xFF00_00FF, 1, 1))
        #expect(image.overlaid(.red, fraction: fraction) === image)
        #expect(image.overlaid(Color(red: .nan, green: 0, blue: 0, alpha: .nan), fraction: 0) === image)
    }
}
