// Thumbnails: the sizes of boxes, the parts that are cropped, and orientations.

import Foundation
import Testing

@testable import KFImaging

@Suite struct ThumbnailTests {
    private func box(
        _ width: Int,
        _ height: Int,
        _ mode: ThumbnailMode = .fit,
        _ anchor: ThumbnailAnchor = .center,
        enlarges: Bool = false
    ) -> Thumbnail {
        Thumbnail(width: width, height: height, mode: mode, anchor: anchor, enlarges: enlarges)
    }

    @Test(
        "A thumbnail fits into its box, fills it or has its size; a side of 0 is free, and images grow only on request"
    )
    func sizes() {
        let wide = PixelSize(1600, 900)
        let cases: [(image: PixelSize, box: Thumbnail, width: Int, height: Int)] = [
            (wide, box(300, 200), 300, 169), (wide, box(50, 400), 50, 28), (wide, box(400, 50), 89, 50),
            (wide, box(300, 0), 300, 169), (wide, box(0, 90), 160, 90), (wide, box(0, 0), 1600, 900),
            (wide, box(2000, 2000), 1600, 900), (wide, box(3200, 3200, enlarges: true), 3200, 1800),
            (wide, box(1, 1), 1, 1),
            (wide, box(300, 200, .fill), 300, 200), (wide, box(50, 400, .fill), 50, 400),
            (wide, box(300, 0, .fill), 300, 169), (wide, box(0, 200, .fill), 356, 200),
            // Smaller than the box: the proportions of the box.
            (PixelSize(100, 100), box(300, 200, .fill), 100, 67), (PixelSize(400, 100), box(300, 200, .fill), 150, 100),
            (PixelSize(100, 100), box(300, 200, .fill, enlarges: true), 300, 200),
            (wide, box(300, 200, .exact), 300, 200), (wide, box(300, 0, .exact), 300, 169),
            (PixelSize(100, 400), box(300, 200, .exact), 300, 200), (PixelSize(30, 20), box(300, 0, .exact), 300, 200),
            (PixelSize(100, 400), box(300, 200, .exact, enlarges: true), 300, 200),
        ]
        for (image, box, width, height) in cases {
            #expect(box.kept(of: box.scaled(image)) == PixelSize(width, height), "\(image) in \(box)")
        }
    }

    @Test("A box is too large for an image that it would enlarge, unless it does so")
    func tooLarge() {
        let small = PixelSize(100, 400)
        let large = [box(300, 200, .fill), box(300, 0), box(0, 500), box(101, 401), box(300, 300, .fill)]
        for box in large { #expect(box.isTooLarge(for: small), "\(box)") }
        let others = [
            box(300, 200), box(100, 400), box(100, 0), box(0, 0), box(90, 30, .fill), box(300, 200, .exact),
            box(300, 0, enlarges: true),
        ]
        for box in others { #expect(!box.isTooLarge(for: small), "\(box)") }
    }

    /// Columns of 16 greys, one after the other.
    private func columns(_ width: Int, _ height: Int) -> Bitmap {
        .of((0..<height).map { _ in (0..<width).map { x in 0xFF00_0000 | UInt32(x * 16 / width) * 0x0F_0F0F } })
    }

    @Test("An image that fills its box is cropped at the anchor")
    func anchors() throws {
        let image = Image(cgImage: columns(64, 16))
        func first(_ anchor: ThumbnailAnchor) throws -> UInt8 {
            let small = try #require(image.thumbnail(box(8, 8, .fill, anchor), scale: 2))
            #expect(small.size == CGSize(width: 4, height: 4) && small.scale == 2)
            return try small.bitmap()[0, 4].g
        }
        let left = try first(.point(.zero)), middle = try first(.center), right = try first(.point(CGPoint(x: 1, y: 1)))
        #expect(left < 20 && (80...100).contains(middle) && (170...190).contains(right))
        #expect(try first(.point(CGPoint(x: 7, y: -3))) == right)
        #expect(try first(.point(CGPoint(x: CGFloat.nan, y: 0))) == middle)
    }

    @Test("The smart anchor keeps the part with detail, and a box with its resolved anchor keeps the same part")
    func smartAnchor() throws {
        let busy = Bitmap.of(
            (0..<40).map { y in
                (0..<160).map { x in x >= 120 && (x + y) % 4 < 2 ? 0xFFFF_4020 : 0xFF80_8080 }
            }
        )
        let smart = box(20, 20, .fill, .smart)
        let small = try #require(Image(cgImage: busy).thumbnail(smart, scale: 1)).bitmap()
        #expect(small.rows.joined().contains { $0.r > $0.b &+ 40 })
        let resolved = Image(cgImage: busy).resolvingSmartAnchor(of: smart)
        #expect(
            resolved.anchor != .smart
                && box(3, 3).anchor == Image(cgImage: busy).resolvingSmartAnchor(of: box(3, 3)).anchor
        )
        let again = try #require(Image(cgImage: busy).thumbnail(resolved, scale: 1)).bitmap()
        #expect(again.likeness(to: small) == .infinity)
    }

    @Test("The box applies to the upright image", arguments: 1...8)
    func orientationOrder(exif: Int) throws {
        let data = try fixture("orientation-\(exif).jpg")
        let whole = try Codecs.decode(data)
        for thumbnail in [box(20, 9), box(9, 20), box(12, 7, .fill, .point(.zero)), box(7, 12, .exact)] {
            var options = DecodingOptions(scale: 1)
            options.thumbnail = thumbnail
            let decoded = try Codecs.decode(data, options: options)
            let expected = try #require(whole.thumbnail(thumbnail, scale: 1))
            #expect(decoded.imageOrientation == .up && decoded.size == expected.size)
            #expect(try decoded.bitmap().likeness(to: expected.bitmap()) > 30)
            let upright = try #require(Image(cgImage: whole.bitmap()).thumbnail(thumbnail, scale: 1))
            #expect(try expected.bitmap().likeness(to: upright.bitmap()) > 45)
        }
    }

    @Test(
        "Every format makes thumbnails",
        arguments: ["photo.jpg", "photo.png", "photo.gif", "photo.webp", "photo.avif"]
    )
    func formats(name: String) throws {
        let whole = try picture(name)
        for thumbnail in [box(30, 30), box(30, 30, .fill), box(17, 0), box(400, 300, enlarges: true)] {
            var options = DecodingOptions(scale: 2)
            options.thumbnail = thumbnail
            let small = try Codecs.decode(fixture(name), options: options)
            let expected = try #require(whole.thumbnail(thumbnail, scale: 2))
            #expect(small.size == expected.size && small.scale == 2 && !small.isAnimated)
            #expect(try small.bitmap().likeness(to: expected.bitmap()) > 35)
        }
    }

    @Test("Boxes that would take more memory than allowed give nil")
    func limits() throws {
        let image = Image(cgImage: columns(16, 16))
        #expect(image.thumbnail(box(1 << 20, 1 << 20, enlarges: true), scale: 1) == nil)
        #expect(image.thumbnail(box(.max, 1, .exact, enlarges: true), scale: 1) == nil)
        #expect(image.thumbnail(box(1 << 20, 1 << 20), scale: 1)?.pixelWidth == 16)
        #expect(Image().thumbnail(box(3, 3), scale: 1)?.cgImage == nil)
    }
}
