// Resizing in linear light: values worked out by hand, and the same bytes from every way to them.

import CKFCodecs
import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import KFImaging

@Suite struct LinearLightTests {
    private static let (black, white): (UInt32, UInt32) = (0xFF00_0000, 0xFFFF_FFFF)

    /// Squares of one pixel, black and white.
    private static func squares(_ width: Int, _ height: Int) -> Bitmap {
        .of((0..<height).map { y in (0..<width).map { x in (x + y) % 2 == 0 ? black : white } })
    }

    @Test("Every level of grey stays what it is where all pixels are alike")
    func flatAreas() throws {
        for level in 0..<UInt32(256) {
            let word = 0xFF00_0000 | level << 16 | level << 8 | level
            for target in [PixelSize(3, 5), PixelSize(9, 1), PixelSize(20, 20)] {
                let result = try Bitmap.solid(word, 7, 8).resampled(to: target, in: .linear)
                #expect(result.rows.joined().allSatisfy { $0.r == UInt8(level) && $0.a == 255 }, "\(level)")
            }
        }
    }

    @Test("Half of the light is 188, where half of the number is 128", arguments: [2, 16, 64, 100])
    func squares(side: Int) throws {
        // From 64 on boxes come before the kernel.
        let image = Self.squares(side, side)
        let linear = try image.resampled(to: PixelSize(1, 1), filter: .bilinear, in: .linear).rows[0][0]
        let encoded = try image.resampled(to: PixelSize(1, 1), filter: .bilinear, in: .encoded).rows[0][0]
        #expect(linear.isNear(Pixel(r: 188, g: 188, b: 188), within: 0))
        #expect(encoded.isNear(Pixel(r: 128, g: 128, b: 128), within: 0))
    }

    @Test("A quarter, an eighth and a fiftieth of white light are 137, 99 and 39")
    func shares() {
        for (parts, level) in [(4, 137), (8, 99), (50, 39)] as [(Int, UInt8)] {
            let row = (0..<parts).map { $0 == parts / 2 ? Self.white : Self.black }
            #expect(Self.boxMean(row) == level, "\(parts)")
        }
    }

    /// The mean of a row whose pixels are boxes of their own: the first step of large reductions alone.
    private static func boxMean(_ row: [UInt32]) -> UInt8 {
        var light = [Int16](repeating: 0, count: row.count * 4)
        row.withUnsafeBytes { bytes in
            guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
            kf_light_of_pixels(base, row.count, &light)
        }
        var sums = [UInt64](repeating: 0, count: 4)
        kf_box_add_light(light, 0, row.count, row.count, &sums)
        var mean = [Int16](repeating: 0, count: 16)
        kf_box_average_light(&sums, row.count, row.count, 1, &mean)
        // One pixel, once.
        let weights: [Int16] = [1 << 14, 0, 0, 0], starts: [Int32] = [0]
        var above = [UInt8](repeating: 0, count: 4), below = above
        kf_blend_light_columns(kf_best_blending(), mean, mean, starts, weights, 4, 14, 1, &above, &below)
        return above[0]
    }

    @Test("The light of every byte at every opacity is the same with any instructions, wherever a row ends")
    func instructionSets() {
        for alpha in UInt8.min...255 {
            // Opaque pixels, which are looked up many at a time, and in their middle others.
            let pixels = (UInt8.min...255).flatMap { x -> [UInt8] in
                let opacity = x / 80 == 1 ? alpha : UInt8.max
                return [x, UInt8.max - x, x ^ 85, opacity]
            }
            let count = 256 - Int(alpha) % 64
            var light = [Int16](repeating: -1, count: 256 * 4), portable = light
            kf_light_of_pixels(pixels, count, &light)
            kf_light_of_pixels_portably(pixels, count, &portable)
            #expect(light == portable && light.suffix((256 - count) * 4).allSatisfy { $0 == -1 }, "\(alpha)")
        }
    }

    @Test("A white logo on transparent ground has no dark edge") func transparentEdge() throws {
        let row: [UInt32] = [0, 0, 0, Self.white, Self.white, Self.white, Self.white, 0, 0]
        let image = Bitmap.of(Array(repeating: row, count: 9), hasAlpha: true)
        for side in [2, 3, 5, 13] {
            for pixel in try image.resampled(to: PixelSize(side, side), in: .linear).rows.joined() {
                // Premultiplied white is its alpha.
                #expect(pixel.r == pixel.a && pixel.g == pixel.a && pixel.b == pixel.a, "\(side): \(pixel)")
            }
        }
    }

    @Test("Half transparent colours keep their hue, and alpha is a plain mean") func alpha() throws {
        let red = Bitmap.solid(0x8080_0000, 8, 8)
        for pixel in try red.resampled(to: PixelSize(3, 3), in: .linear).rows.joined() {
            #expect(pixel.isNear(Pixel(r: 128, g: 0, b: 0, a: 128), within: 0))
        }
        let mixed = Bitmap.of([[0, Self.white]], hasAlpha: true)
        let mean = try mixed.resampled(to: PixelSize(1, 1), filter: .bilinear, in: .linear).rows[0][0]
        #expect(mean.isNear(Pixel(r: 128, g: 128, b: 128, a: 128), within: 0))
    }

    @Test("One pixel wide, one pixel high, and odd sizes", arguments: [(1, 9), (9, 1), (1, 1), (7, 3), (301, 5)])
    func oddSizes(width: Int, height: Int) throws {
        for target in [PixelSize(1, 1), PixelSize(2, 3), PixelSize(5, 1), PixelSize(31, 17)] {
            let result = try Bitmap.solid(0xFF20_60C0, width, height).resampled(to: target, in: .linear)
            let isTrue = width == target.width && height == target.height
            #expect(
                isTrue || result.rows.joined().allSatisfy { $0.isNear(Pixel(r: 0x20, g: 0x60, b: 0xC0), within: 0) }
            )
        }
    }

    @Test("Rows that arrive from a decoder give the same image as all rows at once", arguments: [3, 20, 70])
    func decodedRows(side: Int) throws {
        var generator = SeededGenerator(state: UInt64(side))
        let words = (0..<90).map { _ in
            (0..<101).map { _ in 0xFF00_0000 | UInt32.random(in: 0..<1 << 24, using: &generator) }
        }
        let image = Bitmap.of(words)
        let data = try #require(Image(cgImage: image).pngData())
        var options = DecodingOptions()
        var box = Thumbnail(width: side, height: side, mode: .exact, anchor: .center, enlarges: true)
        box.space = .linear
        options.thumbnail = box
        let decoded = try Codecs.decode(data, options: options).bitmap()
        let expected = try image.resampled(to: PixelSize(side, side), in: .linear)
        #expect(decoded.rows == expected.rows)
        box.space = .encoded
        options.thumbnail = box
        #expect(try Codecs.decode(data, options: options).bitmap().rows != expected.rows)
    }
}
