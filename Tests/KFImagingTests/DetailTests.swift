// Trimming, smart cropping and sharpening: operations that depend on the content of the image.

import Foundation
import KFImaging
import Testing

@Suite struct TrimmingTests {
    private func framed(_ border: UInt32, _ inside: UInt32) -> Image {
        Image(
            cgImage: .of(
                (0..<9).map { y in
                    (0..<12).map { x in (2...4).contains(y) && (3...10).contains(x) && y + x != 6 ? inside : border }
                }
            )
        )
    }

    @Test(
        "Edges of the corner's colour are trimmed",
        arguments: [(0, 0xFFFF_0000), (0xFFFF_FFFF, 0xFF00_0000), (0xFF10_2030, 0x8000_0000)] as [(UInt32, UInt32)]
    )
    func plainEdges(border: UInt32, inside: UInt32) throws {
        let trimmed = try #require(framed(border, inside).trimmed(tolerance: 0.04)).bitmap()
        #expect(trimmed.width == 8 && trimmed.height == 3)
        let corner = Bitmap.of([[border, inside]])
        #expect(trimmed[0, 1] == corner[0, 0] && trimmed[7, 2] == corner[1, 0])
    }

    @Test("Transparent edges are removed, whatever the colour of the corner") func transparentEdges() throws {
        // One row in the colour of the corner, one with another colour, and transparent pixels around them.
        let words: [[UInt32]] = [[0xFF00_FF00, 0xFF00_FF00, 0], [0, 0xFFFF_0000, 0], [0, 0, 0]]
        let trimmed = try #require(Image(cgImage: .of(words)).trimmed(tolerance: 0)).bitmap()
        #expect(trimmed.rows == [[Pixel(r: 255, g: 0, b: 0)]])
    }

    @Test("Differences up to the tolerance count as empty") func tolerance() throws {
        // 10 of 255 are 3.9 %.
        #expect(try #require(framed(0xFF64_6464, 0xFF6E_6464).trimmed(tolerance: 0.04)).pixelWidth == 12)
        #expect(try #require(framed(0xFF64_6464, 0xFF6F_6464).trimmed(tolerance: 0.04)).pixelWidth == 8)
        #expect(try #require(framed(0, 0x0505_0505).trimmed(tolerance: 0)).pixelWidth == 8)
        #expect(try #require(framed(0, 0x0505_0505).trimmed(tolerance: 0.04)).pixelWidth == 12)
    }

    @Test("Images that are entirely empty are not trimmed", arguments: [UInt32(0), 0xFF12_3456, 0x8020_2020])
    func emptyImagesKept(word: UInt32) {
        let image = Image(cgImage: .solid(word, 5, 4))
        #expect(image.trimmed(tolerance: 0) === image)
        #expect(numberedImage(4, 4).trimmed(tolerance: 1)?.pixelWidth == 4)
    }

    @Test("Images without empty edges are not trimmed") func nothingToTrim() {
        let image = numberedImage(5, 4)
        #expect(image.trimmed(tolerance: 0) === image)
        #expect(image.trimmed(tolerance: .nan) === image)
        #expect(image.trimmed(tolerance: -.infinity) === image)
    }

    @Test("A single pixel remains after trimming") func singlePixel() throws {
        var rows = [[UInt32]](repeating: [UInt32](repeating: 0, count: 9), count: 7)
        rows[5][8] = 0xFFFF_FFFF
        let trimmed = try #require(Image(cgImage: .of(rows)).trimmed(tolerance: 0)).bitmap()
        #expect(trimmed.rows == [[Pixel(r: 255, g: 255, b: 255)]])
    }
}

@Suite struct SmartCroppingTests {
    /// A checkered patch of 60 × 60 pixels on a background with little detail.
    private func scene(_ left: Int, _ top: Int, _ color: UInt32 = 0xFFFF_F0D0) -> Image {
        Image(
            cgImage: Bitmap(width: 480, height: 320, hasAlpha: false) { memory, bytesPerRow in
                for y in 0..<320 {
                    for x in 0..<480 {
                        let isInside = (left..<left + 60).contains(x) && (top..<top + 60).contains(y)
                        let quiet = 0xFF40_4850 + UInt32(x / 60) * 0x01_0101
                        let word = isInside ? ((x / 6 + y / 6) % 2 == 0 ? color : 0xFF20_1810) : quiet
                        memory.storeBytes(of: word, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                    }
                }
            }
        )
    }

    @Test(
        "A bright subject with detail is inside the crop",
        arguments: [(20, 20), (400, 240), (210, 130), (0, 260), (420, 0), (330, 30)]
    )
    func containedSubject(left: Int, top: Int) throws {
        let part = try #require(scene(left, top).smartCropped(toPoints: CGSize(width: 120, height: 120))).bitmap()
        #expect(part.width == 120 && part.height == 120)
        let count = part.rows.joined().count { $0.r == 0xFF || $0.r == 0x20 }
        #expect(count == 3600)
    }

    @Test("The subject is in the middle of the crop where possible") func centredSubject() throws {
        let part = try #require(scene(300, 100).smartCropped(toPoints: CGSize(width: 140, height: 140))).bitmap()
        let columns = (0..<140).filter { part[$0, 70].r == 0xFF || part[$0, 70].r == 0x20 }
        #expect(try abs(#require(columns.first) - 40) <= 6)
    }

    @Test("Saturated and skin-coloured parts are inside the crop") func saturationAndSkin() throws {
        func flat(_ word: UInt32) -> Image {
            Image(
                cgImage: Bitmap(width: 300, height: 100, hasAlpha: false) { memory, bytesPerRow in
                    for y in 0..<100 {
                        for x in 0..<300 {
                            let pixel = (220..<260).contains(x) ? word : 0xFF80_8080
                            memory.storeBytes(of: pixel, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                        }
                    }
                }
            )
        }
        for word: UInt32 in [0xFF00_9000, 0xFFC6_8642, 0xFF8D_5524, 0xFFE0_AC8C] {
            let part = try #require(flat(word).smartCropped(toPoints: CGSize(width: 100, height: 100))).bitmap()
            #expect(part.rows[50].count { $0.g != 0x80 } == 40)
        }
    }

    @Test("An image without detail is cropped to its middle") func flatImage() throws {
        let grey = Bitmap(width: 301, height: 101, hasAlpha: false) { memory, bytesPerRow in
            for y in 0..<101 {
                for x in 0..<301 {
                    // Differences too small to count as detail.
                    memory.storeBytes(of: 0xFF80_8080, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                }
            }
            memory.storeBytes(of: 0xFF81_8080, toByteOffset: 50 * bytesPerRow + 150 * 4, as: UInt32.self)
        }
        let part = try #require(Image(cgImage: grey).smartCropped(toPoints: CGSize(width: 101, height: 101))).bitmap()
        let column = try #require((0..<101).first { part[$0, 50].r == 0x81 })
        #expect(abs(column - 50) <= 3)
    }

    @Test("The same image gives the same crop") func deterministic() throws {
        let size = CGSize(width: 33, height: 47)
        let image = Image(cgImage: noiseBitmap(150, 100, seed: 11))
        let (one, two) = (image.smartCropped(toPoints: size), image.smartCropped(toPoints: size))
        #expect(try #require(one).bitmap().rows == #require(two).bitmap().rows)
    }

    @Test("The size of the crop is limited to the image, and invalid sizes return the same image")
    func limitedToImage() throws {
        let image = numberedImage(10, 6)
        #expect(image.smartCropped(toPoints: CGSize(width: 1e300, height: CGFloat(7))) === image)
        #expect(try #require(image.smartCropped(toPoints: CGSize(width: 4, height: 100))).bitmap().height == 6)
        for side in [CGFloat(0), -4, .nan, .infinity] {
            #expect(image.smartCropped(toPoints: CGSize(width: side, height: 3)) === image)
        }
    }
}

@Suite struct SharpeningTests {
    /// The definition, in double precision.
    private func reference(_ levels: [Double], _ sigma: Double, _ amount: Double) -> [UInt8] {
        let reach = Int((3 * sigma).rounded(.up))
        let bell = (-reach...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let total = bell.reduce(0, +)
        return levels.indices.map { x in
            let mean = bell.indices.reduce(0.0) {
                $0 + bell[$1] * levels[min(max(x + $1 - reach, 0), levels.count - 1)]
            }
            let sharp = levels[x] + amount * (levels[x] - mean / total)
            return UInt8(min(max(sharp, 0), 255).rounded())
        }
    }

    @Test("A step gets steeper, as the definition says", arguments: [(0.6, 1.0), (1.5, 0.5), (4, 3)])
    func sharpensSteps(sigma: Double, amount: Double) throws {
        let levels: [UInt32] = (0..<24).map { $0 < 12 ? 60 : 180 }
        let expected = reference(levels.map(Double.init), sigma, amount)
        for bitmap in [Bitmap.row(levels), .of(levels.map { [0xFF00_0000 | $0 << 16 | $0 << 8 | $0] })] {
            let sharp = try #require(Image(cgImage: bitmap).sharpened(sigma: sigma, amount: amount)).bitmap()
            let values = sharp.rows.joined().map(\.g)
            #expect(zip(values, expected).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
            #expect(!sharp.hasAlpha && (values.min() ?? 60) < 60 && (values.max() ?? 180) > 180)
        }
    }

    @Test("Flat areas and alpha are unchanged") func keepsFlatAreas() throws {
        let even = Image(cgImage: .solid(0x8040_2010, 9, 9))
        #expect(try #require(even.sharpened(sigma: 2, amount: 5)).bitmap().rows == even.bitmap().rows)
        let bitmap = noiseBitmap(31, 17, seed: 21)
        let sharp = try #require(Image(cgImage: bitmap).sharpened(sigma: 1.3, amount: 2)).bitmap()
        #expect(sharp.rows.map { $0.map(\.a) } == bitmap.rows.map { $0.map(\.a) })
        #expect(sharp.rows.joined().allSatisfy { max($0.r, $0.g, $0.b) <= $0.a })
    }

    @Test("Transparent pixels do not affect their neighbours") func transparentPixelsIgnored() throws {
        // One colour that fades out: there is nothing to sharpen.
        let words: [UInt32] = [0xFF80_4000, 0x8040_2000, 0x4020_1000, 0, 0, 0]
        let sharp = try #require(Image(cgImage: .of([words])).sharpened(sigma: 1, amount: 4)).bitmap()
        #expect(zip(sharp.rows[0], Bitmap.of([words]).rows[0]).allSatisfy { $0.isNear($1, within: 1) })
    }

    @Test(
        "Invalid values return the same image",
        arguments: [(0, 1), (-1, 1), (1, 0), (1, -2), (CGFloat.nan, 1), (1, .nan), (.infinity, 1), (1, .infinity)]
            as [(CGFloat, CGFloat)]
    )
    func invalidParameters(sigma: CGFloat, amount: CGFloat) {
        let image = numberedImage(4, 3)
        #expect(image.sharpened(sigma: sigma, amount: amount) === image)
    }

    @Test("Every part of a wide image is sharpened as it is alone", arguments: [0.5, 4, 30] as [CGFloat])
    func wideImages(sigma: CGFloat) throws {
        let wide = noiseBitmap(9_001, 3, seed: 4)
        func rows(_ bitmap: Bitmap?) throws -> [[Pixel]] {
            try #require(bitmap.flatMap { Image(cgImage: $0).sharpened(sigma: sigma, amount: 2) }).bitmap().rows
        }
        let whole = try rows(wide)
        for left in stride(from: 0, to: 8_700, by: 100) {
            let part = try rows(wide.cropping(to: CGRect(x: left, y: 0, width: 300, height: 3)))
            for y in 0..<3 { #expect(part[y][100..<200] == whole[y][left + 100..<left + 200], "\(left)") }
        }
    }

    @Test("Huge values are limited") func limitsSigma() throws {
        let ramp = Image(cgImage: .row((0..<250).map { $0 < 125 ? 100 : 140 }))
        func sharp(_ sigma: CGFloat) throws -> [Pixel] {
            try #require(ramp.sharpened(sigma: sigma, amount: 2)).bitmap().rows[0]
        }
        #expect(try sharp(1e300) == sharp(100) && sharp(100) != sharp(90) && sharp(90) != sharp(64))
        #expect(try #require(numberedImage(4, 3).sharpened(sigma: 1e300, amount: 1e300)).bitmap().width == 4)
    }
}
