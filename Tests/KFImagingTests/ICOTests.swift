// Icons and cursors: the choice of an image, damaged ones, and embedded PNGs.

import Foundation
import KFImaging
import Testing

@Suite struct ICOTests {
    /// An icon of images that lie one behind the other; the directory has no sizes.
    private func icon(_ images: [Data], type: Int = 1) -> Data {
        var directory = littleEndian(0, 2) + littleEndian(type, 2) + littleEndian(images.count, 2)
        var offset = 6 + 16 * images.count
        for image in images {
            directory += Data(count: 8) + littleEndian(image.count) + littleEndian(offset)
            offset += image.count
        }
        return images.reduce(directory, +)
    }

    /// An image of one colour, of 24 or 32 bits (0xAARRGGBB); nothing of it is masked.
    private func solid(_ color: Int, _ width: Int, _ height: Int, depth: Int = 24) -> Data {
        var data = bitmapHeader(width, height * 2, depth: depth)
        for _ in 0..<height {
            for _ in 0..<width { data += littleEndian(color, depth / 8) }
            if depth == 24 { data += Data(count: width % 4) }
        }
        return data + Data(count: (width + 31) / 32 * 4 * height)
    }

    @Test("Among images of one size the first of those with the deepest pixels is shown")
    func depthDecides() throws {
        let red = solid(0xFF0000, 3, 3)
        let green = solid(0xFF00_FF00, 3, 3, depth: 32)
        let blue = solid(0xFF00_00FF, 3, 3, depth: 32)
        let bitmap = try Codecs.decode(icon([red, green, blue, solid(0, 2, 4)])).bitmap()
        #expect(bitmap.size == PixelSize(3, 3) && bitmap[1, 1] == Pixel(r: 0, g: 255, b: 0))
        #expect(try Codecs.decode(icon([green, red], type: 2)).bitmap()[0, 0] == Pixel(r: 0, g: 255, b: 0))
    }

    @Test("Pixels of 32 bits without any alpha are hidden by the mask")
    func emptyAlpha() throws {
        var data = solid(0x10_2030, 2, 2, depth: 32)
        // The lower row of the mask: its left pixel is hidden.
        data[data.count - 8] = 0x80
        let bitmap = try Codecs.decode(icon([data])).bitmap()
        let (color, nothing) = (Pixel(r: 0x10, g: 0x20, b: 0x30), Pixel(r: 0, g: 0, b: 0, a: 0))
        #expect(bitmap.rows == [[color, color], [nothing, color]])
        // A mask that is not there hides nothing.
        #expect(try !Codecs.decode(icon([data]).dropLast(8)).bitmap().hasAlpha)
    }

    @Test("Images with broken headers do not count, and without any other there is an error")
    func brokenImages() throws {
        let broken = Data(count: 60)
        let good = solid(0xFF0000, 2, 2)
        #expect(try Codecs.decode(icon([broken, good])).pixelWidth == 2)
        #expect(Codecs.diagnose(icon([broken])) == .malformed(.ico, detail: "it holds no image"))
        let cut = icon([good]).prefix(22 + 41)
        #expect(Codecs.diagnose(cut) == .malformed(.ico, detail: "the data ends before the first row"))
    }

    @Test("The limits apply to the size in the image's own header")
    func limits() throws {
        let refusal = ImagingError.limitExceeded(
            limit: "maxPixelCount",
            allowed: 1 << 28,
            width: 60_000,
            height: 60_000
        )
        #expect(Codecs.diagnose(icon([bitmapHeader(60_000, 120_000, depth: 32) + Data(count: 9)])) == refusal)
        #expect(try Codecs.diagnose(icon([fixture("bomb.png")])) == refusal)
    }

    @Test("An animated PNG in an icon is a still")
    func animatedPNG() throws {
        let data = try icon([fixture("animated.png")])
        let image = try Codecs.decode(data)
        #expect(image.pixelWidth == 24 && image.animatedData == nil)
        #expect(try ImageInfo(data: data).frameCount == 1 && Codecs.frameSource(of: data) == nil)
    }

    @Test("Bytes that only begin like a directory are not taken for an icon")
    func otherBytes() {
        let data = icon([solid(0, 2, 2)])
        #expect(
            ImageContentType(sniffing: data.prefix(22)) == .ico && ImageContentType(sniffing: data.prefix(21)) == nil
        )
        // No entries, a reserved byte that is used, an entry without bytes, and one that begins in the directory.
        for (place, value) in [(4, 0), (9, 7), (14, 0), (18, 21)] as [(Int, UInt8)] {
            var other = data
            other[place] = value
            #expect(ImageContentType(sniffing: other) == nil, "\(place)")
        }
        // The header of an uncompressed TGA.
        let tga = Data([0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 64, 0, 24, 32]) + Data(count: 100)
        #expect(ImageContentType(sniffing: tga) == nil)
    }
}
