// Blurring, against the definition: means of squares, rounded after each pass.

import CKFCodecs
import Foundation
import KFImaging
import Testing

@Suite struct BlurTests {
    private func blurred(_ levels: [UInt32], radius: Double = 2) throws -> [Int] {
        try Bitmap.row(levels).blurred(radius: radius).rows[0].map { Int($0.g) }
    }

    private func areNear(_ actual: [Int], _ expected: [Int]) -> Bool {
        // Each pass may differ by one.
        zip(actual, expected).allSatisfy { abs($0 - $1) <= 3 }
    }

    @Test("A single white pixel becomes a bell curve") func impulse() throws {
        var levels = [UInt32](repeating: 0, count: 21)
        levels[10] = 255
        let bell = [0, 0, 0, 0, 2, 6, 12, 20, 31, 37, 39, 37, 31, 20, 12, 6, 2, 0, 0, 0, 0]
        #expect(areNear(try blurred(levels), bell))
    }

    @Test("A hard edge becomes a slope") func edge() throws {
        let levels = [UInt32](repeating: 0, count: 8) + [UInt32](repeating: 255, count: 8)
        let slope = [0, 0, 2, 8, 20, 41, 71, 108, 147, 184, 214, 235, 247, 253, 255, 255]
        #expect(areNear(try blurred(levels), slope))
    }

    @Test(
        "A Gaussian has the standard deviation that was asked for, in both directions",
        arguments: [0.3, 0.5, 0.75, 1, 1.5, 2, 3, 4, 4.1, 5, 7, 10]
    )
    func deviation(sigma: Double) throws {
        /// The deviation of the slope that a hard edge becomes.
        func measured(_ slope: [Int]) -> Double {
            let steps = zip(slope, slope.dropFirst()).map { Double($1 - $0) }
            let total = steps.reduce(0, +)
            let middle = steps.enumerated().reduce(0) { $0 + Double($1.offset) * $1.element } / total
            let variance = steps.enumerated().reduce(0) { $0 + pow(Double($1.offset) - middle, 2) * $1.element } / total
            return variance.squareRoot()
        }
        let row = [UInt32](repeating: 0xFF00_0000, count: 50) + [UInt32](repeating: .max, count: 50)
        let across = try Bitmap.of([row, row]).gaussianBlurred(sigma: sigma)
        #expect(abs(measured(across.rows[1].map { Int($0.g) }) / sigma - 1) <= 0.12)
        let down = try Bitmap.of(row.map { [$0, $0] }).gaussianBlurred(sigma: sigma)
        #expect(abs(measured(down.rows.map { Int($0[1].g) }) / sigma - 1) <= 0.12)
        #expect(!across.hasAlpha)
    }

    @Test("A single white pixel spreads in both directions") func impulseInBothDirections() throws {
        var rows = [[UInt32]](repeating: [UInt32](repeating: 0xFF00_0000, count: 15), count: 15)
        rows[7][7] = .max
        let result = try Bitmap.of(rows).blurred(radius: 2)
        let middle = [0, 0, 1, 2, 3, 5, 5, 6, 5, 5, 3, 2, 1, 0, 0]
        #expect(areNear(result.rows[7].map { Int($0.r) }, middle))
        #expect(areNear(result.rows.map { Int($0[7].b) }, middle))
        #expect(!result.hasAlpha)
    }

    /// The definition in whole numbers, one pass.
    private func mean(_ rows: [[Pixel]], side: Int) -> [[Pixel]] {
        let (half, area) = (side / 2, side * side)
        let (height, width) = (rows.count, rows[0].count)
        return (0..<height).map { y in
            (0..<width).map { x in
                var sums = SIMD4<Int>(repeating: area / 2)
                for j in -half...half {
                    let row = rows[min(max(y + j, 0), height - 1)]
                    for i in -half...half {
                        let pixel = row[min(max(x + i, 0), width - 1)]
                        sums &+= SIMD4(Int(pixel.r), Int(pixel.g), Int(pixel.b), Int(pixel.a))
                    }
                }
                let mean = sums / area
                return Pixel(r: UInt8(mean.x), g: UInt8(mean.y), b: UInt8(mean.z), a: UInt8(mean.w))
            }
        }
    }

    @Test(
        "The boxes have the sizes of the standard",
        arguments: [
            (2.0, 5), (3, 7), (4, 9), (5, 9), (6, 11), (8, 15), (10, 19), (12, 23), (14, 27), (20, 39), (25, 47),
            (50, 95),
        ]
    )
    func boxSizes(radius: Double, side: Int) throws {
        let image = ResamplingTests.noise(19, 6, seed: 5)
        let result = try image.blurred(radius: radius)
        let expected = (0..<3).reduce(image.rows) { rows, _ in mean(rows, side: side) }
        #expect(result.rows == expected)
    }

    @Test("Small radii take fewer passes", arguments: [(0.3, 1), (0.49, 1), (0.5, 2), (1.4, 2), (1.5, 3), (2, 3)])
    func smallRadiiTakeFewerPasses(radius: Double, passes: Int) throws {
        let image = ResamplingTests.noise(9, 13, opaque: true)
        let expected = (0..<passes).reduce(image.rows) { rows, _ in mean(rows, side: 5) }
        #expect(try image.blurred(radius: radius).rows == expected)
    }

    @Test("A radius that is not positive returns the same bitmap", arguments: [0, -1, -Double.infinity, .nan, -0.0])
    func noRadius(radius: Double) throws {
        let image = ResamplingTests.noise(5, 5)
        #expect(try image.blurred(radius: radius) === image)
    }

    @Test("Blurring a single colour keeps it exactly", arguments: [2, 7.5, 40, 1e6, Double.infinity])
    func constants(radius: Double) throws {
        for (width, height) in [(1, 1), (7, 3), (2, 31)] {
            let plain = Bitmap.solid(0xC090_6030, width, height)
            #expect(try plain.blurred(radius: radius).rows == plain.rows)
            #expect(
                try Bitmap.solid(.max, width, height).blurred(radius: radius).rows.joined().allSatisfy { $0.b == 255 }
            )
        }
    }

    @Test("With a huge radius only the pixels at the edges count") func hugeRadius() throws {
        // The pixels at the edges continue beyond them: half of the image that far away is black, half white.
        let result = try Bitmap.row([0, 255]).blurred(radius: 1e30)
        #expect(result.rows[0].allSatisfy { (127...128).contains($0.g) })
    }

    @Test(
        "A low image, blurred in pieces, is a tall one lying down",
        arguments: [(0.3, 3), (5, 3), (8_000, 3), (8_000, 40)]
    )
    func pieces(radius: Double, height: Int) throws {
        let wide = ResamplingTests.noise(70_001, height, seed: 6)
        let tall = try wide.oriented(from: .left).blurred(radius: radius)
        #expect(try wide.blurred(radius: radius).words == tall.oriented(from: .right).words)
    }

    @Test("The portable blur gives the same bytes as the vectorised one") func portableGivesSameBytes() throws {
        let image = ResamplingTests.noise(37, 22, seed: 9)
        for radius in UInt32(1)...9 {
            let input = image.withUnsafeBytes { Array($0) }
            var outputs = [input, input]
            var scratch = [SIMD16<UInt8>](
                repeating: .zero,
                count: kf_box_blur_scratch(image.bytesPerRow, 22, radius) / 16 + 1
            )
            scratch.withUnsafeMutableBytes { memory in
                let scratch = memory.bindMemory(to: UInt8.self).baseAddress
                kf_box_blur(&outputs[0], image.bytesPerRow, 37, 22, radius, scratch)
                kf_box_blur_portably(&outputs[1], image.bytesPerRow, 37, 22, radius, scratch)
            }
            let areEqual = (0..<22).allSatisfy { y in
                let row = y * image.bytesPerRow..<y * image.bytesPerRow + 37 * 4
                return outputs[0][row] == outputs[1][row]
            }
            #expect(areEqual)
        }
    }
}
