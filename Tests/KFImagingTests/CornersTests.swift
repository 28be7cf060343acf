// Borders, circles and corners with borders, pixel by pixel.

import Foundation
import KFImaging
import Testing

private let red = Pixel(r: 255, g: 0, b: 0)
private let blue = Pixel(r: 0, g: 0, b: 255)

private func blueImage(_ width: Int, _ height: Int, scale: CGFloat = 1) -> Image {
    Image(cgImage: .solid(0xFF00_00FF, width, height), scale: scale)
}

@Suite struct BorderTests {
    @Test("A border has exactly the given width") func borderWidth() throws {
        let bitmap = try #require(blueImage(20, 20).bordered(Border(color: .red))).bitmap()
        for y in 0..<20 {
            for x in 0..<20 { #expect(bitmap[x, y] == ((4...15).contains(x) && (4...15).contains(y) ? blue : red)) }
        }
        #expect(!bitmap.hasAlpha)
    }

    @Test("The alpha of a border's colour is applied once")
    func translucentBordersMixOnce() throws {
        let border = Border(color: Color.red.withAlphaComponent(0.5), lineWidth: 3)
        let bitmap = try #require(blueImage(9, 7).bordered(border)).bitmap()
        #expect(bitmap[0, 0].isNear(Pixel(r: 0x80, g: 0, b: 0x7F), within: 1))
        #expect(bitmap[4, 3] == blue)
    }

    @Test("Widths are in points and may end within a pixel") func fractionalWidth() throws {
        let border = Border(color: .red, lineWidth: 1.25)
        let bitmap = try #require(blueImage(12, 12, scale: 2).bordered(border)).bitmap()
        #expect(bitmap[1, 5] == red && bitmap[3, 5] == blue)
        #expect(bitmap[2, 5].isNear(Pixel(r: 128, g: 0, b: 128), within: 1))
        #expect(bitmap[9, 9].isNear(Pixel(r: 191, g: 0, b: 64), within: 1))
    }

    @Test("A fractional radius refers to the whole image, and to the outer edge of the line")
    func roundedBorder() throws {
        let border = Border(color: .red, lineWidth: 4, radius: .widthFraction(0.25))
        let bitmap = try #require(blueImage(40, 40).bordered(border)).bitmap()
        #expect(bitmap[0, 0] == blue && bitmap[39, 39] == blue)
        // On the diagonal the line reaches from 10 − 10/√2 = 2.9 to 10 − 6/√2 = 5.8 pixels.
        #expect(bitmap[3, 3].r > 200 && bitmap[4, 4] == red && bitmap[6, 6] == blue)
        #expect(bitmap[20, 0] == red && bitmap[20, 3] == red && bitmap[20, 4] == blue)
        let ring = bitmap.rows.joined().reduce(0.0) { $0 + Double($1.r) / 255 }
        let expected = (1600 - (4 - Double.pi) * 100) - (1024 - (4 - Double.pi) * 36)
        #expect(abs(ring - expected) < expected * 0.01)
    }

    @Test("A radius up to half the width leaves the corners square") func smallRadius() throws {
        let border = Border(color: .red, lineWidth: 6, radius: .point(3))
        let bitmap = try #require(blueImage(20, 20).bordered(border)).bitmap()
        #expect(bitmap[0, 0] == red && bitmap[5, 5] == red && bitmap[6, 6] == blue)
    }

    @Test("A radius just above half the width rounds the outer edge only") func largeRadiusRoundsOuterEdge() throws {
        let bitmap = try #require(blueImage(20, 20).bordered(Border(color: .red, lineWidth: 4, radius: .point(3))))
            .bitmap()
        let rounded = try #require(blueImage(20, 20).roundingCorners(radius: .point(3))).bitmap()
        let share = rounded[0, 0].a
        #expect((1..<128).contains(share))
        #expect(bitmap[0, 0].isNear(Pixel(r: share, g: 0, b: 255 - share), within: 1))
        #expect(bitmap[3, 3] == red && bitmap[4, 4] == blue)
    }

    @Test("Only the selected corners are rounded") func selectedCorners() throws {
        let border = Border(color: .red, lineWidth: 2, radius: .point(8), roundingCorners: .bottomLeft)
        let bitmap = try #require(blueImage(30, 30).bordered(border)).bitmap()
        #expect(bitmap[0, 0] == red && bitmap[29, 0] == red && bitmap[29, 29] == red && bitmap[0, 29] == blue)
    }

    @Test("A border wider than half the image fills it", arguments: [CGFloat(10), 11, 1000, 1e300])
    func wideBorderFills(width: CGFloat) throws {
        let result = try #require(blueImage(20, 20).bordered(Border(color: .red, lineWidth: width)))
        #expect(try result.bitmap().rows.joined().allSatisfy { $0 == red })
    }

    @Test("Invalid widths return the same image", arguments: [CGFloat(0), -3, .nan, .infinity, -.infinity])
    func invalidWidth(width: CGFloat) {
        let image = blueImage(5, 5)
        #expect(image.bordered(Border(lineWidth: width)) === image)
        #expect(image.bordered(Border(lineWidth: 1, radius: .point(width)))?.size == image.size)
    }
}

@Suite struct UnlimitedRadiusTests {
    private static let endless: [Radius] = [.point(.infinity), .point(1e300), .widthFraction(.infinity)]

    @Test("An infinite radius rounds the corners as far as possible", arguments: endless)
    func infiniteRadius(radius: Radius) throws {
        let image = blueImage(30, 20, scale: 2)
        let (round, most) = (image.roundingCorners(radius: radius), image.roundingCorners(radius: .point(5)))
        #expect(try #require(round).bitmap().rows == #require(most).bitmap().rows)
        #expect(try #require(round).bitmap()[0, 0].a == 0)
        let line = image.bordered(Border(color: .red, lineWidth: 2, radius: radius))
        let widest = image.bordered(Border(color: .red, lineWidth: 2, radius: .point(5)))
        #expect(try #require(line).bitmap().rows == #require(widest).bitmap().rows)
    }

    @Test(
        "An invalid radius rounds nothing",
        arguments: [Radius.point(.nan), .point(-.infinity), .heightFraction(.nan)]
    )
    func invalidRadius(radius: Radius) throws {
        let image = blueImage(30, 20)
        #expect(try #require(image.roundingCorners(radius: radius)).bitmap().rows == image.bitmap().rows)
    }
}

@Suite struct CircleTests {
    @Test(
        "The circle is cut from the centre and is symmetric",
        arguments: [(20, 20), (31, 20), (20, 33), (1, 1), (7, 7)]
    )
    func centredCircle(width: Int, height: Int) throws {
        let bitmap = try #require(blueImage(width, height).circled(border: nil)).bitmap()
        let side = min(width, height)
        #expect(bitmap.width == side && bitmap.height == side)
        let area = bitmap.rows.joined().reduce(0.0) { $0 + Double($1.a) / 255 }
        let expected = Double.pi / 4 * Double(side * side)
        #expect(abs(area - expected) < 0.01 * expected + 0.01)
        // Symmetric in every direction.
        for y in 0..<side {
            for x in 0..<side {
                #expect(bitmap[x, y] == bitmap[y, x] && bitmap[x, y] == bitmap[side - 1 - x, y])
                #expect(bitmap[x, y] == bitmap[x, side - 1 - y])
            }
        }
    }

    @Test("Offsets of crops are rounded down") func offsets() throws {
        let bitmap = Bitmap.of([[0xFF00_0001, 0xFF00_0002, 0xFF00_0003, 0xFF00_0004]])
        let circle = try #require(Image(cgImage: bitmap).circled(border: nil)).bitmap()
        #expect(circle.width == 1 && circle[0, 0].isNear(Pixel(r: 0, g: 0, b: 2, a: 200), within: 1))
    }

    @Test("Half the width of a circle's border is visible") func circleBorder() throws {
        let bitmap = try #require(blueImage(40, 40).circled(border: Border(color: .red, lineWidth: 8))).bitmap()
        #expect(bitmap[20, 0].r > 240 && bitmap[20, 3] == red && bitmap[20, 4].b > 250 && bitmap[20, 6] == blue)
        #expect(bitmap[0, 0].a == 0)
        // The rim is not covered twice.
        let plain = try #require(blueImage(40, 40).circled(border: nil)).bitmap()
        #expect(bitmap.rows.map { $0.map(\.a) } == plain.rows.map { $0.map(\.a) })
    }
}

@Suite struct CornerAreaTests {
    /// The area of a disc in pixels is estimated by 64 × 64 points in each.
    @Test("The alpha at the corners is the exact area of the disc", arguments: [0.3, 1, 2.5, 5, 9.75, 10])
    func exactCoverage(radius: Double) throws {
        let image = blueImage(20, 20)
        let bitmap = try #require(image.roundingCorners(radius: .point(radius))).bitmap()
        for y in 0..<10 {
            for x in 0..<10 {
                var inside = 0
                for j in 0..<64 {
                    for i in 0..<64 {
                        let dx = radius - (Double(x) + (Double(i) + 0.5) / 64)
                        let dy = radius - (Double(y) + (Double(j) + 0.5) / 64)
                        inside += dx > 0 && dy > 0 && dx * dx + dy * dy > radius * radius ? 0 : 1
                    }
                }
                #expect(abs(Double(bitmap[x, y].a) - Double(inside) * 255 / 4096) <= 1.5)
            }
        }
    }

    @Test("Borders follow the rounded corners") func borders() throws {
        let image = blueImage(40, 30)
        let border = Border(color: .red, lineWidth: 6)
        let bitmap = try #require(image.roundingCorners(radius: .point(10), border: border)).bitmap()
        #expect(bitmap[0, 0].a == 0 && bitmap[20, 2] == red && bitmap[20, 3] == blue && bitmap[2, 15] == red)
        #expect(bitmap[4, 4] == red && bitmap[6, 6] == blue)
        let none = try #require(image.roundingCorners(radius: .point(10), border: Border(lineWidth: .nan))).bitmap()
        #expect(none[20, 0] == blue)
    }

    @Test("The background lies below all translucent pixels") func backgroundBelowPixels() throws {
        let transparent = Image(cgImage: .solid(0x8000_0080, 21, 15))
        let bitmap = try #require(
            transparent.roundingCorners(
                radius: .point(4),
                background: .white,
                border: Border(color: .red, lineWidth: 2)
            )
        ).bitmap()
        #expect(bitmap[10, 0] == red && bitmap[0, 0].isNear(Pixel(r: 255, g: 253, b: 253), within: 3))
        #expect(bitmap[10, 7].isNear(Pixel(r: 127, g: 127, b: 255), within: 1) && !bitmap.hasAlpha)
    }

    @Test("Images of any length are rounded") func longImages() throws {
        let bitmap = try #require(blueImage(40_000, 3).roundingCorners(radius: .point(1))).bitmap()
        #expect(bitmap[0, 0].a == 200 && bitmap[39_999, 2].a == 200 && bitmap[20_000, 0] == blue)
    }
}
