// The effects of the image server beside those of libvips 8.16: `row.gaussblur(sigma)`, `row.sharpen(sigma=sigma)`,
// where a row of pixels is repeated nine times.

import Foundation
import KFImaging
import Testing

@Suite struct CutGaussianTests {
    static let impulses: [(Double, [Int])] = [
        (0.3, [0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0]), (0.5, [0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0]),
        (1, [0, 0, 0, 0, 0, 70, 116, 70, 0, 0, 0, 0, 0]), (2, [0, 0, 0, 17, 33, 50, 56, 50, 33, 17, 0, 0, 0]),
    ]

    @Test("A Gaussian ends at a fifth of its height, along rows and columns", arguments: impulses)
    func impulse(sigma: Double, expected: [Int]) throws {
        let levels = (0..<13).map { $0 == 6 ? 255 : UInt32(0) }
        for bitmap in [Bitmap.row(levels), .of(levels.map { [0xFF00_0000 | $0 << 16 | $0 << 8 | $0] })] {
            let blurred = try #require(Image(cgImage: bitmap).cutGaussianBlurred(sigma: sigma)).bitmap()
            // libvips rounds twice.
            let levels = blurred.rows.joined().map { Int($0.g) }
            #expect(zip(levels, expected).allSatisfy { abs($0 - $1) <= 1 }, "\(levels)")
        }
    }

    @Test("A wide one, which is made of boxes, is about as wide as a narrow one of its kind") func wide() throws {
        func width(_ sigma: Double) throws -> Double {
            let edge = Bitmap.row((0..<400).map { $0 < 200 ? 0 : 255 })
            let slope = try #require(Image(cgImage: edge).cutGaussianBlurred(sigma: sigma)).bitmap().rows[0].map(\.g)
            return Double(slope.count { (26...229).contains($0) }) / sigma
        }
        #expect(abs(try width(20) / width(4) - 1) < 0.15)
    }

    @Test("Numbers that are none, or tiny, return the same image", arguments: [0, -1, 0.19, .nan, -.infinity])
    func invalid(sigma: Double) {
        let image = numberedImage(4, 3)
        #expect(image.cutGaussianBlurred(sigma: sigma) === image && image.sharpenedInLightness(sigma: sigma) === image)
    }

    @Test("Huge numbers are limited") func huge() {
        let image = numberedImage(4, 3)
        for sigma in [1e9, .greatestFiniteMagnitude, .infinity] {
            #expect(image.cutGaussianBlurred(sigma: sigma)?.pixelWidth == 4)
            #expect(image.sharpenedInLightness(sigma: sigma)?.pixelWidth == 4)
        }
    }
}

@Suite struct LightnessSharpeningTests {
    private func sharpened(_ pixels: [UInt32], sigma: Double) throws -> [Pixel] {
        let image = Image(cgImage: .of([pixels]))
        return try #require(image.sharpenedInLightness(sigma: sigma)).bitmap().rows[0]
    }

    private func grey(_ levels: [UInt32]) -> [UInt32] { levels.map { 0xFF00_0000 | $0 << 16 | $0 << 8 | $0 } }

    static let edges: [(Double, [UInt8])] = [
        (0.5, [100, 100, 100, 100, 100, 95, 166, 160, 160, 160, 160, 160]),
        (1, [100, 100, 100, 100, 100, 64, 187, 160, 160, 160, 160, 160]),
        (3, [100, 100, 96, 82, 64, 54, 187, 187, 180, 164, 160, 160]),
    ]

    @Test("An edge gets steeper, less on its light side than on its dark one", arguments: edges)
    func edge(sigma: Double, expected: [UInt8]) throws {
        let result = try sharpened(grey((0..<12).map { $0 < 6 ? 100 : 160 }), sigma: sigma)
        #expect(zip(result, expected).allSatisfy { abs(Int($0.g) - Int($1)) <= 1 && $0.r == $0.g && $0.g == $0.b })
    }

    @Test("Colours keep their hue: only the lightness changes") func color() throws {
        let result = try sharpened((0..<12).map { $0 < 6 ? 0xFF3C_78C8 : 0xFFC8_A028 }, sigma: 1)
        let (dark, light) = (Pixel(r: 14, g: 96, b: 173), Pixel(r: 229, g: 187, b: 68))
        #expect(result[5].isNear(dark, within: 2) && result[6].isNear(light, within: 2))
        #expect(result[4] == Pixel(r: 60, g: 120, b: 200) && result[7] == Pixel(r: 200, g: 160, b: 40))
    }

    @Test("Grain is left alone") func grain() throws {
        let levels: [UInt32] = [128, 131, 126, 132, 124, 129, 130, 125, 128, 132, 125, 130]
        #expect(try sharpened(grey(levels), sigma: 1).map { UInt32($0.g) } == levels)
    }

    @Test("Alpha stays, no colour exceeds it, and every part of a wide image is sharpened as it is alone")
    func wide() throws {
        let wide = noiseBitmap(9_001, 3, seed: 4)
        func rows(_ bitmap: Bitmap?) throws -> [[Pixel]] {
            try #require(bitmap.flatMap { Image(cgImage: $0).sharpenedInLightness(sigma: 4) }).bitmap().rows
        }
        let whole = try rows(wide)
        #expect(whole.map { $0.map(\.a) } == wide.rows.map { $0.map(\.a) } && whole != wide.rows)
        #expect(whole.joined().allSatisfy { max($0.r, $0.g, $0.b) <= $0.a })
        for left in stride(from: 0, to: 8_700, by: 100) {
            let part = try rows(wide.cropping(to: CGRect(x: left, y: 0, width: 300, height: 3)))
            for y in 0..<3 { #expect(part[y][100..<200] == whole[y][left + 100..<left + 200], "\(left)") }
        }
    }
}
