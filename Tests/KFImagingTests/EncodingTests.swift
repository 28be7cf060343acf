// Round trips through every encoder.

import Foundation
import KFImaging
import Testing

@Suite struct EncodingTests {
    @Test(
        "Lossy formats are read back nearly unchanged",
        arguments: [(ImageContentType.jpeg, 0.9, 30.0), (.jpeg, 0.3, 25), (.webp, 0.9, 30), (.avif, 0.9, 30)]
    )
    func lossyRoundTrip(type: ImageContentType, quality: Double, bound: Double) throws {
        let image = try picture("photo.png")
        let data = try Codecs.encode(image, as: type, quality: quality)
        #expect(ImageContentType(sniffing: data) == type)
        #expect(try Codecs.decode(data).bitmap().likeness(to: image.bitmap()) > bound)
    }

    @Test("Alpha is kept", arguments: [ImageContentType.webp, .avif, .tiff])
    func alphaRoundTrip(type: ImageContentType) throws {
        let image = try picture("alpha.png")
        let decoded = try Codecs.decode(Codecs.encode(image, as: type, quality: 0.95))
        #expect(decoded.hasAlpha)
        #expect(try decoded.bitmap().likeness(to: image.bitmap()) > 28)
    }

    @Test("JPEG shows transparent pixels over white") func jpegOverWhite() throws {
        let image = Image(
            cgImage: Bitmap.of([[UInt32]](repeating: [UInt32](repeating: 0x8080_0000, count: 16), count: 16))
        )
        let data = try #require(image.jpegData(compressionQuality: 1))
        let decoded = try Codecs.decode(data).bitmap()
        #expect(decoded[8, 8].isNear(Pixel(r: 255, g: 127, b: 127), within: 3))
        let clear = Image(cgImage: Bitmap.solid(0, 16, 16))
        let white = try Codecs.decode(#require(clear.jpegData(compressionQuality: 1))).bitmap()
        #expect(white[3, 3].isNear(Pixel(r: 255, g: 255, b: 255), within: 1))
    }

    /// The sampling factors of the first component, from the frame header.
    private func sampling(_ quality: CGFloat) throws -> UInt8 {
        let data = [UInt8](try #require(picture("photo.png").jpegData(compressionQuality: quality)))
        let markers = data.indices.dropLast(12).filter { data[$0] == 0xFF }
        let frame = try #require(markers.first { [0xC0, 0xC2].contains(data[$0 + 1]) })
        return data[frame + 11]
    }

    @Test("JPEG keeps the full chroma resolution from a quality of 0.9") func jpegChromaSampling() throws {
        #expect(try sampling(0.9) == 0x11)
        #expect(try sampling(1) == 0x11)
        #expect(try sampling(0.89) == 0x22)
    }

    @Test("A progressive JPEG shows its colours before the details, and has the pixels of others")
    func progressiveScans() throws {
        let image = Image(
            cgImage: Bitmap.of(128, 96) { x, y in
                let (red, blue) = (UInt32(40 + x + (x * y) % 9 * 4), UInt32(x / 6 % 2 * 120))
                return 0xFF00_0000 | red << 16 | red << 8 | blue
            }
        )
        var options = ImageEncodingOptions(quality: 0.8)
        let data = try Codecs.encode(image, as: .jpeg, options)
        options.encoder.isProgressive = false
        let whole = try Codecs.decode(Codecs.encode(image, as: .jpeg, options)).bitmap()
        #expect(try Codecs.decode(data).bitmap().rows == whole.rows)
        let decoder = try ProgressiveJPEG()
        decoder.append(data)
        #expect(decoder.scanCount == 6)
        let likenesses = try [1, 2, 4].map { try decoder.image(afterScan: $0).bitmap().likeness(to: whole) }
        #expect(likenesses == likenesses.sorted() && likenesses[2] > likenesses[1] + 3)
    }

    @Test("A quality out of range is limited") func quality() throws {
        let image = try picture("photo.png")
        #expect(image.jpegData(compressionQuality: -3) == image.jpegData(compressionQuality: 0.01))
        #expect(image.jpegData(compressionQuality: 7) == image.jpegData(compressionQuality: 1))
        #expect(image.jpegData(compressionQuality: .nan) != nil)
    }

    @Test("The upright image is written", arguments: [ImageContentType.png, .jpeg, .webp])
    func writesUprightImage(type: ImageContentType) throws {
        let turned = try picture("orientation-8.jpg")
        let decoded = try Codecs.decode(Codecs.encode(turned, as: type, quality: 0.95))
        #expect(decoded.imageOrientation == .up && decoded.size == CGSize(width: 96, height: 64))
        #expect(try decoded.bitmap().likeness(to: picture("photo.png").bitmap()) > 28)
    }

    @Test("Empty images are not encoded") func emptyImagesRefused() {
        #expect(Image().pngData() == nil)
        #expect(Image().jpegData(compressionQuality: 1) == nil)
        #expect(throws: ImagingError.encodingFailed(.webp, detail: "the image is empty")) {
            try Codecs.encode(Image(), as: .webp)
        }
    }

    @Test("Formats without an encoder are refused with the reason") func formatsWithoutEncoder() throws {
        let image = try picture("photo.png")
        #expect(throws: ImagingError.encodingFailed(.jp2, detail: "the format is not built in")) {
            try Codecs.encode(image, as: .jp2)
        }
    }

    @Test("Images too large for a format are refused") func tooLargeForFormat() {
        let long = Image(cgImage: Bitmap(width: 70_000, height: 1) { _, _ in })
        for type in [ImageContentType.jpeg, .gif, .webp, .bmp] {
            #expect(throws: ImagingError.self) { try Codecs.encode(long, as: type) }
        }
        #expect(long.pngData() != nil)
    }
}
