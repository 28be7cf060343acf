// Resampling, orientations, cropping and rounded corners, compared pixel by pixel.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@Suite struct ResampleTests {
    private func resized(_ levels: [UInt32], to count: Int) throws -> [UInt8] {
        let wide = try Bitmap.row(levels).resampled(to: PixelSize(count, 1), filter: .bilinear).rows[0].map(\.g)
        // The other axis must do the same.
        let column = Bitmap.of(levels.map { [0xFF00_0000 | $0 << 16 | $0 << 8 | $0] })
        let high = try column.resampled(to: PixelSize(1, count), filter: .bilinear).rows.map { $0[0].g }
        #expect(wide == high)
        return wide
    }

    @Test("Enlarging mixes neighbouring pixels") func enlarging() throws {
        #expect(try resized([0, 255], to: 4) == [0, 64, 191, 255])
    }

    @Test("Shrinking to half the size mixes more than two pixels") func halving() throws {
        #expect(try resized([0, 0, 255, 255], to: 2) == [36, 219])
        #expect(try resized([0, 255, 0, 255], to: 2) == [109, 146])
        #expect(try resized([0, 0, 0, 0, 255, 255, 255, 255], to: 4) == [0, 32, 223, 255])
    }

    @Test("Resizing to the same size returns the same bitmap") func sameSize() throws {
        let bitmap = Bitmap.row([1, 2, 3])
        #expect(try bitmap.resampled(to: PixelSize(3, 1)) === bitmap)
    }

    @Test("An axis whose size stays the same is not resampled") func oneAxis() throws {
        let bitmap = Bitmap.of([[0xFF00_0001, 0xFF00_00FE, 0xFF00_0003], [0xFF00_0001, 0xFF00_00FE, 0xFF00_0003]])
        #expect(try bitmap.resampled(to: PixelSize(3, 5)).rows.allSatisfy { $0 == bitmap.rows[0] })
    }

    @Test("No colour exceeds its alpha after resampling") func premultipliedBounds() throws {
        var generator = SeededGenerator(state: 1)
        let words = (0..<17).map { _ in
            (0..<23).map { _ -> UInt32 in
                let alpha = UInt32.random(in: 0...255, using: &generator)
                return alpha << 24 | alpha << 16 | UInt32.random(in: 0...alpha, using: &generator) << 8 | alpha
            }
        }
        for size in [PixelSize(5, 4), PixelSize(40, 50), PixelSize(22, 18)] {
            let result = try Bitmap.of(words).resampled(to: size)
            #expect(result.rows.joined().allSatisfy { $0.r == $0.a && $0.b == $0.a && $0.g <= $0.a })
        }
    }

    @Test("Sizes in points are multiplied by the scale") func pointSizes() throws {
        let image = Image(cgImage: Bitmap.solid(0xFF10_2030, 20, 10), scale: 2)
        let result = try #require(image.resized(toPoints: CGSize(width: 5, height: 5)))
        #expect(result.pixelWidth == 10 && result.pixelHeight == 10 && result.scale == 2)
        #expect(image.resized(toPoints: CGSize(width: 1e9, height: 1e9)) == nil)
    }

    @Test("Operations return an empty image unchanged") func emptyImages() {
        let empty = Image()
        #expect(empty.resized(toPoints: CGSize(width: 5, height: 5)) === empty)
        #expect(empty.roundingCorners(radius: .point(3)) === empty)
        #expect(empty.cropped(toPoints: CGSize(width: 5, height: 5), anchor: .zero) === empty)
        #expect(empty.downsampled(toMaxPixelSize: 5, scale: 1) === empty)
        #expect(empty.normalized === empty)
    }
}

@Suite struct OrientationTests {
    /// Stored image of 3 × 2 pixels, numbered 0…5 row by row, as each orientation displays it.
    @Test(
        "Every orientation moves every pixel to its place",
        arguments: [
            (1, [[0, 1, 2], [3, 4, 5]]), (2, [[2, 1, 0], [5, 4, 3]]), (3, [[5, 4, 3], [2, 1, 0]]),
            (4, [[3, 4, 5], [0, 1, 2]]), (5, [[0, 3], [1, 4], [2, 5]]), (6, [[3, 0], [4, 1], [5, 2]]),
            (7, [[5, 2], [4, 1], [3, 0]]), (8, [[2, 5], [1, 4], [0, 3]]),
        ]
    )
    func orientedPixels(exif: Int, expected: [[Int]]) throws {
        let orientation = try #require(Orientation(exif: exif))
        let stored = Bitmap.of([[0xFF00_0000, 0xFF00_0001, 0xFF00_0002], [0xFF00_0003, 0xFF00_0004, 0xFF00_0005]])
        let display = try stored.oriented(from: orientation)
        #expect(display.rows.map { $0.map { Int($0.b) } } == expected)
        let image = Image(cgImage: stored, scale: 1, orientation: orientation)
        #expect(image.size == CGSize(width: display.width, height: display.height))
        #expect(image.normalized.imageOrientation == .up)
    }

    @Test("Raw values and EXIF tags are those of the standard") func orientationValues() {
        #expect(Orientation.allCases.map(\.rawValue) == Array(0...7))
        #expect(Orientation.allCases.map(\.exif) == [1, 3, 8, 6, 2, 4, 5, 7])
        #expect((1...8).compactMap { Orientation(exif: $0)?.exif } == Array(1...8))
        #expect(Orientation(exif: 0) == nil && Orientation(exif: 9) == nil && Orientation(exif: .min) == nil)
    }

    @Test("Large images are rotated in blocks without seams") func largeRotations() throws {
        let words = (0..<70).map { y in
            (0..<45).map { (x: Int) -> UInt32 in 0xFF00_0000 | UInt32(y) << 8 | UInt32(x) }
        }
        let turned = try Bitmap.of(words).oriented(from: .right)
        #expect(
            (0..<45).allSatisfy { y in
                (0..<70).allSatisfy { x in
                    turned[x, y] == Pixel(r: 0, g: UInt8(69 - x), b: UInt8(y))
                }
            }
        )
        #expect(try turned.oriented(from: .left).rows == Bitmap.of(words).rows)
    }
}

@Suite struct CroppingTests {
    private let bitmap = Bitmap.of((0..<4).map { y in (0..<5).map { x in 0xFF00_0000 | UInt32(y * 16 + x) } })

    @Test("A crop copies the pixels of its rectangle") func croppedPart() throws {
        let part = try #require(bitmap.cropping(to: CGRect(x: 1, y: 2, width: 2, height: 2)))
        #expect(part.rows.map { $0.map(\.b) } == [[33, 34], [49, 50]])
    }

    @Test("Rectangles grow to whole pixels and end at the edges") func cropRounding() throws {
        let part = try #require(bitmap.cropping(to: CGRect(x: 3.5, y: -2, width: 9, height: 3.2)))
        #expect(part.width == 2 && part.height == 2)
        #expect(part[0, 0].b == 3)
    }

    @Test("Cropping to everything returns the same bitmap") func wholeCrop() {
        #expect(bitmap.cropping(to: CGRect(x: -1, y: -1, width: 90, height: 90)) === bitmap)
    }

    @Test(
        "Cropping to nothing returns nil",
        arguments: [
            CGRect(x: 9, y: 0, width: 2, height: 2), CGRect(x: 0, y: 0, width: 0, height: 2),
            CGRect(x: CGFloat.nan, y: 0, width: 1, height: 1), CGRect(x: -5, y: 0, width: 5, height: 5),
        ]
    )
    func emptyCrops(rect: CGRect) { #expect(bitmap.cropping(to: rect) == nil) }

    @Test("Anchored crops grow outwards to whole pixels") func anchoredCrop() throws {
        let image = Image(cgImage: Bitmap.solid(0xFF00_00FF, 64, 64))
        let part = try #require(
            image.cropped(toPoints: CGSize(width: 21, height: 21), anchor: CGPoint(x: 0.5, y: 0.5))
        )
        #expect(part.pixelWidth == 22 && part.pixelHeight == 22)
        #expect(image.cropped(toPoints: .zero, anchor: .zero) === image)
    }
}

@Suite struct RoundedCornerTests {
    private let square = Image(cgImage: Bitmap.solid(0xFF20_40C0, 20, 20))

    private func alphas(_ image: Image?, row: Int, count: Int) throws -> [Int] {
        let bitmap = try #require(image?.cgImage)
        return (0..<count).map { Int(bitmap[$0, row].a) }
    }

    private func isNear(_ actual: [Int], _ expected: [Int]) -> Bool {
        zip(actual, expected).allSatisfy { abs($0 - $1) <= 12 }
    }

    @Test("The alpha at the corners is the area inside the path") func coverage() throws {
        let five = square.roundingCorners(radius: .point(5))
        #expect(isNear(try alphas(five, row: 0, count: 7), [0, 0, 81, 194, 247, 255, 255]))
        #expect(isNear(try alphas(five, row: 1, count: 4), [0, 140, 255, 255]))
        let ten = square.roundingCorners(radius: .point(10))
        #expect(isNear(try alphas(ten, row: 0, count: 10), [0, 0, 0, 0, 0, 8, 92, 173, 225, 251]))
        #expect(isNear(try alphas(ten, row: 1, count: 7), [0, 0, 0, 0, 88, 228, 255]))
    }

    @Test(
        "The corners that are cut off have the expected area",
        arguments: [(5.0, 15, 4), (10, 15, 4), (7, 9, 2), (7, 2, 1)]
    )
    func cutArea(radius: Double, corners: Int, count: Int) throws {
        let corners = RectCorner(rawValue: corners)
        let bitmap = try #require(square.roundingCorners(radius: .point(radius), corners: corners)?.cgImage)
        let area = bitmap.rows.joined().reduce(0.0) { $0 + Double($1.a) / 255 }
        let expected = 400 - (4 - Double.pi) * radius * radius * Double(count) / 4
        #expect(abs(area - expected) <= expected * 0.01)
        #expect(bitmap.hasAlpha)
    }

    @Test("Only the requested corners are rounded") func selectedCorners() throws {
        let bitmap = try #require(
            square.roundingCorners(radius: .point(6), corners: [.topRight, .bottomLeft])?.cgImage
        )
        #expect([bitmap[0, 0].a, bitmap[19, 0].a, bitmap[0, 19].a, bitmap[19, 19].a] == [255, 0, 0, 255])
    }

    @Test("Rounded corners are symmetric") func symmetricCorners() throws {
        let bitmap = try #require(square.roundingCorners(radius: .point(8))?.cgImage)
        for y in 0..<20 {
            for x in 0..<20 { #expect(abs(Int(bitmap[x, y].a) - Int(bitmap[y, x].a)) <= 12) }
        }
    }

    @Test("Pixels away from the corners do not change") func unroundedPixels() throws {
        let photo = try picture("photo.png")
        let rounded = try #require(photo.roundingCorners(radius: .point(8))?.cgImage)
        let original = try photo.bitmap()
        #expect((10..<54).allSatisfy { y in rounded.rows[y] == original.rows[y] })
    }

    @Test("A background fills the corners") func cornerBackground() throws {
        let bitmap = try #require(square.roundingCorners(radius: .point(10), background: .red)?.cgImage)
        #expect(bitmap[0, 0] == Pixel(r: 255, g: 0, b: 0))
        #expect(bitmap[10, 10] == Pixel(r: 0x20, g: 0x40, b: 0xC0))
        #expect(!bitmap.hasAlpha)
    }

    @Test("Backgrounds show through translucent pixels") func translucentPixels() throws {
        let transparent = Image(cgImage: Bitmap.solid(0x8000_0080, 20, 20))
        let bitmap = try #require(transparent.roundingCorners(radius: .point(4), background: .white)?.cgImage)
        #expect(bitmap[10, 10].isNear(Pixel(r: 127, g: 127, b: 255), within: 1))
    }

    @Test("A target size stretches the image, and the radius is in points") func roundedTargets() throws {
        let image = Image(cgImage: Bitmap.solid(0xFF00_00FF, 20, 10), scale: 2)
        let result = try #require(image.roundingCorners(radius: .point(2), targetSize: CGSize(width: 10, height: 10)))
        #expect(result.pixelWidth == 20 && result.pixelHeight == 20 && result.scale == 2)
        // Two points at scale 2 are four pixels.
        let same = try #require(Image(cgImage: Bitmap.solid(0xFF00_00FF, 20, 20)).roundingCorners(radius: .point(4)))
        #expect(try result.bitmap().rows == same.bitmap().rows)
    }

    @Test(
        "Radii are limited to half the shorter side",
        arguments: [Radius.point(1000), .widthFraction(0.5), .heightFraction(3)]
    )
    func largeRadii(radius: Radius) throws {
        let ten = try #require(square.roundingCorners(radius: .point(10))).bitmap()
        #expect(try #require(square.roundingCorners(radius: radius)).bitmap().rows == ten.rows)
    }

    @Test("An empty radius cuts nothing off", arguments: [Radius.point(0), .point(-3), .point(.nan)])
    func emptyRadii(radius: Radius) throws {
        #expect(try #require(square.roundingCorners(radius: radius)?.cgImage).hasAlpha == false)
    }
}
