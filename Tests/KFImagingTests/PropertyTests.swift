// What holds for every image, tried with random ones: lossless files give back their pixels, sizes are those of
// headers.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@Suite struct PropertyTests {
    /// Valid premultiplied pixels: opaque ones, clear ones, and those in between.
    static func image(using random: inout SeededGenerator, colors: Int? = nil, isBinary: Bool = false) -> Bitmap {
        func pixel() -> UInt32 {
            let alphas: [UInt32] = isBinary ? [0, 255, 255] : [0, 255, .random(in: 0...255, using: &random)]
            let alpha = alphas.randomElement(using: &random) ?? 255
            return (0..<3).reduce(alpha << 24) { $0 | UInt32.random(in: 0...alpha, using: &random) << (8 * $1) }
        }
        let palette = colors.map { count in (0..<count).map { _ in pixel() } }
        let (width, height) = (Int.random(in: 1...40, using: &random), Int.random(in: 1...40, using: &random))
        return .of(
            (0..<height).map { _ in (0..<width).map { _ in palette?.randomElement(using: &random) ?? pixel() } }
        )
    }

    /// Files store colours that are not multiplied by alpha; of those, rounding gives back every premultiplied colour.
    @Test("A lossless file has the pixels that were written, whatever their alpha", arguments: 0..<40)
    func lossless(number: Int) throws {
        var random = TestSeed.generator(number)
        let image = Self.image(using: &random)
        for type in [ImageContentType.png, .webp, .ico] where ImageContentType.writable.contains(type) {
            let file = try Codecs.encode(Image(cgImage: image), as: type, lossless: true)
            let read = try Codecs.decode(file).bitmap()
            #expect(read.rows == image.rows, "\(type), \(image.width)×\(image.height), seed \(TestSeed.value)")
        }
        let few = Self.image(using: &random, colors: 200, isBinary: true)
        let read = try Codecs.decode(Codecs.encode(Image(cgImage: few), as: .gif)).bitmap()
        #expect(read.rows == few.rows, "GIF, \(few.width)×\(few.height), seed \(TestSeed.value)")
    }

    @Test("A header has the size that decoding gives, whole and small", arguments: 0..<40) func sizes(number: Int)
        throws
    {
        var random = TestSeed.generator(number)
        let image = Self.image(using: &random)
        for type in ImageContentType.writable {
            let file = try Codecs.encode(Image(cgImage: image), as: type)
            let info = try ImageInfo(data: file)
            let whole = try Codecs.decode(file)
            let told = PixelSize(info.pixelWidth, info.pixelHeight)
            #expect(whole.cgImage?.size == told, "\(type)")
            let limit = Int.random(in: 1...50, using: &random)
            let small = try Codecs.decode(file, options: DecodingOptions(maxPixelSize: limit))
            #expect(
                small.cgImage?.size == Geometry.thumbnail(of: told, limit: limit),
                "\(type), \(image.width)×\(image.height) to \(limit), seed \(TestSeed.value)"
            )
        }
    }
}
