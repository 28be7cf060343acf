// The image and the bitmap as values.

import Foundation
import KFImaging
import Testing

@Suite struct ImageTests {
    @Test("An empty image has no size") func emptyImage() {
        let image = Image()
        #expect(image.size == .zero && image.scale == 1 && image.cgImage == nil && image.cost == 0)
    }

    @Test("The size in points is the size in pixels divided by the scale, after rotation") func size() {
        let image = Image(cgImage: Bitmap.solid(0xFF00_0000, 30, 20), scale: 2, orientation: .left)
        #expect(image.size == CGSize(width: 10, height: 15))
        #expect(image.pixelWidth == 30 && image.pixelHeight == 20)
        #expect(image.cost == 30 * 20 * 4)
    }

    @Test("Another scale keeps pixels and metadata") func withScale() throws {
        let image = try picture("animated.gif")
        let rescaled = image.withScale(2)
        #expect(rescaled.size == CGSize(width: 20, height: 15))
        #expect(rescaled.cgImage === image.cgImage)
        #expect(rescaled.frameCount == 3 && rescaled.animatedData == image.animatedData)
        #expect(rescaled.withScale(2) === rescaled)
    }

    @Test("Images are equal if they share pixels, scale and orientation") func equality() throws {
        let data = try fixture("photo.png")
        let one = try #require(Image(data: data))
        let two = try #require(Image(data: data))
        #expect(one != two)
        let bitmap = try #require(one.cgImage)
        #expect(Image(cgImage: bitmap) == one)
        #expect(Image(cgImage: bitmap).hashValue == one.hashValue)
        #expect(Image(cgImage: bitmap, scale: 2) != one)
        #expect(Image(cgImage: bitmap, scale: 1, orientation: .down) != one)
        #expect(Image() == Image())
    }

    @Test("A scale applies to decoded images") func decodedScale() throws {
        let image = try #require(Image(data: fixture("photo.jpg"), scale: 2))
        #expect(image.size == CGSize(width: 48, height: 32) && image.contentType == .jpeg)
    }

    @Test("Files are read whatever their names") func contentsOfFile() throws {
        let path = NSTemporaryDirectory() + "/image-\(UUID().uuidString).txt"
        try fixture("photo.webp").write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(Image(contentsOfFile: path)?.pixelWidth == 96)
    }

    @Test("Scales that are not positive and finite become 1") func invalidScales() {
        for scale in [0, -1, CGFloat.nan, .infinity] {
            #expect(Image(cgImage: Bitmap.solid(0, 1, 1), scale: scale).scale == 1)
        }
    }

    @Test("The frame count can be set") func frameCount() {
        let image = Image(cgImage: Bitmap.solid(0, 1, 1))
        image.frameCount = 7
        #expect(image.frameCount == 7)
    }
}

@Suite struct BitmapTests {
    @Test("Rows are aligned to 16 bytes and padded with zeros", arguments: 1...9)
    func rowAlignment(width: Int) {
        let bitmap = Bitmap.solid(0xFFFF_FFFF, width, 3)
        #expect(bitmap.bytesPerRow % 16 == 0 && bitmap.bytesPerRow >= width * 4 && bitmap.bitsPerPixel == 32)
        bitmap.withUnsafeBytes { bytes in
            #expect(bytes.count == bitmap.bytesPerRow * 3)
            #expect(bytes.enumerated().allSatisfy { $0.offset % bitmap.bytesPerRow < width * 4 || $0.element == 0 })
            #expect(UInt(bitPattern: bytes.baseAddress) % 16 == 0)
        }
    }

    @Test("Alpha is detected from the pixels") func alphaDetection() {
        #expect(!Bitmap.solid(0xFF00_0000, 5, 5).hasAlpha)
        #expect(Bitmap.of([[0xFF00_0000, 0xFF00_0000], [0xFF00_0000, 0xFE00_0000]]).hasAlpha)
        #expect(Bitmap.of([[0xFF00_0000]], hasAlpha: true).hasAlpha)
    }

    @Test("A bitmap's memory is zeroed before it is filled") func zeroedMemory() {
        let bitmap = Bitmap(width: 3, height: 2) { _, _ in }
        #expect(bitmap.rows.joined().allSatisfy { $0 == Pixel(r: 0, g: 0, b: 0, a: 0) })
        #expect(Bitmap(width: -3, height: 0) { _, _ in }.width == 1)
    }

    @Test("Bitmaps are equal if they are the same object") func bitmapEquality() {
        let bitmap = Bitmap.solid(0, 2, 2)
        #expect(bitmap == bitmap && bitmap != Bitmap.solid(0, 2, 2))
        #expect(Set([bitmap, bitmap]).count == 1)
    }
}
