// The colours of AVIF: the conversion of planes to pixels against the formula, and the declarations of files.

import CKFCodecs
import Foundation
import KingfisherTestSupport
import Testing

@Suite struct AVIFColorTests {
    private static let depths = [8, 10, 12]
    private static let allLoops = [KF_YUV_PORTABLE, KF_YUV_AVX2].filter { $0.rawValue <= kf_yuv_best_loops().rawValue }

    /// Every depth in either range, with transparency of this kind of the same depth, or of another.
    private static func kinds(_ layout: ChromaLayout, _ alpha: AlphaKind) -> [SampleFormat] {
        depths.flatMap { depth in
            [true, false].flatMap { isFullRange in
                depths.prefix(alpha == .opaque ? 1 : 3).map { alphaDepth in
                    SampleFormat(
                        layout: layout,
                        depth: depth,
                        alphaDepth: alphaDepth,
                        isFullRange: isFullRange,
                        alpha: alpha
                    )
                }
            }
        }
    }

    /// Samples over the whole range, with many at its ends, and some that exceed their depth.
    private static func samples(_ kind: SampleFormat, _ generator: inout SeededGenerator) -> (Int, Int, Int) -> Int {
        var rolled = [Int]()
        for _ in 0..<251 { rolled.append(Int.random(in: 0...0xFFFF, using: &generator)) }
        return { plane, x, y in
            let depth = plane == 3 ? kind.alphaDepth : kind.depth
            let (value, largest) = (rolled[(plane * 67 + y * 89 + x) % rolled.count], 1 << depth - 1)
            switch value % 8 {
            case 0: return plane == 3 ? value >> 4 & 3 : 0
            case 1: return depth == 8 ? largest : largest + value >> 14
            default: return value >> (16 - depth)
            }
        }
    }

    @Test(
        "Every colour is within a step of the formula, and alpha is exact",
        arguments: ChromaLayout.allCases,
        AlphaKind.allCases
    )
    func followsFormula(layout: ChromaLayout, alpha: AlphaKind) throws {
        var generator = SeededGenerator(state: 5)
        let sizes = [(1, 1), (1, 4), (3, 1), (2, 2), (19, 3)]
        for weights in lumaWeights {
            for var kind in Self.kinds(layout, alpha) {
                kind.weights = weights
                for (width, height) in alpha == .opaque || weights == lumaWeights[1] ? sizes : [(17, 2)] {
                    let image = PlanarImage(width, height, kind, sample: Self.samples(kind, &generator))
                    let pixels = try #require(image.converted())
                    let failures = image.inexactPixels(pixels)
                    #expect(failures.isEmpty, "\(width) × \(height), \(kind)")
                }
            }
        }
    }

    @Test(
        "The AVX2 loops give the same bytes as the portable ones",
        arguments: ChromaLayout.allCases,
        AlphaKind.allCases
    )
    func sameBytesWithAVX2(layout: ChromaLayout, alpha: AlphaKind) throws {
        var generator = SeededGenerator(state: 6)
        for kind in Self.kinds(layout, alpha) where kind.alphaDepth == kind.depth || alpha == .opaque {
            for width in [1, 2, 15, 16, 17, 31, 32, 33, 34, 47, 70] {
                let image = PlanarImage(width, 3, kind, sample: Self.samples(kind, &generator))
                let results = try Self.allLoops.map { try #require(image.converted($0)) }
                let areEqual = results.allSatisfy { $0 == results[0] }
                #expect(areEqual, "\(width) pixels, \(kind)")
            }
        }
    }

    /// Columns and rows at the edges lack a neighbour.
    @Test(
        "Images of every size follow the formula, with edges that lack a neighbour",
        arguments: ChromaLayout.allCases
    )
    func followsFormulaAtAllSizes(layout: ChromaLayout) throws {
        var generator = SeededGenerator(state: 7)
        for (width, height) in [(4, 1), (5, 1), (1, 5), (1, 6), (6, 4), (5, 5), (16, 2), (33, 1), (32, 3)] {
            for depth in [8, 10] {
                let kind = SampleFormat(layout: layout, depth: depth, weights: lumaWeights[2])
                let image = PlanarImage(width, height, kind, sample: Self.samples(kind, &generator))
                for loops in Self.allLoops {
                    let failures = image.inexactPixels(try #require(image.converted(loops)))
                    #expect(failures.isEmpty, "\(width) × \(height), \(kind)")
                }
            }
        }
    }

    @Test("The ends of the range are exactly white and black", arguments: ChromaLayout.allCases)
    func whiteAndBlack(layout: ChromaLayout) {
        for weights in lumaWeights {
            for var kind in Self.kinds(layout, .opaque) {
                kind.weights = weights
                let one = 1 << (kind.depth - 8)
                let (black, white) = kind.isFullRange ? (0, 256 * one - 1) : (16 * one, 235 * one)
                for loops in Self.allLoops {
                    for (luma, expected) in [(black, UInt8(0)), (white, 255)] {
                        let image = PlanarImage(18, 1, kind) { plane, _, _ in plane == 0 ? luma : 128 * one }
                        let bytes = image.converted(loops)
                        let areRight = bytes == (0..<72).map { $0 % 4 == 3 ? 255 : expected }
                        #expect(areRight, "\(kind)")
                    }
                }
            }
        }
    }

    @Test("Values outside the limited range are clamped to black and white", arguments: [8, 10, 12])
    func clampsOutOfRange(depth: Int) {
        let kind = SampleFormat(depth: depth, isFullRange: false, weights: lumaWeights[1])
        for loops in Self.allLoops {
            for (luma, expected) in [(0, UInt8(0)), (1 << depth - 1, 255)] {
                let image = PlanarImage(18, 1, kind) { plane, _, _ in plane == 0 ? luma : 1 << (depth - 1) }
                let areRight = image.converted(loops) == (0..<72).map { $0 % 4 == 3 ? 255 : expected }
                #expect(areRight)
            }
        }
    }

    @Test("Alpha is exact, and no premultiplied colour exceeds it", arguments: [8, 10, 12])
    func exactAlpha(depth: Int) throws {
        let largest = 1 << depth - 1
        for alpha in [AlphaKind.multiplied, .limited] {
            let kind = SampleFormat(depth: 12, alphaDepth: depth, alpha: alpha)
            let image = PlanarImage(largest + 1, 1, kind) { plane, x, _ in
                plane == 0 ? 4095 : plane == 3 ? x : 2048
            }
            for loops in Self.allLoops {
                let bytes = try #require(image.converted(loops))
                let areRight = (0...largest).allSatisfy { x in
                    let expected = UInt8((Double(x) * 255 / Double(largest) + 0.5).rounded(.down))
                    let pixel = bytes[4 * x..<4 * x + 4]
                    return pixel.last == expected && pixel.allSatisfy { $0 <= expected }
                }
                #expect(areRight)
            }
        }
    }

    @Test("The padding between rows is neither read nor written", arguments: ChromaLayout.allCases)
    func rowPaddingUntouched(layout: ChromaLayout) throws {
        for depth in [8, 10] {
            let kind = SampleFormat(layout: layout, depth: depth, alphaDepth: depth, alpha: .multiplied)
            for loops in Self.allLoops {
                let images = [(0, UInt8(0)), (6, 0), (6, 0xFF)].map { padding, filler in
                    PlanarImage(21, 3, kind, padding: padding, filler: filler) { plane, x, y in
                        (plane * 50 + x * 9 + y * 31) % 256
                    }
                }
                let expected = try #require(images[0].converted(loops))
                for image in images {
                    let rows = try #require(image.converted(loops, padding: 8))
                    let areRight = (0..<3).allSatisfy { y in
                        let row = rows[y * 92..<(y + 1) * 92]
                        return row.prefix(84) == expected[y * 84..<(y + 1) * 84]
                            && row.suffix(8).allSatisfy { $0 == 0xA5 }
                    }
                    #expect(areRight, "\(kind)")
                }
            }
        }
    }

    @Test("Unsupported depths and meaningless weights are refused") func unsupportedFormatRefused() {
        var kinds = [9, 16].map { SampleFormat(depth: $0) } + [SampleFormat(alphaDepth: 9, alpha: .straight)]
        kinds += [[0.5, 0.5], [-0.1, 0.1], [0.1, -0.1], [.nan, 0.1], [0.5, 0.45]].map { SampleFormat(weights: $0) }
        for kind in kinds {
            #expect(PlanarImage(2, 2, kind) { _, _, _ in 0 }.converted() == nil, "\(kind)")
        }
    }
}

/// The declarations of a file about the colours of its planes.
@Suite struct ColorWeightTests {
    /// White, red, green and blue of BT.709 and of BT.2020.
    private static let bt709 = [0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06]
    private static let bt2020 = [0.3127, 0.329, 0.708, 0.292, 0.17, 0.797, 0.131, 0.046]

    private static func weights(_ matrix: UInt32, _ chromaticities: [Double] = bt709) -> SIMD2<Double>? {
        var image = kf_yuv()
        return kf_yuv_find_weights(matrix, chromaticities, &image) ? SIMD2(image.kr, image.kb) : nil
    }

    @Test("Matrix coefficients with constant weights have the weights of their standards") func matrixWeights() {
        #expect(Self.weights(1) == [0.2126, 0.0722])
        #expect(Self.weights(4) == [0.3, 0.11])
        for matrix: UInt32 in [2, 5, 6] { #expect(Self.weights(matrix) == [0.299, 0.114]) }
        #expect(Self.weights(7) == [0.212, 0.087])
        #expect(Self.weights(9) == [0.2627, 0.0593])
    }

    /// GBR, YCgCo, constant luminance, ICtCp, and reserved numbers.
    @Test(
        "Matrix coefficients that are not plain luma and chroma have no weights",
        arguments: [0, 3, 8, 10, 11, 13, 14, 15, 16, 17, 255, 65535]
    )
    func matricesWithoutWeights(matrix: UInt32) {
        #expect(Self.weights(matrix) == nil)
    }

    @Test(
        "Matrix 12 derives the weights from the primaries",
        arguments: [(bt709, SIMD2(0.2126, 0.0722)), (bt2020, SIMD2(0.2627, 0.0593))]
    )
    func weightsFromPrimaries(chromaticities: [Double], expected: SIMD2<Double>) throws {
        let distance = try #require(Self.weights(12, chromaticities)) - expected
        #expect(abs(distance[0]) < 0.0001 && abs(distance[1]) < 0.0001)
    }

    /// `limited.avif`, with another number for its matrix and a range.
    private static func pixels(matrix: UInt8, isFullRange: Bool = false) throws -> [UInt8] {
        var data = try fixture("limited.avif")
        let numbers = try #require(data.range(of: Data("nclx".utf8))).upperBound
        (data[numbers + 5], data[numbers + 6]) = (matrix, isFullRange ? 0x80 : 0)
        return try pixels(data)
    }

    private static func pixels(_ data: Data, premultiplied: Bool = true) throws -> [UInt8] {
        var (header, message) = (kf_avif_header(), kf_message())
        return try data.withUnsafeBytes { bytes in
            let start = bytes.bindMemory(to: UInt8.self).baseAddress
            let reader = try #require(kf_avif_open(start, bytes.count, &header, &message))
            defer { kf_avif_close(reader) }
            var rows = [UInt8](repeating: 0, count: Int(header.width * header.height) * 4)
            #expect(kf_avif_read(reader, 0, &rows, Int(header.width) * 4, premultiplied, &message) == KF_OK)
            return rows
        }
    }

    private static func difference(_ one: [UInt8], _ other: [UInt8]) -> Int {
        zip(one, other).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }

    @Test("The matrix and the range that a file declares are used") func usesMatrixAndRange() throws {
        let own = try Self.pixels(matrix: 1)
        #expect(try Self.difference(Self.pixels(matrix: 12), own) <= 1)
        #expect(try Self.difference(Self.pixels(matrix: 6), own) > 10)
        #expect(try Self.difference(Self.pixels(matrix: 9), own) > 3)
        #expect(try Self.difference(Self.pixels(matrix: 1, isFullRange: true), own) > 10)
    }

    /// The same image in two files, one of which has premultiplied colours.
    @Test("A file with premultiplied colours gives the pixels of one with straight colours", arguments: [true, false])
    func premultipliedFile(premultiplied: Bool) throws {
        let one = try Self.pixels(fixture("alpha-premultiplied.avif"), premultiplied: premultiplied)
        let other = try Self.pixels(fixture("alpha-deep.avif"), premultiplied: premultiplied)
        // Pixels that are nearly transparent have lost their colours.
        let bytes = one.indices.filter { other[$0 | 3] >= 64 }
        let sum = bytes.reduce(0) { $0 + abs(Int(one[$1]) - Int(other[$1])) }
        #expect(bytes.count > 1000 && sum < 3 * bytes.count)
    }

    /// The identity matrix stands for planes of green, blue and red.
    @Test("Planes of green, blue and red are shown as they are") func identityMatrix() throws {
        let mixed = try Self.pixels(matrix: 1, isFullRange: true)
        let plain = try Self.pixels(matrix: 0, isFullRange: true)
        #expect(Self.difference(plain, mixed) > 10)
    }
}

extension PlanarImage {
    /// The positions of pixels whose colours differ by more than a step, or whose alpha differs at all.
    fileprivate func inexactPixels(_ bytes: [UInt8]) -> [SIMD2<Int>] {
        var places = [SIMD2<Int>]()
        for y in 0..<height {
            for x in 0..<width {
                let start = (y * width + x) * 4
                let exact = exact(x, y)
                let isNear = (0..<4).allSatisfy { abs(exact[$0] - Double(bytes[start + $0])) <= ($0 == 3 ? 0 : 1) }
                if !isNear { places.append([x, y]) }
            }
        }
        return places
    }
}
