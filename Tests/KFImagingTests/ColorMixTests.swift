// Mixing colours in C: every variant against the formula in double precision.

import CKFCodecs
import Foundation
import KingfisherTestSupport
import Testing

@Suite struct ColorMixTests {
    typealias ColorMixKernel =
        @Sendable (UnsafePointer<UInt32>, UnsafeMutablePointer<UInt32>, Int, UnsafePointer<kf_color_mix>) -> Void

    /// Colour controls: brightness, contrast, saturation and exposure, from harmless to extreme.
    static let controls: [SIMD4<Double>] = [
        [0.05, 1.1, 1.3, 0.2], [-0.2, 0.6, 0.4, -0.5], [0, 1, 0, 0], [0, 1, 0, 0.7], [0, 1, 0.5, 0], [0, 1, 1.9, -0.1],
        [0, 4, 3, 5], [0, 4, 3, -5], [0, 4, 0, 5], [0, 4, 0, -5], [0, 1, 3, 5], [0, 1, 3, -5], [0, 1, 0, 5],
        [0, -1, 0.5, 0],
        [1, 1, 1.2, 0], [-1, 1, 1.2, 0], [-0.9, 1, 1.1, 5], [1, 4, 3, -5], [-1, 4, 3, 5], [0, 4, 0.9, 0],
        [0, 2, 1.2, 0.5],
        [-0.1, 1.5, 2, 0.3], [-0.45, 1.6, 1.3, 0.3], [0.3, 1.7, 0, 0.9], [0.1, 2, 1.2, 1], [0, 1, 2.2, 0.8],
        // Negatives whose dark end shows every error of linear light; greys, and colours.
        [-0.9999224, -1, 0, 1.5849], [-0.9999224, -1, 1.2, 1.5849], [0.5, -0.99999, 0.7, 2.9], [-0.05, 3.9, 1, 1],
    ]

    /// The largest distance of bytes from the formula: half a step for rounding, and the error `kf_mix_colors`
    /// documents.
    static let mixers: [(name: String, tolerance: Double, mixer: ColorMixKernel)] = [
        ("chosen", 0.5 + 1 / 3, { kf_mix_colors($0, $1, $2, $3) }),
        ("portable", 0.55, { kf_mix_colors_portably($0, $1, $2, $3) }),
        ("AVX2", 0.5 + 1 / 3, { if !kf_mix_colors_avx2($0, $1, $2, $3) { kf_mix_colors_portably($0, $1, $2, $3) } }),
    ]

    private static func mix(_ controls: SIMD4<Double>, linear: Bool) -> kf_color_mix {
        let gain = exp2(controls[3])
        let luma = gain * controls[1] * (1 - controls[2])
        return kf_color_mix(
            own: Float(gain * controls[1] * controls[2]),
            red: Float(0.2126 * luma),
            green: Float(0.7152 * luma),
            blue: Float(0.0722 * luma),
            offset: Float(gain * (0.5 + controls[0] - controls[1] / 2)),
            linear: linear
        )
    }

    /// All greys, the corners of the cube, dark colours, and random ones.
    private static let colors: [UInt32] = {
        var generator = SeededGenerator(state: 11)
        let greys = (0...255).map { UInt32($0) * 0x010101 }
        let corners: [UInt32] = [0xFF0000, 0xFF00, 0xFF, 0xFFFF, 0xFF00FF, 0xFFFF00]
        let dark = (0..<600).map { _ in UInt32.random(in: 0...(.max), using: &generator) & 0x1F1F1F }
        let any = (0..<3000).map { _ in UInt32.random(in: 0...0xFFFFFF, using: &generator) }
        return (greys + corners + dark + any).map { $0 | UInt32.random(in: 0...255, using: &generator) << 24 }
    }()

    private static func parts(_ word: UInt32) -> SIMD4<Int> {
        SIMD4(truncatingIfNeeded: SIMD4(word >> 16 & 255, word >> 8 & 255, word & 255, word >> 24))
    }

    /// The bytes of red, green and blue before they are rounded.
    private static func exact(_ word: UInt32, _ mix: kf_color_mix, levels: [Double]) -> SIMD3<Double> {
        let parts = parts(word)
        let rgb = SIMD3(levels[parts[0]], levels[parts[1]], levels[parts[2]])
        let shares = SIMD3(Double(mix.red), Double(mix.green), Double(mix.blue))
        var result = rgb * Double(mix.own) + (rgb * shares).sum() + Double(mix.offset)
        result.clamp(lowerBound: .zero, upperBound: .one)
        for k in 0..<3 where mix.linear {
            result[k] = result[k] <= 0.0031308 ? 12.92 * result[k] : 1.055 * pow(result[k], 1 / 2.4) - 0.055
        }
        return result * 255
    }

    @Test("Every byte is as close to the formula as the implementation promises", arguments: controls)
    func followsFormula(controls: SIMD4<Double>) {
        for linear in [true, false] {
            var mix = Self.mix(controls, linear: linear)
            let levels = (0...255).map { byte -> Double in
                let value = Double(byte) / 255
                if !linear { return value }
                return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            }
            let expected = Self.colors.map { Self.exact($0, mix, levels: levels) }
            for (name, tolerance, mixer) in Self.mixers {
                var result = Self.colors
                mixer(Self.colors, &result, result.count, &mix)
                var worst = 0.0
                for (index, word) in result.enumerated() {
                    let parts = Self.parts(word)
                    let error = SIMD3<Double>(SIMD3(parts[0], parts[1], parts[2])) - expected[index]
                    worst = max(worst, error.max(), -error.min())
                    if parts[3] != Int(Self.colors[index] >> 24) { worst = .infinity }
                }
                #expect(worst <= tolerance, "\(name), linear: \(linear)")
            }
        }
    }

    @Test("Exactly the given pixels are written, at any count and alignment", arguments: [1.3, 0.0])
    func staysWithinBounds(saturation: Double) {
        for linear in [true, false] {
            var mix = Self.mix([0.05, 1.1, saturation, 0.2], linear: linear)
            for (name, _, mixer) in Self.mixers {
                let mixed = Self.colors[..<100].map { word -> UInt32 in
                    var result: UInt32 = 0
                    mixer([word], &result, 1, &mix)
                    return result
                }
                for count in 0...70 {
                    // Pixels are aligned to four bytes, and to nothing more.
                    let range = (count % 17)..<(count % 17 + count)
                    var expected = [UInt32](repeating: 0x1234_5678, count: 100)
                    var (result, inPlace) = (expected, Array(Self.colors[..<100]))
                    expected.replaceSubrange(range, with: mixed[range])
                    Self.apply(mixer, &mix, to: range, of: inPlace, into: &result)
                    #expect(result == expected, "\(name), \(count)")

                    expected = inPlace
                    expected.replaceSubrange(range, with: mixed[range])
                    inPlace.withUnsafeMutableBufferPointer { pixels in
                        guard let base = pixels.baseAddress else { return }
                        mixer(base + range.lowerBound, base + range.lowerBound, count, &mix)
                    }
                    #expect(inPlace == expected, "\(name), \(count), in place")
                }
            }
        }
    }

    private static func apply(
        _ mixer: ColorMixKernel,
        _ mix: inout kf_color_mix,
        to range: Range<Int>,
        of source: [UInt32],
        into target: inout [UInt32]
    ) {
        source.withUnsafeBufferPointer { source in
            target.withUnsafeMutableBufferPointer { target in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                mixer(from + range.lowerBound, to + range.lowerBound, range.count, &mix)
            }
        }
    }

    @Test(
        "Coefficients that make no sense keep alpha",
        arguments: [Float.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude]
    )
    func invalidColorAlpha(number: Float) {
        var mixes = [kf_color_mix](
            repeating: kf_color_mix(own: 1, red: 0.1, green: 0.1, blue: 0.1, offset: 0, linear: true),
            count: 5
        )
        mixes[0].own = number
        mixes[1].red = number
        mixes[2].green = number
        mixes[3].blue = number
        mixes[4].offset = number
        for (name, _, mixer) in Self.mixers {
            for index in mixes.indices {
                var result = Self.colors
                mixer(Self.colors, &result, result.count, &mixes[index])
                let keepsAlpha = zip(result, Self.colors).allSatisfy { $0 >> 24 == $1 >> 24 }
                #expect(keepsAlpha, "\(name), \(index)")
            }
        }
    }

    @Test("AVX2 is used only for coefficients that do not magnify its errors") func avx2Range() {
        func isMixedInVectors(_ own: Float, _ red: Float, _ green: Float, _ blue: Float, _ offset: Float) -> Bool {
            var result: UInt32 = 0
            var mix = kf_color_mix(own: own, red: red, green: green, blue: blue, offset: offset, linear: true)
            return kf_mix_colors_avx2([0], &result, 1, &mix)
        }
        // Not every processor has the instructions.
        guard isMixedInVectors(1, 0, 0, 0, 0) else { return }
        for gain: Float in [-8, 8] {
            #expect(isMixedInVectors(gain, 0, 0, 0, -100) && isMixedInVectors(0, gain, 0, 0, 100))
            #expect(isMixedInVectors(0, 0, gain, 0, 0) && isMixedInVectors(0, 0, 0, gain, 0))
            #expect(isMixedInVectors(gain / 4, -gain / 4, gain / 4, -gain / 4, 0))
        }
        for number: Float in [-8.01, 8.01, .nan, .infinity, -.infinity, .greatestFiniteMagnitude] {
            #expect(!isMixedInVectors(number, 0, 0, 0, 0) && !isMixedInVectors(0, number, 0, 0, 0))
            #expect(!isMixedInVectors(0, 0, number, 0, 0) && !isMixedInVectors(0, 0, 0, number, 0))
            #expect(!isMixedInVectors(1, 0, 0, 0, number * 13))
        }
        var (result, mix) = (UInt32(0), kf_color_mix(own: 1, red: 0, green: 0, blue: 0, offset: 0, linear: false))
        #expect(!kf_mix_colors_avx2([0], &result, 1, &mix))
    }

    @Test(
        "Results far above white are white, and far below black are black",
        arguments: [Float.infinity, .greatestFiniteMagnitude, 101, 100, 99]
    )
    func extremeOffsets(offset: Float) {
        for (name, _, mixer) in Self.mixers {
            for (sign, expected): (Float, UInt32) in [(1, 0xFFFFFF), (-1, 0)] {
                var mix = kf_color_mix(own: 1, red: 0.1, green: 0.1, blue: 0.1, offset: sign * offset, linear: true)
                var result = Self.colors
                mixer(Self.colors, &result, result.count, &mix)
                #expect(result.allSatisfy { $0 & 0xFFFFFF == expected }, "\(name), \(sign * offset)")
            }
        }
    }
}
