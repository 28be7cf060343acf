// PNGs with mistakes: they are decoded as far as possible, or refused with an error.

import CKFCodecs
import Foundation
import KFImaging
import Testing

@Suite struct PNGDamageTests {
    private let grey = Pixel(r: 9, g: 9, b: 9)
    private let clear = Pixel(r: 0, g: 0, b: 0, a: 0)

    /// 6 × 5 pixels of grey.
    private func plain(_ change: (inout PNGWriter) -> Void = { _ in }) -> PNGWriter {
        var writer = PNGWriter(6, 5) { _, _, _ in 9 }
        writer.filter = { _ in 0 }
        change(&writer)
        return writer
    }

    /// The number of rows that are decoded as expected; the others must be transparent.
    private func rows(of data: Data) throws -> Int {
        let bitmap = try Codecs.decode(data).bitmap()
        #expect(bitmap.width == 6 && bitmap.height == 5)
        let shown = bitmap.rows.prefix { $0.allSatisfy { $0 == grey } }.count
        #expect(bitmap.rows.dropFirst(shown).joined().allSatisfy { $0 == clear })
        #expect(bitmap.hasAlpha == (shown < 5))
        return shown
    }

    private func isMalformed(_ data: Data) -> Bool {
        if case .malformed(.png, _)? = Codecs.diagnose(data) { true } else { false }
    }

    /// Falsifies the checksum of the chunk of that name.
    private func corrupted(_ data: Data, _ name: String) throws -> Data {
        var bytes = [UInt8](data)
        let place = try #require(data.range(of: Data(name.utf8))).lowerBound
        let size = bytes[place - 4..<place].reduce(0) { $0 << 8 | Int($1) }
        bytes[place + 4 + size] ^= 1
        return Data(bytes)
    }

    @Test("The image that the other tests damage is complete") func undamagedImage() throws {
        #expect(try rows(of: plain().data) == 5)
    }

    @Test(
        "Pixels may be split into many IDAT chunks",
        arguments: [[0, 0, Int.max], [1, 1, 1, Int.max], [Int.max, 0, 0], [10, 0, 10, 0, Int.max]]
    )
    func manyIDATChunks(pieces: [Int]) throws {
        #expect(try rows(of: plain { $0.pieces = pieces }.data) == 5)
        #expect(try rows(of: plain { $0.pieces = pieces }.data + Data("junk".utf8)) == 5)
        let bytes = [Int](repeating: 1, count: 120)
        #expect(try rows(of: plain { $0.pieces = bytes + [Int.max] }.data) == 5)
    }

    @Test("An IDAT chunk behind another kind of chunk is not read") func interruptedIDAT() throws {
        let data = plain { $0.pieces = [40, Int.max] }.data
        let second = try #require(data.range(of: Data("IDAT".utf8), options: .backwards)).lowerBound - 4
        let between = Data(PNGWriter.chunk("tEXt", Array("a".utf8) + [0] + Array("b".utf8)))
        let shown = try rows(of: data.prefix(second) + between + data.dropFirst(second))
        #expect((1..<5).contains(shown))
    }

    @Test("Bytes behind the image are ignored") func trailingBytes() throws {
        #expect(try rows(of: plain().data + Data(repeating: 0xAB, count: 1000)) == 5)
    }

    @Test("The image ends at an unknown filter") func unknownFilters() throws {
        for line in 1..<5 {
            for filter: UInt8 in [5, 77, 255] {
                let data = plain { $0.changeLines = { lines in lines[line * 19] = filter } }.data
                #expect(try rows(of: data) == line)
            }
        }
        #expect(isMalformed(plain { $0.changeLines = { $0[0] = 5 } }.data))
    }

    @Test("A wrong Adler-32 checksum hides nothing") func wrongAdler32() throws {
        #expect(try rows(of: plain { $0.changeStream = { $0[$0.count - 1] ^= 0x55 } }.data) == 5)
        #expect(try rows(of: plain { $0.changeStream = { $0.removeLast(4) } }.data) == 5)
    }

    // Where libpng looks at the checksum, it does so before it hands out the last row.
    @Test("Of an image with 16 bits, a wrong Adler-32 checksum hides the last row at most") func wrongAdler32OfWords()
        throws
    {
        let data = plain {
            $0.depth = 16
            $0.sample = { _, _, _ in 9 * 257 }
            $0.changeStream = { $0[$0.count - 1] ^= 0x55 }
        }.data
        #expect(try rows(of: data) >= 4)
    }

    @Test("Data behind the last row are ignored") func trailingData() throws {
        #expect(try rows(of: plain { $0.changeLines = { $0 += [0, 1, 2, 3, 4] } }.data) == 5)
        #expect(try rows(of: plain { $0.changeLines = { $0 += [UInt8](repeating: 7, count: 70_000) } }.data) == 5)
        #expect(try rows(of: plain { $0.changeStream = { $0 += [1, 2, 3] } }.data) == 5)
    }

    @Test("Rows missing at the end are transparent") func missingRows() throws {
        // A stream that ends as it should, but too early.
        #expect(try rows(of: plain { $0.changeLines = { $0.removeLast(25) } }.data) == 3)
        let data = plain().data
        let start = try #require(data.range(of: Data("IDAT".utf8))).upperBound + 7
        for line in 1..<5 { #expect(try rows(of: data.prefix(start + line * 19 + 18)) >= line) }
        #expect(isMalformed(data.prefix(start + 10)))
    }

    @Test("A wrong zlib header is an error") func wrongStreamHeader() {
        #expect(isMalformed(plain { $0.changeStream = { $0[0] = 0xFF } }.data))
        #expect(isMalformed(plain { $0.changeStream = { $0 = [] } }.data))
        #expect(isMalformed(plain { $0.pieces = [] }.data))
    }

    @Test("The rows before broken data are shown") func brokenBlock() throws {
        // The length of the second of two blocks does not match its complement.
        let lines = [UInt8](repeating: 9, count: 18)
        let row = [0] + lines
        let first = [0x78, 1, 0, 38, 0, 0xD9, 0xFF] + row + row
        let data = plain { $0.changeStream = { $0 = first + [1, 57, 0, 0, 0] + row + row + row } }.data
        #expect((1...2).contains(try rows(of: data)))
    }

    @Test("Wrong checksums of the header or the palette are errors") func criticalChecksums() throws {
        #expect(isMalformed(try corrupted(plain().data, "IHDR")))
        let indexed = plain {
            $0.type = 3
            $0.chunks = PNGWriter.chunk("PLTE", [UInt8](repeating: 9, count: 30))
        }
        #expect(try rows(of: indexed.data) == 5)
        #expect(isMalformed(try corrupted(indexed.data, "PLTE")))
    }

    @Test("A wrong checksum of pixels keeps the rows decoded so far") func pixelChecksums() throws {
        // All rows are there before the checksum is looked at.
        #expect(try rows(of: corrupted(plain().data, "IDAT")) == 5)
        #expect((1..<5).contains(try rows(of: corrupted(plain { $0.pieces = [60, Int.max] }.data, "IDAT"))))
    }

    @Test("Ancillary chunks with wrong checksums are ignored") func ancillaryChecksums() throws {
        let transparency = plain { $0.chunks = PNGWriter.chunk("tRNS", [0, 9, 0, 9, 0, 9]) }.data
        #expect(try Codecs.decode(transparency).bitmap()[0, 0] == clear)
        #expect(try rows(of: corrupted(transparency, "tRNS")) == 5)
        let gamma = plain { $0.chunks = PNGWriter.chunk("gAMA", PNGWriter.number(100_000)) }.data
        #expect(try Codecs.decode(gamma).bitmap()[0, 0] != grey)
        #expect(try rows(of: corrupted(gamma, "gAMA")) == 5)
        let exif: [UInt8] = [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 3, 0, 0]
        let turned = plain { $0.chunks = PNGWriter.chunk("eXIf", exif) }.data
        #expect(try Codecs.decode(turned).imageOrientation == .down)
        #expect(try Codecs.decode(corrupted(turned, "eXIf")).imageOrientation == .up)
    }

    /// A chunk whose name need not be text.
    private func chunk(_ name: [UInt8], _ content: [UInt8] = [1, 2, 3]) -> [UInt8] {
        let named = name + content
        let sum = named.withUnsafeBufferPointer { kf_crc32($0.baseAddress, $0.count) }
        return PNGWriter.number(content.count) + named + PNGWriter.number(Int(sum))
    }

    /// The image in pieces of 40 bytes, with a chunk before, between or behind them.
    private func images(with chunk: [UInt8]) throws -> [Data] {
        let data = plain { $0.pieces = [40, Int.max] }.data
        let pieces = [data.range(of: Data("IDAT".utf8)), data.range(of: Data("IDAT".utf8), options: .backwards)]
        let places = try pieces.map { try #require($0).lowerBound - 4 } + [data.count - 12]
        return places.map { data.prefix($0) + Data(chunk) + data.dropFirst($0) }
    }

    @Test("An ancillary chunk with a malformed name is skipped, wherever it is") func malformedAncillaryNames() throws {
        for position in 0..<4 {
            for byte: UInt8 in [0, 1, 0x20, 0x33, 0x40, 0x5B, 0x60, 0x7B, 0x7F, 0x80, 0xE1, 0xFF] {
                var name = Array("teXt".utf8)
                name[position] = byte
                // The bit of the first byte says that the image can be shown without the chunk.
                let isAncillary = name[0] & 0x20 != 0
                let files = try images(with: chunk(name))
                if isAncillary {
                    for file in files { #expect(try rows(of: file) == 5, "\(name)") }
                    #expect(throws: Never.self, "\(name)") { try ImageInfo(data: files[0]) }
                    #expect(try Codecs.decode(files[0], options: DecodingOptions(maxPixelSize: 3)).pixelWidth == 3)
                } else {
                    #expect(isMalformed(files[0]), "\(name)")
                }
            }
        }
        #expect(isMalformed(try images(with: chunk(Array("TEXt".utf8)))[0]))
    }

    @Test("A frame of an animation is shown beside chunks with malformed names") func malformedNamesInAnimations()
        throws
    {
        let data = try fixture("animated.png")
        let frames = try Codecs.decode(data).bitmap().rows
        let odd = Data(chunk([0x61, 0, 0x41, 0x62]))
        let first = try #require(data.range(of: Data("fcTL".utf8))).lowerBound - 4
        let last = try #require(data.range(of: Data("fdAT".utf8), options: .backwards)).lowerBound - 4
        let file = data.prefix(first) + odd + data[first..<last] + odd + data[last...]
        #expect(try ImageInfo(data: file).frameCount == 3)
        #expect(try Codecs.decode(file).bitmap().rows == frames)
    }

    @Test(
        "No content of an ancillary chunk costs the image",
        arguments: [
            "bKGD", "cHRM", "cICP", "cLLI", "eXIf", "gAMA", "hIST", "iCCP", "iTXt", "mDCV", "oFFs", "pCAL", "pHYs",
            "sBIT", "sCAL", "sPLT", "sRGB", "sTER", "tEXt", "tIME", "tRNS", "zTXt", "acTL", "fcTL", "prVt",
        ]
    )
    func ancillaryContents(name: String) throws {
        let contents = [0, 1, 5, 7, 300].map { (0..<$0).map { UInt8(truncatingIfNeeded: $0 &* 37 + 11) } }
        for content in contents {
            let one = PNGWriter.chunk(name, content)
            #expect(try rows(of: plain { $0.chunks = one }.data) == 5, "\(content.count) bytes")
            #expect(try rows(of: plain { $0.chunks = one + one }.data) == 5, "\(content.count) bytes, twice")
            #expect(try rows(of: corrupted(plain { $0.chunks = one }.data, name)) == 5, "\(content.count) bytes")
        }
        // More than libpng takes of a chunk.
        let large = chunk(Array(name.utf8), [UInt8](repeating: 1, count: 8_100_000))
        #expect(try rows(of: plain { $0.chunks = large }.data) == 5)
    }

    @Test("A chunk that claims to be longer than the file takes no memory") func oversizedChunk() async {
        // This runs in a process of its own, where no other test takes memory.
        await #expect(processExitsWith: .success) {
            /// The most addresses this process has had, in bytes.
            func peak() throws -> Int {
                let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
                let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmPeak") })
                return try #require(Int(line.filter(\.isNumber))) * 1024
            }
            let tests = PNGDamageTests()
            let text = PNGWriter.chunk("tEXt", [UInt8](repeating: 65, count: 20))
            let claim = Array(PNGWriter.number(0x7FFF_FFF0)) + text.dropFirst(4)
            let before = try peak()
            #expect(tests.isMalformed(tests.plain { $0.chunks = claim }.data))
            #expect(try peak() - before < 1 << 30)
        }
    }

    @Test("A missing palette and impossible sizes are errors") func missingPaletteOrSize() {
        #expect(isMalformed(plain { $0.type = 3 }.data))
        #expect(isMalformed(plain { $0.width = 0 }.data))
        #expect(isMalformed(plain { $0.claimedHeight = 0 }.data))
        #expect(isMalformed(plain { $0.claimedHeight = 1 << 31 }.data))
    }

    @Test(
        "Combinations of depth and colour type that PNG lacks are errors",
        arguments: [(0, 3), (2, 4), (3, 16), (4, 4), (6, 1), (1, 8), (5, 8), (7, 8), (0, 0), (2, 3), (255, 255)]
    )
    func unknownKinds(type: Int, depth: Int) {
        #expect(isMalformed(plain { ($0.type, $0.depth) = (type, depth) }.data))
    }

    @Test("Indices beyond the palette are opaque black") func indicesBeyondPalette() throws {
        for isInterlaced in [false, true] {
            let writer = plain {
                ($0.type, $0.isInterlaced) = (3, isInterlaced)
                $0.sample = { x, _, _ in x == 2 ? 200 : 0 }
                $0.chunks = PNGWriter.chunk("PLTE", [9, 9, 9, 1, 1, 1]) + PNGWriter.chunk("tRNS", [255, 0])
            }
            let bitmap = try Codecs.decode(writer.data).bitmap()
            #expect(bitmap[1, 1] == grey && bitmap[2, 1] == Pixel(r: 0, g: 0, b: 0) && !bitmap.hasAlpha)
        }
    }

    @Test("A truncated interlaced image keeps its first passes") func truncatedInterlacing() throws {
        let whole = plain { $0.isInterlaced = true }.data
        let start = try #require(whole.range(of: Data("IDAT".utf8))).upperBound + 7
        #expect(try rows(of: whole) == 5)
        let cut = try Codecs.decode(whole.prefix(start + 12)).bitmap()
        #expect(cut[0, 0] == grey && cut[1, 1] == clear && cut.hasAlpha)
    }

    @Test("A height far beyond the data is decoded as far as the data go") func claimedHeight() throws {
        let bitmap = try Codecs.decode(plain { $0.claimedHeight = 3000 }.data).bitmap()
        #expect(bitmap.height == 3000 && bitmap[5, 4] == grey && bitmap[0, 5] == clear && bitmap[5, 2999] == clear)
    }
}
