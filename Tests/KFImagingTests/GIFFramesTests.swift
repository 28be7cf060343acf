// The frames of GIFs, compared with those of ImageMagick, and the oddities of files.

import CKFCodecs
import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import KFImaging

/// A GIF put together by hand, whose codes never stand for several pixels: four colours, black, red, green and blue.
private struct HandmadeGIF {
    var data: Data

    init(data: Data) { self.data = data }

    init(_ width: Int, _ height: Int, hasColors: Bool = true) {
        data = Data("GIF89a".utf8) + Self.words(width, height) + [hasColors ? 0x81 : 0, 0, 0]
        if hasColors { data += Self.colors }
    }

    static let colors: [UInt8] = [0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255]

    static func words(_ numbers: Int...) -> [UInt8] {
        numbers.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    /// A control block before the next frame.
    func control(delay: Int = 0, disposal: UInt8 = 0, transparent: UInt8? = nil) -> HandmadeGIF {
        let flags = disposal << 2 | (transparent == nil ? 0 : 1)
        return adding([0x21, 0xF9, 4, flags] + Self.words(delay) + [transparent ?? 0, 0])
    }

    /// A frame of pixels in rows.
    func frame(_ x: Int, _ y: Int, _ rows: [[UInt8]], colors: [UInt8]? = nil, flags: UInt8 = 0) -> HandmadeGIF {
        let table: UInt8 = colors.map { 0x80 | UInt8($0.count / 6 - 1).leadingBits } ?? 0
        return adding([0x2C] + Self.words(x, y, rows.first?.count ?? 0, rows.count) + [table | flags])
            .adding(colors ?? []).adding(Self.packed(rows.flatMap { $0 }))
    }

    func adding(_ bytes: [UInt8]) -> HandmadeGIF {
        var gif = self
        gif.data += bytes
        return gif
    }

    /// Codes of three bits: the table never grows, as it is cleared in time.
    static func packed(_ indices: [UInt8]) -> [UInt8] {
        var (word, bits, bytes): (UInt32, UInt32, [UInt8]) = (0, 0, [])
        func put(_ code: UInt32) {
            word |= code << bits
            bits += 3
            while bits >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: word))
                (word, bits) = (word >> 8, bits - 8)
            }
        }
        for (place, index) in indices.enumerated() {
            if place.isMultiple(of: 2) { put(4) }
            put(UInt32(index))
        }
        put(4)
        put(5)
        bytes.append(UInt8(truncatingIfNeeded: word))
        let blocks = stride(from: 0, to: bytes.count, by: 255).map { bytes[$0..<min($0 + 255, bytes.count)] }
        return [2] + blocks.flatMap { [UInt8($0.count)] + $0 } + [0]
    }

    func source() throws -> any ImageFrameSource { try #require(try Codecs.frameSource(of: data)) }

    /// The pixels of all frames, a letter each.
    func letters() throws -> [String] {
        let source = try source()
        return try (0..<source.frameCount).map { try #require(source.frame(at: $0)).letters }
    }
}

extension UInt8 {
    /// The number of bits of the number.
    fileprivate var leadingBits: UInt8 { UInt8(8 - leadingZeroBitCount) }
}

extension Bitmap {
    fileprivate var letters: String {
        let names: [UInt32: String] = [0: ".", 0xFF00_0000: "k", 0xFFFF_0000: "r", 0xFF00_FF00: "g", 0xFF00_00FF: "b"]
        let words = words
        return stride(from: 0, to: width * height, by: width)
            .map { first in words[first..<first + width].map { names[$0] ?? "?" }.joined() }.joined(separator: "/")
    }
}

/// A simple decoder of LZW, whose strings are arrays.
private func unpackedByReference(_ bytes: [UInt8], count: Int) -> [UInt8] {
    guard let first = bytes.first, (1...8).contains(first) else { return [] }
    var (stream, place): ([UInt8], Int) = ([], 1)
    while place < bytes.count, bytes[place] > 0 {
        stream += bytes[(place + 1)...].prefix(Int(bytes[place]))
        place += Int(bytes[place]) + 1
    }
    let clear = 1 << Int(first)
    let alphabet = (0..<clear).map { [UInt8($0)] } + [[], []]
    var (table, size, previous, output, bit) = (alphabet, Int(first) + 1, [UInt8](), [UInt8](), 0)
    while output.count < count, bit + size <= stream.count * 8 {
        let code = (0..<size).reduce(0) { $0 | (Int(stream[(bit + $1) / 8]) >> ((bit + $1) % 8) & 1) << $1 }
        bit += size
        if code == clear {
            (table, size, previous) = (alphabet, Int(first) + 1, [])
            continue
        }
        guard code != clear + 1, code < table.count || (code == table.count && code < 4096 && !previous.isEmpty) else {
            break
        }
        let string = code < table.count ? table[code] : previous + previous.prefix(1)
        if !previous.isEmpty, table.count < 4096 { table.append(previous + string.prefix(1)) }
        if table.count == 1 << size, size < 12 { size += 1 }
        output += string
        previous = string
    }
    return Array(output.prefix(count))
}

/// Random valid codes, some of which name the string that is just being made, in blocks of any length.
private func randomCodes(_ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    let bits = Int.random(in: 1...8, using: &generator)
    let clear = 1 << bits
    // The table is mostly cleared late, so that it sometimes becomes full.
    let clears = [0, 0, 50, 3000].randomElement(using: &generator) ?? 0
    var (stream, word, filled): ([UInt8], UInt32, UInt32) = ([], 0, 0)
    var (size, next, isFirst) = (bits + 1, clear + 2, true)
    for _ in 0..<count {
        var code = Int.random(in: 0...min(next, 4095), using: &generator)
        if Int.random(in: 0..<8, using: &generator) == 0 { code = min(next, 4095) }
        let isClearing = clears > 0 && Int.random(in: 0..<clears, using: &generator) == 0
        if code == clear || code == clear + 1 || (isFirst && code >= clear) { code = 0 }
        if isClearing { code = clear }
        word |= UInt32(code) << filled
        filled += UInt32(size)
        while filled >= 8 {
            stream.append(UInt8(truncatingIfNeeded: word))
            (word, filled) = (word >> 8, filled - 8)
        }
        if isClearing {
            (size, next, isFirst) = (bits + 1, clear + 2, true)
            continue
        }
        if !isFirst, next < 4096 { next += 1 }
        isFirst = false
        if next == 1 << size, size < 12 { size += 1 }
    }
    stream.append(UInt8(truncatingIfNeeded: word))
    var blocks = [UInt8(bits)]
    while !stream.isEmpty {
        let length = min(stream.count, Int.random(in: 1...255, using: &generator))
        blocks += [UInt8(length)] + stream.prefix(length)
        stream.removeFirst(length)
    }
    return blocks + [0]
}

private func unpacked(_ bytes: [UInt8], count: Int) -> [UInt8] {
    var memory = [UInt8](repeating: 0xEE, count: Int(KF_GIF_BEFORE) + count + Int(KF_GIF_AFTER))
    let done = kf_gif_unpack(bytes, bytes.count, &memory, count)
    return Array(memory[Int(KF_GIF_BEFORE)...].prefix(done))
}

@Suite struct GIFFramesTests {
    @Test("Frames are the same whatever the order in which they are read") func frameOrder() throws {
        let data = try fixture("frames.gif")
        let inOrder = try #require(try Codecs.frameSource(of: data))
        let frames = (0..<10).map { inOrder.frame(at: $0)?.words }
        let source = inOrder.copy()
        var generator = SeededGenerator(state: 5)
        for _ in 0..<50 {
            let index = Int.random(in: 0..<10, using: &generator)
            #expect(source.frame(at: index)?.words == frames[index])
        }
        for index in 0..<10 {
            let alone = try #require(try Codecs.frameSource(of: data))
            #expect(alone.frame(at: index)?.words == frames[index])
        }
    }

    @Test("Random LZW data decode to the same pixels as with the reference decoder") func referenceDecoder() async {
        // Long work must not block the few threads that all tests share.
        let longest = await WorkExecutor("kf.codes", threads: 1).run { compareReaders() }
        #expect(longest > 20_000)
    }

    /// Returns the most pixels that were compared at once.
    private func compareReaders() -> Int {
        var generator = SeededGenerator(state: 99)
        var longest = 0
        for round in 0..<60 {
            var bytes = randomCodes(Int.random(in: 1...6000, using: &generator), &generator)
            // In some rounds a bit is wrong, or the end is missing.
            if round.isMultiple(of: 3) {
                bytes[Int.random(in: bytes.indices, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
            if round.isMultiple(of: 4) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
            let count = Int.random(in: 1..<60_000, using: &generator)
            let pixels = unpacked(bytes, count: count)
            #expect(pixels == unpackedByReference(bytes, count: count), "round \(round)")
            longest = max(longest, pixels.count)
        }
        return longest
    }

    @Test(
        "Damaged LZW data give only the pixels before the damage",
        arguments: [[], [2], [0, 1, 0], [9, 1, 0], [255], [2, 255], [2, 0], [2, 1, 4], [2, 3, 0x84]] as [[UInt8]]
    )
    func damagedCodes(bytes: [UInt8]) {
        #expect(unpacked(bytes, count: 100) == unpackedByReference(bytes, count: 100))
        #expect(unpacked(bytes, count: 100).count < 3)
    }

    @Test("Frames are clipped to the canvas") func framesBeyondCanvas() throws {
        let gif = HandmadeGIF(3, 2).frame(0, 0, [[3]]).frame(2, 1, [[1, 2], [3, 3]]).frame(7, 7, [[1]])
            .frame(0, 0, [[2]])
        #expect(try gif.letters() == ["b../...", "b../..r", "b../..r", "g../..r"])
    }

    @Test("The canvas grows to the first frame where that is larger; later frames are clipped")
    func firstFrameBeyondScreen() throws {
        for (x, y, expected) in [
            (0, 0, ["rgb/bgr", "kgb/bgr"]), (1, 0, [".rgb/.bgr", "krgb/.bgr"]),
            (0, 1, [".../rgb/bgr", "k../rgb/bgr"]),
        ] {
            let gif = HandmadeGIF(2, 1).frame(x, y, [[1, 2, 3], [3, 2, 1]]).frame(0, 0, [[0]]).frame(9, 9, [[1]])
            #expect(try gif.letters() == expected + [expected[1]])
            let size = PixelSize(3 + x, 2 + y)
            let info = try ImageInfo(data: gif.data)
            #expect(PixelSize(info.pixelWidth, info.pixelHeight) == size)
            #expect(try Codecs.decode(gif.data).bitmap().letters == expected[0])
            // What counts is the size that it has grown to.
            let limits = ImageDecodingLimits(maxPixelCount: size.pixelCount - 1)
            #expect(throws: ImagingError.self) { try Codecs.decode(gif.data, options: DecodingOptions(limits: limits)) }
        }
        // A first frame without pixels needs no place.
        #expect(try HandmadeGIF(2, 1).frame(5, 5, []).frame(0, 0, [[1, 1]]).letters() == ["..", "rr"])
    }

    @Test("A screen of 0 × 0 pixels becomes as large as its frames") func emptyScreen() throws {
        let gif = HandmadeGIF(0, 0).frame(1, 0, [[1]]).frame(0, 1, [[2, 3, 1]])
        #expect(try gif.letters() == [".r./...", ".r./gbr"])
    }

    @Test("The disposal method of a frame decides what the next one is drawn on") func disposals() throws {
        let rows: [[UInt8]] = [[2, 2]]
        for (disposal, expected) in [(0, "rrr/rbg"), (1, "rrr/rbg"), (2, "rrr/rb."), (3, "rrr/rbr"), (4, "rrr/rbr")] {
            let gif = HandmadeGIF(3, 2).frame(0, 0, [[1, 1, 1], [1, 1, 1]])
                .control(disposal: UInt8(disposal)).frame(1, 1, rows).frame(1, 1, [[3]])
            #expect(try gif.letters() == ["rrr/rrr", "rrr/rgg", expected], "disposal \(disposal)")
        }
    }

    @Test("A control block applies to the next frame only") func controlBlockScope() throws {
        let gif = HandmadeGIF(2, 1).frame(0, 0, [[1, 1]])
            .control(delay: 30, disposal: 2, transparent: 2).frame(0, 0, [[2, 3]]).frame(0, 0, [[2]])
        #expect(try gif.letters() == ["rr", "rb", "g."])
        let source = try gif.source()
        #expect((0..<3).map { source.duration(at: $0) } == [0.1, 0.3, 0.1])
    }

    @Test(
        "Delays are hundredths of a second, and those below two are a tenth of a second",
        arguments: [(0, 0.1), (1, 0.1), (2, 0.02), (65_535, 655.35)]
    )
    func delays(hundredths: Int, seconds: TimeInterval) throws {
        let source = try HandmadeGIF(1, 1).control(delay: hundredths).frame(0, 0, [[1]]).source()
        #expect(source.duration(at: 0) == seconds)
    }

    @Test("A frame may have its own colour table") func localColorTables() throws {
        let own: [UInt8] = [0, 0, 255, 0, 255, 0]
        let gif = HandmadeGIF(2, 1).frame(0, 0, [[0, 1]], colors: own).frame(0, 0, [[1]])
        #expect(try gif.letters() == ["bg", "rg"])
        // Index 3 is a possible code without a colour.
        #expect(try HandmadeGIF(3, 1).frame(0, 0, [[0, 3, 1]], colors: own).letters() == ["b.g"])
    }

    @Test("A frame without any colour table is left out") func missingColorTables() throws {
        let gif = HandmadeGIF(2, 1, hasColors: false)
            .frame(0, 0, [[1, 1]], colors: HandmadeGIF.colors).frame(0, 0, [[2, 2]])
        let source = try gif.source()
        #expect(source.frameCount == 2 && source.frame(at: 0)?.letters == "rr" && source.frame(at: 1) == nil)
        let bare = HandmadeGIF(2, 1, hasColors: false).frame(0, 0, [[1, 1]])
        #expect(Codecs.diagnose(bare.data) == .malformed(.gif, detail: "there is no colour table"))
    }

    @Test("Interlaced rows are put in their places") func interlacing() throws {
        let stored: [[UInt8]] = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2].map { [$0] }
        // Rows 0 and 8, then 4, then 2, 6 and 10, then the odd ones.
        let gif = HandmadeGIF(1, 11).frame(0, 0, stored, flags: 0x40)
        #expect(try gif.letters() == ["k/g/b/b/g/k/k/r/r/g/r"])
    }

    @Test("Bytes behind the end are ignored") func trailingBytes() throws {
        let gif = HandmadeGIF(1, 1).frame(0, 0, [[1]])
        for end in [[], [0x3B], [0x3B, 0x2C, 1, 2, 3], [0x77, 0x2C], [0, 0, 0x3B], [0x2C, 0]] as [[UInt8]] {
            #expect(try gif.adding(end).letters() == ["r"], "\(end)")
        }
    }

    @Test("A frame that ends early shows the rows it has") func truncatedFrame() throws {
        let whole = HandmadeGIF(2, 3).frame(0, 0, [[1, 1], [2, 2], [3, 3]])
        var cut = whole
        cut.data = whole.data.dropLast(3)
        #expect(try cut.letters() == ["rr/gg/.."])
    }

    @Test("A frame without pixels shows the frame before") func framesWithoutPixels() throws {
        let gif = HandmadeGIF(2, 1).frame(0, 0, [[1, 1]]).frame(0, 0, []).frame(1, 0, [[2]])
        #expect(try gif.letters() == ["rr", "rr", "rg"])
        #expect(Codecs.diagnose(HandmadeGIF(0, 0).frame(0, 0, []).data) != nil)
    }

    /// Sub-blocks of an application extension, and how often the animation plays.
    private static let extensions: [([UInt8], UInt)] = [
        ([3, 1, 0, 0], 0), ([3, 1, 1, 0], 2), ([3, 1, 7, 1], 264), ([3, 1, 255, 255], 65_536),
        // The size of the reader's buffer may come first, or come alone.
        ([5, 2, 0, 1, 0, 0, 3, 1, 4, 0], 5), ([3, 1, 4, 0, 5, 2, 0, 1, 0, 0], 5), ([5, 2, 0, 1, 0, 0], 1), ([], 1),
    ]

    @Test("An animation plays once more than the file says, and once if it does not say", arguments: extensions)
    func loopCounts(blocks: [UInt8], plays: UInt) throws {
        let gif = HandmadeGIF(1, 1).frame(0, 0, [[1]]).frame(0, 0, [[2]])
        #expect(try gif.source().loopCount == 1)
        for name in ["NETSCAPE2.0", "ANIMEXTS1.0"] {
            let looping = gif.adding([0x21, 0xFF, 11] + Array(name.utf8) + blocks + [0])
            #expect(try looping.source().loopCount == plays)
            #expect(try ImageInfo(data: looping.data).loopCount == Int(plays))
            // Wherever such a block ends early, there is no count.
            for cut in 1...blocks.count + 1 {
                let source = try HandmadeGIF(data: looping.data.dropLast(cut)).source()
                #expect([1, plays].contains(source.loopCount))
            }
        }
    }

    @Test("Too many frames or pixels are refused before any frame is decoded") func limits() throws {
        let data = try fixture("frames.gif")
        var limits = ImageDecodingLimits()
        limits.maxFrameCount = 9
        #expect(throws: ImagingError.tooManyFrames(10, allowed: 9)) { try Codecs.frameSource(of: data, limits: limits) }
        limits.maxFrameCount = 3
        #expect(throws: ImagingError.tooManyFrames(10, allowed: 3)) { try Codecs.frameSource(of: data, limits: limits) }
        limits.maxFrameCount = 10
        #expect(try Codecs.frameSource(of: data, limits: limits) != nil)
        limits.maxPixelCount = 24 * 18 - 1
        let error = ImagingError.limitExceeded(limit: "maxPixelCount", allowed: 431, width: 24, height: 18)
        #expect(throws: error) { try Codecs.frameSource(of: data, limits: limits) }
    }

    @Test("Playing forty large frames takes the memory of three", .enabled(if: memoryIsOurs))
    func playbackMemory() async {
        // This runs in a process of its own, where no other test takes memory.
        await #expect(processExitsWith: .success) {
            let screen = HandmadeGIF(1000, 1000)
            let row = [UInt8](repeating: 1, count: 1000)
            let frame = screen.frame(0, 0, Array(repeating: row, count: 1000)).data.dropFirst(screen.data.count)
            var gif = screen
            for index in 0..<40 {
                gif = gif.control(disposal: UInt8(index % 4))
                gif.data += frame
            }
            let source = try gif.source()
            let before = try peakMemory()
            for index in 0..<40 { #expect(source.frame(at: index) != nil) }
            let growth = try peakMemory() - before
            #expect(growth < 3 * 4_000_000 + 3_000_000, "\(growth) bytes")
        }
    }
}
