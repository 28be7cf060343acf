// Rotating, mirroring and cropping, compared pixel by pixel.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

/// Pixels that are all different.
func numberedImage(_ width: Int, _ height: Int) -> Image {
    Image(cgImage: .of((0..<height).map { y in (0..<width).map { x in 0xFF00_0000 | UInt32(y * width + x) } }))
}

/// Premultiplied pixels that look random and are the same in every run.
func noiseBitmap(_ width: Int, _ height: Int, seed: UInt64, isOpaque: Bool = false) -> Bitmap {
    var generator = SeededGenerator(state: seed)
    return .of(
        (0..<height).map { _ in
            (0..<width).map { _ in
                let alpha: UInt32 = isOpaque ? 255 : .random(in: 0...255, using: &generator)
                return (0..<3).reduce(alpha << 24) { $0 | UInt32.random(in: 0...alpha, using: &generator) << ($1 * 8) }
            }
        }
    )
}

@Suite struct RotationTests {
    @Test("Rotations by right angles are counterclockwise and exact") func quarterRotations() throws {
        let image = numberedImage(3, 2)
        func blues(_ angle: CGFloat) throws -> [[UInt8]] {
            try #require(image.rotated(by: angle, fits: true)).bitmap().rows.map { $0.map(\.b) }
        }
        #expect(try blues(.pi / 2) == [[2, 5], [1, 4], [0, 3]])
        #expect(try blues(.pi) == [[5, 4, 3], [2, 1, 0]])
        #expect(try blues(-.pi / 2) == [[3, 0], [4, 1], [5, 2]])
        #expect(try blues(2.5 * .pi) == blues(.pi / 2))
        #expect(image.rotated(by: 0, fits: true) === image)
        #expect(image.rotated(by: -4 * .pi, fits: false) === image)
    }

    @Test("Four rotations by a right angle give the same image", arguments: [(7, 5), (1, 1), (8, 3)])
    func fourQuarterRotations(width: Int, height: Int) throws {
        let image = Image(cgImage: noiseBitmap(width, height, seed: 3), scale: 2)
        var turned = image
        for _ in 0..<4 { turned = try #require(turned.rotated(by: .pi / 2, fits: true)) }
        #expect(try turned.bitmap().rows == image.bitmap().rows)
        #expect(turned.scale == 2)
    }

    @Test("A rotation that keeps the canvas cuts off what lies outside") func rotationOnSameCanvas() throws {
        let turned = try #require(numberedImage(4, 2).rotated(by: .pi / 2, fits: false)).bitmap()
        #expect(turned.width == 4 && turned.height == 2)
        // Of the 2 × 4 pixels 3 7, 2 6, 1 5, 0 4 the middle two rows remain, between transparent margins.
        #expect(turned.rows.map { $0.map(\.b) } == [[0, 2, 6, 0], [0, 1, 5, 0]])
        #expect(turned.rows.map { $0.map(\.a) } == [[0, 255, 255, 0], [0, 255, 255, 0]])
    }

    @Test("Other angles rotate the image around its centre") func rotationAroundCentre() throws {
        let image = Image(cgImage: .solid(0xFF20_40C0, 40, 20))
        let turned = try #require(image.rotated(by: .pi / 4, fits: true)).bitmap()
        let side = Int(((40 + 20) / 2.0.squareRoot()).rounded(.up))
        #expect(turned.width == side && turned.height == side)
        #expect(turned[side / 2, side / 2] == Pixel(r: 0x20, g: 0x40, b: 0xC0))
        #expect(turned[0, 0].a == 0 && turned[side - 1, side - 1].a == 0)
        let area = turned.rows.joined().reduce(0.0) { $0 + Double($1.a) / 255 }
        #expect(abs(area - 800) < 8)
        let cut = try #require(image.rotated(by: .pi / 4, fits: false)).bitmap()
        #expect(cut.width == 40 && cut.height == 20 && cut[0, 0].a == 0 && cut[20, 0].a == 255)
    }

    @Test("Positive angles are counterclockwise") func rotationDirection() throws {
        // A bright spot right of the middle goes up.
        var rows = [[UInt32]](repeating: [UInt32](repeating: 0xFF00_0000, count: 21), count: 21)
        for y in 9...11 { for x in 16...18 { rows[y][x] = 0xFFFF_FFFF } }
        let turned = try #require(Image(cgImage: .of(rows)).rotated(by: .pi / 6, fits: false)).bitmap()
        // 7 pixels away at 30°: 6.1 to the right, 3.5 up.
        #expect(turned[16, 7].r > 200 && turned[16, 13].r == 0)
    }

    /// A smooth image that is rotated back is the same again, except that its pixels were mixed twice.
    @Test("A rotation and its opposite give nearly the same image", arguments: [0.3, -1.1, 2, 3])
    func rotationAndBack(angle: CGFloat) throws {
        let words: [[UInt32]] = (0..<60).map { y in
            (0..<80).map { x in UInt32(0xFF00_0000) + UInt32(x * 3) << 16 + UInt32(y * 4) << 8 }
        }
        let image = Image(cgImage: .of(words))
        let turned = try #require(image.rotated(by: angle, fits: true)?.rotated(by: -angle, fits: false)).bitmap()
        let (left, top) = ((turned.width - 80) / 2, (turned.height - 60) / 2)
        for y in stride(from: 5, to: 55, by: 7) {
            for x in stride(from: 5, to: 75, by: 7) {
                let expected = Pixel(r: UInt8(x * 3), g: UInt8(y * 4), b: 0)
                // Margins may be uneven by one.
                #expect(turned[left + x, top + y].isNear(expected, within: 5))
            }
        }
    }

    @Test("Angles that are not finite change nothing", arguments: [CGFloat.nan, .infinity, -.infinity])
    func invalidAngles(angle: CGFloat) {
        let image = numberedImage(2, 2)
        #expect(image.rotated(by: angle, fits: true) === image)
    }

    @Test("Huge angles and long images are rotated, or nil where the canvas would be too large")
    func hugeRotations() throws {
        #expect(numberedImage(3, 2).rotated(by: 1e300, fits: true) != nil)
        let strip = Image(
            cgImage: Bitmap(width: 40_000, height: 2, hasAlpha: false) { memory, _ in
                memory.initializeMemory(as: UInt8.self, repeating: 255)
            }
        )
        #expect(strip.rotated(by: 1, fits: true) == nil)
        #expect(strip.rotated(by: .pi / 2, fits: true)?.pixelHeight == 40_000)
        // Rotated a little as well, the image still has the pixels of both ends.
        let tilted = try #require(strip.rotated(by: 1e-4, fits: true)).bitmap()
        #expect(tilted[20_000, 3].a > 200 && tilted[100, tilted.height - 2].a > 100 && tilted[39_900, 1].a > 100)
    }
}

@Suite struct FlippingTests {
    @Test("Mirroring exchanges sides") func mirroring() throws {
        let image = numberedImage(3, 2)
        func blues(_ horizontally: Bool, _ vertically: Bool) throws -> [[UInt8]] {
            try #require(image.flipped(horizontally: horizontally, vertically: vertically)).bitmap().rows
                .map { $0.map(\.b) }
        }
        #expect(try blues(true, false) == [[2, 1, 0], [5, 4, 3]])
        #expect(try blues(false, true) == [[3, 4, 5], [0, 1, 2]])
        #expect(try blues(true, true) == [[5, 4, 3], [2, 1, 0]])
        #expect(image.flipped(horizontally: false, vertically: false) === image)
    }

    @Test("Mirroring twice gives the same image", arguments: [(true, false), (false, true), (true, true)])
    func mirroringTwice(horizontally: Bool, vertically: Bool) throws {
        for (width, height) in [(1, 1), (7, 4), (33, 35)] {
            let image = Image(cgImage: noiseBitmap(width, height, seed: 5))
            let once = image.flipped(horizontally: horizontally, vertically: vertically)
            let twice = try #require(once?.flipped(horizontally: horizontally, vertically: vertically))
            #expect(try twice.bitmap().rows == image.bitmap().rows)
        }
    }
}

@Suite struct CuttingTests {
    @Test("Crops are in points and grow to whole pixels") func cropsInPoints() throws {
        let image = Image(cgImage: try numberedImage(10, 8).bitmap(), scale: 2)
        let part = try #require(image.cropped(toPoints: CGRect(x: 1, y: 0.75, width: 1.25, height: 100))).bitmap()
        #expect(part.width == 3 && part.height == 7 && part[0, 0].b == 12)
    }

    @Test(
        "Crops to nothing or to everything return the same image",
        arguments: [
            CGRect(x: 0, y: 0, width: 0, height: 5), CGRect(x: 99, y: 0, width: 5, height: 5),
            CGRect(x: CGFloat.nan, y: 0, width: 5, height: 5),
            CGRect(x: -CGFloat.infinity, y: 0, width: CGFloat.infinity, height: 5),
            CGRect(x: 0, y: 0, width: CGFloat.infinity, height: CGFloat.infinity),
        ]
    )
    func emptyAndWholeCrops(rect: CGRect) {
        let image = numberedImage(4, 4)
        #expect(image.cropped(toPoints: rect) === image)
    }

    @Test("A crop of a crop equals one crop") func nestedCrops() throws {
        let image = Image(cgImage: noiseBitmap(40, 30, seed: 9))
        let first = try #require(image.cropped(toPoints: CGRect(x: 5, y: 6, width: 30, height: 20)))
        let second = try #require(first.cropped(toPoints: CGRect(x: 3, y: 2, width: 10, height: 11)))
        let once = try #require(image.cropped(toPoints: CGRect(x: 8, y: 8, width: 10, height: 11)))
        #expect(try second.bitmap().rows == once.bitmap().rows)
    }

    @Test("The canvas has exactly the requested size in every content mode") func canvasSizes() throws {
        let image = Image(cgImage: .solid(0xFF10_2030, 40, 20), scale: 2)
        let canvas = CGSize(width: 15, height: 15)
        let fitted = try #require(image.placed(onPoints: canvas, mode: .aspectFit)).bitmap()
        #expect(fitted.width == 30 && fitted.height == 30 && fitted[15, 0].a == 0 && fitted[15, 15].a == 255)
        #expect(fitted.rows.joined().count { $0.a > 0 } == 30 * 16)  // 15 × 8 points, after rounding
        let filled = try #require(image.placed(onPoints: canvas, mode: .aspectFill)).bitmap()
        #expect(filled.width == 30 && filled.height == 30 && !filled.hasAlpha)
        let stretched = try #require(image.placed(onPoints: canvas, mode: .none)).bitmap()
        #expect(stretched.width == 30 && stretched.height == 30 && !stretched.hasAlpha)
    }

    @Test("An image that fills its canvas shows its centre") func aspectFillCentre() throws {
        let image = Image(cgImage: .of([[0xFF00_0001, 0xFF00_0002, 0xFF00_0003]]))
        let filled = try #require(image.placed(onPoints: CGSize(width: 1, height: 1), mode: .aspectFill)).bitmap()
        #expect(filled.rows == [[Pixel(r: 0, g: 0, b: 2)]])
    }

    @Test("A canvas that is too large gives nil, an empty one the same image") func impossibleCanvases() {
        let image = numberedImage(2, 2)
        #expect(image.placed(onPoints: CGSize(width: 1e9, height: 1e9), mode: .none) == nil)
        #expect(image.placed(onPoints: CGSize(width: CGFloat.infinity, height: 5), mode: .aspectFit) == nil)
        #expect(image.placed(onPoints: CGSize(width: 0, height: 5), mode: .aspectFill) === image)
        #expect(image.placed(onPoints: CGSize(width: CGFloat.nan, height: 5), mode: .aspectFill) === image)
    }
}
