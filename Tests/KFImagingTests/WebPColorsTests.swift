// WebP of few colours: the smaller of lossy and lossless.

import Foundation
import KingfisherTestSupport
import Testing

@testable import KFImaging

@Suite struct WebPColorsTests {
    /// Blocks of a few colours that move.
    private func blocks(_ colors: Int, step: Int = 0) -> Bitmap {
        Bitmap.of(
            (0..<72).map { y in
                (0..<96).map { x in
                    let index = ((x + step * 7) / 8 * 31 + y / 9 * 17) % colors
                    return 0xFF00_0000 | UInt32(index) &* 0x9E_3779B1 >> 8
                }
            }
        )
    }

    /// Noise of so many greys, or of all colours.
    private func noise(_ colors: UInt32?, step: Int = 0) -> Bitmap {
        var generator = SeededGenerator(state: UInt64(step + 1))
        return Bitmap.of(
            (0..<72).map { _ in
                (0..<96).map { _ in
                    guard let colors else { return UInt32.random(in: 0xFF00_0000...UInt32.max, using: &generator) }
                    return 0xFF00_0000 | UInt32.random(in: 0..<colors, using: &generator) * 0x01_0101
                }
            }
        )
    }

    private func animation(_ frame: (Int) -> Bitmap) -> Frames {
        Frames(bitmaps: (0..<6).map(frame), delays: Array(repeating: 0.1, count: 6))
    }

    @Test("Animations of flat colours lose nothing, and are no larger than lossless ones", arguments: [2, 6, 100, 256])
    func flatAnimations(colors: Int) throws {
        let source = animation { blocks(colors, step: $0) }
        let exact = try Codecs.encode(source, as: .webp, lossless: true)
        for quality in [0.85, 1] {
            let data = try Codecs.encode(source, as: .webp, quality: quality)
            #expect(data.count <= exact.count, "\(data.count) and \(exact.count) bytes")
            #expect(try composed(#require(try frames(of: data))).map(\.rows) == source.bitmaps.map { $0?.rows })
        }
    }

    @Test("Animations of noise are lossy where that is smaller, however few the colours are")
    func noisyAnimations() throws {
        for colors in [200, nil] as [UInt32?] {
            let source = animation { noise(colors, step: $0) }
            let exact = try Codecs.encode(source, as: .webp, lossless: true)
            #expect(try Codecs.encode(source, as: .webp, quality: 0.3).count < exact.count * 2 / 3)
        }
    }

    @Test("Stills of few colours are the smaller of lossy and lossless", arguments: [0.1, 0.5, 0.85, 1])
    func stills(quality: Double) throws {
        let flat = Image(cgImage: blocks(40))
        let data = try Codecs.encode(flat, as: .webp, quality: quality)
        #expect(try data == Codecs.encode(flat, as: .webp, quality: quality, lossless: true))
        #expect(try Codecs.decode(data).bitmap().rows == flat.bitmap().rows)
        // Noise of few colours, and of many.
        for colors in [256, nil] as [UInt32?] where quality < 0.8 {
            let image = Image(cgImage: noise(colors))
            let exact = try Codecs.encode(image, as: .webp, lossless: true)
            #expect(try Codecs.encode(image, as: .webp, quality: quality).count < exact.count)
        }
    }

    @Test("A photo stays lossy, and becomes lossless only when that is asked for") func photos() throws {
        let photo = try picture("photo.png")
        let original = try photo.bitmap()
        for quality in [0.5, 0.85, 1] {
            let decoded = try Codecs.decode(Codecs.encode(photo, as: .webp, quality: quality)).bitmap()
            #expect(decoded.likeness(to: original) < .infinity)
        }
        #expect(try Codecs.decode(Codecs.encode(photo, as: .webp, lossless: true)).bitmap().rows == original.rows)
    }

    @Test("Few colours are 256 different pixels at most") func countsColors() throws {
        let colors = (0..<257).map { 0xFF00_0000 | UInt32($0) &* 0x9E37_79B1 >> 8 }
        #expect(Bitmap.of([Array(colors.prefix(256)), Array(colors.prefix(256).reversed())]).hasFewColors)
        #expect(!Bitmap.of([Array(colors.prefix(200)), Array(colors.suffix(200))]).hasFewColors)
        #expect(Bitmap.solid(0, 5, 300).hasFewColors)
    }

    @Test("What is drawn has few colours that stay from pixel to pixel, or very few; a grey photo has neither")
    func drawings() {
        func row(_ colors: Int, times: Int) -> [UInt32] {
            (0..<colors).flatMap { [UInt32](repeating: 0xFF00_0000 | UInt32($0), count: times) }
        }
        #expect(Bitmap.of([row(16, times: 1)]).isLikeDrawing && !Bitmap.of([row(17, times: 1)]).isLikeDrawing)
        #expect(Bitmap.of([row(256, times: 3)]).isLikeDrawing && !Bitmap.of([row(257, times: 3)]).isLikeDrawing)
        #expect(Bitmap.of([row(100, times: 2)]).isLikeDrawing && Bitmap.solid(0, 1, 300).isLikeDrawing)
    }
}
