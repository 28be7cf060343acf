// Encoding of GIFs: colours, changed rectangles, delays and loops.

import Foundation
import Testing

@testable import KFImaging

@Suite struct GIFEncodingTests {
    private let red: UInt32 = 0xFFE0_4020
    private let green: UInt32 = 0xFF20_C040
    private let blue: UInt32 = 0xFF00_80C0

    private func bitmaps(of source: Frames, quality: Double = 1) throws -> [Bitmap] {
        try composed(#require(try frames(of: Codecs.encode(source, as: .gif, quality: quality))))
    }

    private func animation(_ bitmaps: [Bitmap]) -> Frames {
        Frames(bitmaps: bitmaps, delays: Array(repeating: 0.1, count: bitmaps.count))
    }

    /// A square of 5 × 5 pixels on a background of 30 × 20.
    private func square(at x: Int, on ground: UInt32) -> Bitmap {
        Bitmap.of(30, 20) { column, row in (x..<x + 5).contains(column) && (8..<13).contains(row) ? red : ground }
    }

    /// 64 × 64 pixels that change smoothly.
    private func gradient(_ shift: Int) -> Bitmap {
        Bitmap.of(64, 64) { x, y in
            let (red, green, blue) = (x * 3 + shift, y * 4, 255 - x * 2 - y)
            return 0xFF00_0000 | UInt32(red << 16 | green << 8 | blue)
        }
    }

    @Test("Few colours are kept exactly at any quality", arguments: [1, 0.5, 0])
    func fewColors(quality: Double) throws {
        let source = animation([0, 7, 7, 25, 3].map { square(at: $0, on: blue) })
        #expect(try bitmaps(of: source, quality: quality).map(\.rows) == source.bitmaps.map { $0?.rows })
    }

    @Test("A frame is the rectangle that changes")
    func changedRectangle() throws {
        let source = animation([square(at: 2, on: blue), square(at: 4, on: blue)])
        let decoder = try #require(try frames(of: Codecs.encode(source, as: .gif)))
        let second = decoder.frames[1]
        #expect((second.x, second.y) == (2, 8) && second.size == PixelSize(7, 5))
    }

    @Test("A square that moves over a transparent background leaves no trail")
    func movingSprite() throws {
        let source = animation([0, 3, 20, 20, 1].map { square(at: $0, on: 0) })
        #expect(try bitmaps(of: source).map(\.rows) == source.bitmaps.map { $0?.rows })
    }

    @Test("Pixels that appear, stay and disappear over a partly transparent background are kept")
    func partlyTransparent() throws {
        let half = (0..<20).map { y in (0..<30).map { x in x < 15 ? blue : 0 } }
        var more = half
        for x in 10..<28 { more[5][x] = green }
        let all = [half, more, more, half, half].map { Bitmap.of($0) } + [.solid(red, 30, 20), .solid(0, 30, 20)]
        #expect(try bitmaps(of: animation(all)).map(\.rows) == all.map(\.rows))
    }

    @Test("An animation may begin with an empty frame, and black that returns after it was erased is shown")
    func emptyAndErasedFrames() throws {
        func squares(_ colors: [UInt32]) -> Bitmap {
            .of((0..<12).map { y in (0..<20).map { x in y < 6 && x / 10 < colors.count ? colors[x / 10] : 0 } })
        }
        let black: UInt32 = 0xFF00_0000
        for frames in [
            [[], [red], [red, green]], [[], [], [black]],
            [[black, red], [0, red], [black, red], [black, red], [black]],
        ] {
            let source = animation(frames.map(squares))
            #expect(try bitmaps(of: source).map(\.rows) == source.bitmaps.map { $0?.rows })
        }
    }

    @Test("Pixels with an alpha of at least a half become opaque, others transparent")
    func translucentPixels() throws {
        let bitmap = Bitmap.of([[0x8040_2010, 0x7F40_2010, 0xFF00_80C0]])
        let rows = try Codecs.decode(Codecs.encode(Image(cgImage: bitmap), as: .gif)).bitmap().rows[0]
        #expect(rows == [Pixel(r: 128, g: 64, b: 32), Pixel(r: 0, g: 0, b: 0, a: 0), Pixel(r: 0, g: 128, b: 192)])
    }

    @Test("Gradients stay similar at lower qualities", arguments: [(1, 38.0), (0.85, 36.0), (0.5, 27.0)])
    func gradients(quality: Double, likeness: Double) throws {
        let originals = [0, 10, 60].map(gradient)
        for (image, original) in zip(try bitmaps(of: animation(originals), quality: quality), originals) {
            #expect(image.likeness(to: original) >= likeness)
        }
    }

    @Test("A lower quality makes smaller files")
    func quality() throws {
        let source = animation((0..<6).map { gradient($0 * 3) })
        let sizes = try [0, 0.5, 0.8, 1].map { try Codecs.encode(source, as: .gif, quality: $0).count }
        #expect(sizes == sizes.sorted() && Set(sizes).count == 4)
    }

    @Test("Colours that change slowly are followed with a small difference")
    func slowFade() throws {
        let fade = animation((0..<40).map { .solid(0xFF00_0000 | UInt32(100 + $0) << 16, 9, 9) })
        let shown = try bitmaps(of: fade, quality: 0.75)
        for (index, image) in shown.enumerated() { #expect(abs(Int(image[4, 4].r) - 100 - index) <= 4) }
        #expect(Set(shown.map { $0[4, 4].r }).count < 10)
    }

    @Test("Three hundred colours become at most 255 similar ones")
    func manyColors() throws {
        let colors = (0..<300).map { (index: Int) -> UInt32 in
            let (red, green) = (UInt32(index % 20 * 12), UInt32(index / 20 * 17))
            return 0xFF00_0040 | red << 16 | green << 8
        }
        let many = Bitmap.of((0..<10).map { Array(colors[$0 * 30..<$0 * 30 + 30]) })
        let image = try Codecs.decode(Codecs.encode(Image(cgImage: many), as: .gif)).bitmap()
        #expect((200...255).contains(Set(image.rows.joined().map { [$0.r, $0.g] }).count))
        #expect(image.likeness(to: many) >= 38)
        // The frames before and after it have few colours.
        let few = Bitmap.of((0..<10).map { _ in (0..<30).map { $0 < 9 ? red : 0 } })
        let shown = try bitmaps(of: animation([few, many, few]))
        #expect(shown[0].rows == few.rows && shown[2].rows == few.rows && shown[1].likeness(to: many) >= 38)
    }

    @Test("256 colours are kept, also where later frames do not change them")
    func fullColorTable() throws {
        let colors = (0..<256).map { (index: UInt32) -> UInt32 in 0xFF00_0000 | index << 16 | (255 - index) << 8 }
        let full = (0..<16).map { Array(colors[$0 * 16..<$0 * 16 + 16]) }
        var changed = full
        changed[3][4] = 0xFF12_3456
        let rows: [[[UInt32]]] = [full, changed, full.reversed(), full]
        let all = rows.map { Bitmap.of($0) }
        #expect(try bitmaps(of: animation(all)).map(\.rows) == all.map(\.rows))
    }

    @Test("Delays and loops are kept", arguments: [UInt(0), 1, 2, 7, 65_535, 65_536])
    func delaysAndLoops(loops: UInt) throws {
        var source = animation([2, 9, 9].map { square(at: $0, on: blue) })
        (source.delays, source.loopCount) = ([0.02, 1.5, 0.33], loops)
        let data = try Codecs.encode(source, as: .gif)
        let decoder = try #require(try frames(of: data))
        #expect(decoder.loopCount == loops && decoder.frames.map(\.delay) == source.delays)
        let block = data.range(of: Data("NETSCAPE2.0\u{3}\u{1}".utf8))
        #expect((block == nil) == (loops == 1))
        // The file has the number of repetitions, and 0 for endlessly.
        let number = block.map { UInt(data[$0.upperBound]) | UInt(data[$0.upperBound + 1]) << 8 }
        #expect((number ?? 0) == (loops == 0 ? 0 : loops - 1))
    }

    @Test("The rounding of delays to hundredths of a second does not add up")
    func fractionsOfDelays() throws {
        var source = animation((0..<24).map { square(at: $0, on: blue) })
        source.delays = Array(repeating: 1 / 24, count: 24)
        let delays = try #require(try frames(of: Codecs.encode(source, as: .gif))).frames.map(\.delay)
        #expect(Set(delays) == [0.04, 0.05] && abs(delays.reduce(0, +) - 1) < 1e-9)
        // Players ignore a delay of a hundredth.
        source.delays = [0.012, 1000, 0.1] + Array(repeating: 1, count: 21)
        let others = try #require(try frames(of: Codecs.encode(source, as: .gif))).frames.map(\.delay)
        #expect(others[0] == 0.02 && others[1] == 655.35 && others[3] == 1)
    }

    @Test(
        "More frames than players show are left out: the time stays, and so do the first and the last frame",
        arguments: [(60, 60.0, 50), (75, 75, 50), (100, 100, 50), (240, 240, 50), (50, 50, 50), (30, 30, 30)]
    )
    func manyFrames(count: Int, perSecond: Double, written: Int) throws {
        let source = colors(count, delay: 1 / perSecond)
        let decoder = try #require(try frames(of: Codecs.encode(source, as: .gif)))
        let delays = decoder.frames.map(\.delay)
        #expect(delays.count == written && delays.allSatisfy { $0 > 0.019 })
        #expect(abs(delays.reduce(0, +) - 1) <= 0.02)
        // Every frame is one of the source, at its time.
        let shown = try composed(decoder).map { Int($0[4, 4].r) }
        #expect(shown.first == 0 && shown.last == count - 1)
        var time = 0.0
        for (index, delay) in zip(shown, delays) {
            #expect(abs(Double(index) / perSecond - time) < 0.021)
            time += delay
        }
    }

    @Test("All frames are kept where that is asked for, and take longer") func keptFrames() throws {
        var options = ImageEncodingOptions()
        options.keepsFrames = true
        let data = try Codecs.encode(colors(60, delay: 1 / 60), as: .gif, options)
        let delays = try #require(try frames(of: data)).frames.map(\.delay)
        #expect(delays.count == 60 && abs(delays.reduce(0, +) - 1.2) < 1e-9)
    }

    @Test("A short frame before a long one costs no frame; a few that are too short leave the first and the last")
    func shortFrames() {
        func timing(_ delays: [Double]) -> [[Int]] {
            GIFTiming(delays, keepsFrames: false).frames.map { [$0.index, Int($0.delay)] }
        }
        #expect(timing([0.012, 10, 0.1]) == [[0, 2], [1, 999], [2, 10]])
        #expect(timing([0.02, 0.012, 10]) == [[0, 2], [1, 2], [2, 999]])
        #expect(timing([0.001, 0.001, 0.001]) == [[0, 2], [2, 2]])
        #expect(timing([0, 0, 0]) == [[0, 2], [1, 2], [2, 2]])
        #expect(timing([1000, 1]) == [[0, 65_535], [1, 34_565]])
        #expect(timing([0]) == [[0, 2]] && timing([]) == [])
    }

    /// Plain frames whose red is their number.
    private func colors(_ count: Int, delay: Double) -> Frames {
        let bitmaps = (0..<count).map { Bitmap.solid(0xFF00_0000 | UInt32($0) << 16, 9, 9) }
        return Frames(bitmaps: bitmaps, delays: Array(repeating: delay, count: count))
    }

    @Test("Single pixels, single frames and empty frames are encoded")
    func smallest() throws {
        for bitmap in [Bitmap.solid(red, 1, 1), .solid(0, 1, 1), .solid(0, 30, 20), square(at: 3, on: blue)] {
            #expect(try Codecs.decode(Codecs.encode(Image(cgImage: bitmap), as: .gif)).bitmap().rows == bitmap.rows)
            let source = animation([bitmap, bitmap, bitmap])
            let decoder = try #require(try frames(of: Codecs.encode(source, as: .gif)))
            let duration = decoder.frames.map(\.delay).reduce(0, +)
            #expect(abs(duration - 0.3) < 1e-9)
            #expect(try composed(decoder).allSatisfy { $0.rows == bitmap.rows })
        }
    }

    @Test("Sides may be as long as the format permits")
    func longSides() throws {
        let longest = Bitmap.solid(green, 65_535, 1)
        #expect(try Codecs.decode(Codecs.encode(Image(cgImage: longest), as: .gif)).bitmap().rows == longest.rows)
        #expect(throws: ImagingError.encodingFailed(.gif, detail: "GIF images have at most 65535 pixels a side")) {
            try Codecs.encode(Image(cgImage: .solid(green, 1, 65_536)), as: .gif)
        }
    }

    @Test("The nearest colour does not depend on earlier lookups")
    func nearestColor() {
        let noise = (0..<3000).map { (index: UInt32) -> UInt32 in 0xFF00_0000 | (index &* 0x9E37_79B1) >> 8 }
        var table = ColorTable(noise, limit: 200)
        #expect((100...200).contains(table.colors.count))
        func distance(_ color: UInt32, _ other: UInt32) -> Int32 {
            let away = ColorTable.channels(color) &- ColorTable.channels(other)
            return (away &* away &* SIMD3(2, 4, 3)).wrappedSum()
        }
        for color in noise + noise.prefix(100) {
            let best = table.colors.map { distance(color, $0) }.min()
            #expect(distance(color, table.colors[table.index(of: color)]) == best)
        }
    }
}
