// The kinds of pixels that PNGs are written with: the smallest that is exact.

import Foundation
import KFImaging
import Testing

@Suite struct PNGEncodingTests {
    /// What a PNG says about itself.
    private struct Header: Equatable, CustomStringConvertible {
        /// 0 grey, 2 colours, 3 palette, 4 grey and alpha, 6 colours and alpha.
        let type: UInt8
        let depth: UInt8
        var description: String { "type \(type) of \(depth) bits" }
    }

    private func header(_ png: Data) -> Header { Header(type: png[25], depth: png[24]) }

    /// The size of a chunk; nil when there is none.
    private func size(of name: String, in png: Data) -> Int? {
        png.range(of: Data(name.utf8)).map { place in
            png[place.lowerBound - 4..<place.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        }
    }

    /// The pixels as bytes, which are quickly compared.
    private func bytes(_ bitmap: Bitmap) -> [UInt8] { bitmap.withUnsafeBytes { Array($0) } }

    /// An image in which every pixel of a list is found, many times.
    private func image(_ width: Int, _ height: Int, of pixels: [UInt32], hasAlpha: Bool? = nil) -> Bitmap {
        let words = (0..<height).map { y in (0..<width).map { x in pixels[(y * width + x) * 7 % pixels.count] } }
        return Bitmap.of(words, hasAlpha: hasAlpha)
    }

    private func greys(_ levels: [Int]) -> [UInt32] { levels.map { 0xFF00_0000 | UInt32($0) * 0x01_0101 } }

    /// So many different colours, none of them grey.
    private func colors(_ count: Int) -> [UInt32] {
        (0..<count).map { (index: Int) -> UInt32 in
            let (red, green) = (UInt32(index & 255), UInt32(index >> 8 + 1))
            return 0xFF00_0080 | red << 16 | green << 8
        }
    }

    /// So many grey pixels of different alphas.
    private func veils(_ count: Int) -> [UInt32] {
        (0..<count).map { index in
            let (alpha, level) = (UInt32(255 - index / 128), UInt32(index % 128))
            return alpha << 24 | level * 0x01_0101
        }
    }

    private var kinds: [(pixels: [UInt32], header: Header)] {
        [
            (greys([0, 255]), Header(type: 0, depth: 1)), (greys([255]), Header(type: 0, depth: 1)),
            (greys([0, 85, 255]), Header(type: 0, depth: 2)), (greys([170]), Header(type: 3, depth: 1)),
            (greys([17, 34, 51, 255, 0]), Header(type: 0, depth: 4)), (greys([100, 200]), Header(type: 3, depth: 1)),
            (greys(Array(0...255)), Header(type: 0, depth: 8)), (greys(Array(0..<17)), Header(type: 0, depth: 8)),
            (greys(Array(1...16)), Header(type: 3, depth: 4)),
            (colors(1), Header(type: 3, depth: 1)), (colors(2), Header(type: 3, depth: 1)),
            (colors(3), Header(type: 3, depth: 2)), (colors(4), Header(type: 3, depth: 2)),
            (colors(5), Header(type: 3, depth: 4)), (colors(16), Header(type: 3, depth: 4)),
            (colors(17), Header(type: 3, depth: 8)), (colors(256), Header(type: 3, depth: 8)),
            (colors(257), Header(type: 2, depth: 8)), (colors(256) + [0], Header(type: 6, depth: 8)),
            ([0] + colors(15), Header(type: 3, depth: 4)), (veils(200), Header(type: 3, depth: 8)),
            (veils(300), Header(type: 4, depth: 8)), (veils(300) + colors(2), Header(type: 6, depth: 8)),
        ]
    }

    @Test("Every image is written in the smallest kind that holds it, and comes back the same") func smallestKind()
        throws
    {
        for (pixels, expected) in kinds {
            // Odd widths leave bits at the ends of rows.
            for width in [61, 64] {
                let bitmap = image(width, 59, of: pixels)
                let png = try #require(Image(cgImage: bitmap).pngData())
                let decoded = try Codecs.decode(png)
                #expect(try bytes(decoded.bitmap()) == bytes(bitmap), "\(pixels.count) colours, \(expected)")
                #expect(decoded.hasAlpha == [4, 6].contains(expected.type) || expected.type == 3)
                #expect(header(png) == expected, "\(pixels.count) colours")
            }
        }
    }

    @Test("Only colours that are less than opaque have an alpha in a palette") func alphasOfPalettes() throws {
        let some = Image(cgImage: image(64, 64, of: colors(60) + [0, 0x8040_2010] + colors(20)))
        let png = try #require(some.pngData())
        #expect(size(of: "tRNS", in: png) == 2 && size(of: "PLTE", in: png) == 62 * 3)
        let opaque = try #require(Image(cgImage: image(64, 64, of: colors(60), hasAlpha: true)).pngData())
        #expect(size(of: "tRNS", in: opaque) == nil && header(opaque) == Header(type: 3, depth: 8))
        #expect(try !Codecs.decode(opaque).hasAlpha)
    }

    @Test("A palette that is larger than what it saves is not written") func smallImages() throws {
        let red: UInt32 = 0xFFFF_0000
        #expect(header(try #require(Image(cgImage: .solid(red, 1, 1)).pngData())) == Header(type: 2, depth: 8))
        #expect(header(try #require(Image(cgImage: .solid(0x8080_0000, 2, 2)).pngData())).type == 6)
        #expect(header(try #require(Image(cgImage: image(10, 10, of: colors(100))).pngData())).type == 2)
    }

    @Test(
        "Images that came in a small kind are about as small again",
        arguments: ["palette.png", "palette-transparent.png", "bilevel.png", "grey.png", "grey-alpha.png"]
    )
    func encodedAgain(name: String) throws {
        let file = try fixture(name)
        let image = try Codecs.decode(file)
        let png = try #require(image.pngData())
        // Compressed with another effort.
        #expect(png.count <= file.count * 14 / 10, "\(png.count) bytes instead of \(file.count)")
        #expect(try bytes(Codecs.decode(png).bitmap()) == bytes(image.bitmap()))
    }

    @Test("Every width of packed rows comes back the same") func packedWidths() throws {
        for width in 1...17 {
            for pixels in [greys([0, 255]), greys([0, 85, 170, 255]), colors(3), colors(9), veils(5)] {
                let bitmap = image(width, 20, of: pixels)
                let png = try #require(Image(cgImage: bitmap).pngData())
                #expect(try bytes(Codecs.decode(png).bitmap()) == bytes(bitmap), "\(width), \(pixels.count) colours")
            }
        }
    }
}
