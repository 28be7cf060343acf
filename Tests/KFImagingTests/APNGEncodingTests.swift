// Encoding of animated PNG: changed rectangles, how they are blended, delays and loops.

import CKFCodecs
import Foundation
import Testing

@testable import KFImaging

@Suite struct APNGEncodingTests {
    private func written(_ bitmaps: [Bitmap], delays: [Double]? = nil, loops: UInt = 0) throws -> any FrameDecoder {
        let delays = delays ?? Array(repeating: 0.1, count: bitmaps.count)
        let source = Frames(bitmaps: bitmaps, delays: delays, loopCount: loops)
        return try #require(try frames(of: Codecs.encode(source, as: .png)))
    }

    /// A square of 5 × 5 pixels on a background of 30 × 20.
    private func square(_ color: UInt32, at x: Int, on ground: UInt32) -> Bitmap {
        Bitmap.of(
            (0..<20).map { row in
                (0..<30).map { (x..<x + 5).contains($0) && (8..<13).contains(row) ? color : ground }
            }
        )
    }

    @Test(
        "Opaque, transparent and translucent squares move over opaque and transparent backgrounds",
        arguments: [
            (0xFFE0_4020, 0xFF00_80C0), (0xFFE0_4020, 0), (0x8080_0000, 0), (0, 0xFF00_80C0),
            (0x8080_0000, 0x4000_0040),
        ] as [(UInt32, UInt32)]
    )
    func moving(color: UInt32, ground: UInt32) throws {
        let images = [0, 3, 20, 20, 1].map { square(color, at: $0, on: ground) }
        #expect(try composed(written(images)).map(\.rows) == images.map(\.rows))
    }

    @Test("Frames share one kind of pixels, however few colours each has") func sharedKind() throws {
        let ramp = Bitmap.of((0..<20).map { y in (0..<30).map { x in 0xFF00_0000 | UInt32(y) << 16 | UInt32(x) } })
        let images = [.solid(0xFF00_0000, 30, 20), ramp, square(0, at: 2, on: 0xFFFF_FFFF)]
        let source = Frames(bitmaps: images, delays: [0.1, 0.1, 0.1], loopCount: 0)
        let data = try Codecs.encode(source, as: .png)
        // Red, green, blue and alpha of 8 bits.
        #expect(data[24] == 8 && data[25] == 6)
        #expect(try composed(written(images)).map(\.rows) == images.map(\.rows))
    }

    @Test("A frame is the rectangle that changes, and is blended over the canvas where that is possible")
    func changedRectangle() throws {
        let opaque = try written([2, 4].map { square(0xFFE0_4020, at: $0, on: 0xFF00_80C0) }).frames[1]
        #expect((opaque.x, opaque.y) == (2, 8) && opaque.size == PixelSize(7, 5) && opaque.blend == .over)
        #expect(try written([2, 4].map { square(0xFFE0_4020, at: $0, on: 0) }).frames[1].blend == .source)
        let same = try written([2, 2].map { square(0xFFE0_4020, at: $0, on: 0) }).frames[1]
        #expect(same.size == PixelSize(1, 1))
    }

    @Test("Pixels of the rectangle that do not change are transparent")
    func holes() throws {
        var (before, after) = (noise(), noise())
        (before[0][0], before[59][59]) = (0xFF00_0000, 0xFF00_0000)
        (after[0][0], after[59][59]) = (0xFFFF_FFFF, 0xFFFF_FFFF)
        let source = Frames(bitmaps: [before, after].map { Bitmap.of($0) }, delays: [0.1, 0.1])
        let still = try Codecs.encode(Image(cgImage: Bitmap.of(after)), as: .png)
        let data = try Codecs.encode(source, as: .png)
        #expect(data.count < still.count * 3 / 2)
        let decoder = try #require(try frames(of: data))
        #expect(try composed(decoder).last?.rows == Bitmap.of(after).rows)
    }

    private func noise() -> [[UInt32]] {
        (0..<60).map { y in
            (0..<60).map { (x: Int) -> UInt32 in 0xFF00_0000 | UInt32(y * 60 + x) &* 0x9E37_79B1 >> 8 }
        }
    }

    @Test("Delays and loop counts are kept", arguments: [UInt(0), 1, 2, 0x7FFF_FFFF])
    func delaysAndLoops(loops: UInt) throws {
        let delays: [Double] = [0.02, 1 / 24, 65.535, 70.4, 3600]
        let decoder = try written((0..<5).map { square(0xFFE0_4020, at: $0, on: 0) }, delays: delays, loops: loops)
        #expect(decoder.loopCount == loops)
        #expect(decoder.frames.map(\.delay) == [0.02, 0.042, 65.535, 70, 3600])
    }

    @Test("Single pixels and single frames are encoded")
    func smallest() throws {
        for bitmap in [Bitmap.solid(0xFF12_3456, 1, 1), .solid(0, 1, 1), square(0x8080_0000, at: 3, on: 0)] {
            for count in [1, 3] {
                let images = try composed(written(Array(repeating: bitmap, count: count)))
                #expect(images.count == count && images.allSatisfy { $0.rows == bitmap.rows })
            }
        }
    }

    @Test("Decoders without support for animations show the first frame")
    func firstFrame() throws {
        let images = [2, 9].map { square(0xFFE0_4020, at: $0, on: 0xFF00_80C0) }
        let data = try Codecs.encode(Frames(bitmaps: images, delays: [0.1, 0.1]), as: .png)
        #expect(try Codecs.decode(data).bitmap().rows == images[0].rows)
        // All checksums are right: libpng, and any other reader, refuses the file otherwise.
        for chunk in PNGChunkList(data).chunks {
            let summed = Array(chunk.name.utf8) + chunk.content
            let sum = summed.withUnsafeBufferPointer { kf_crc32($0.baseAddress, $0.count) }
            #expect(withUnsafeBytes(of: sum.bigEndian, Array.init) == chunk.sum)
        }
    }
}
