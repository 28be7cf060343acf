// Files that lack their end, or are damaged in between: what there is of the image is shown, and it is marked.

import Foundation
import KFImaging
import Testing

/// How many rows, from the first one on, two images have in common; the others of the first must be transparent.
private func sharedRows(_ part: Bitmap, _ whole: Bitmap) -> Int {
    let count = zip(part.rows, whole.rows).prefix { $0 == $1 }.count
    #expect(part.size == whole.size && part.rows.dropFirst(count).joined().allSatisfy { $0.a == 0 })
    return count
}

@Suite struct PartialWebPTests {
    @Test("A WebP that ends early keeps the rows it has", arguments: [8, 50, 400], [false, true])
    func cutFile(missing: Int, isLossless: Bool) throws {
        let image = Image(cgImage: ResamplingTests.noise(64, 200, opaque: true))
        let data = try Codecs.encode(image, as: .webp, lossless: isLossless)
        let whole = try Codecs.decode(data).bitmap()
        let part = try Codecs.decode(data.dropLast(missing))
        #expect(part.isDamaged)
        let count = try sharedRows(part.bitmap(), whole)
        #expect((100..<200).contains(count), "\(count) rows")
        // Loads of animations, and small versions, too.
        #expect(Image(data: data.dropLast(missing))?.isDamaged == true)
        let small = try Codecs.decode(data.dropLast(missing), options: DecodingOptions(maxPixelSize: 20))
        #expect(small.isDamaged && small.pixelHeight == 20)
    }

    @Test("A WebP with alpha that ends early keeps the rows it has")
    func cutAlpha() throws {
        let image = Image(cgImage: ResamplingTests.noise(64, 200, opaque: false))
        let data = try Codecs.encode(image, as: .webp, lossless: true)
        let part = try Codecs.decode(data.dropLast(300))
        #expect(try part.isDamaged && (100..<200).contains(sharedRows(part.bitmap(), Codecs.decode(data).bitmap())))
    }

    @Test("A WebP without a single row is an error")
    func noRows() throws {
        let data = try fixture("photo.webp")
        #expect(Codecs.diagnose(data.prefix(60)) == .malformed(.webp, detail: "the data ends too early"))
    }

    // Exit tests capture values from Swift 6.3 on.
    #if compiler(>=6.3)
    @Test(
        "A short WebP that announces a large image takes the memory of what arrived",
        .enabled(if: memoryIsOurs),
        arguments: [0, 0xAA]
    )
    func announcedSize(content: UInt8) async {
        // This runs in a process of its own, where no other test takes memory.
        await #expect(processExitsWith: .success) { [content] in
            let before = try peakMemory()
            // A lossless image of 16,384 × 16,384 pixels whose data make no sense.
            let sides = littleEndian(0xFFF_FFFF)
            let image = Data([0x2F]) + sides + Data(repeating: content, count: 160 << 10)
            let chunk = Data("VP8L".utf8) + littleEndian(image.count) + image + Data(count: image.count % 2)
            let data = Data("RIFF".utf8) + littleEndian(4 + chunk.count) + Data("WEBP".utf8) + chunk
            _ = try? Codecs.decode(data.dropLast(8))
            #expect(try peakMemory() - before < 100 << 20)
        }
    }
    #endif
}

@Suite struct PartialTIFFTests {
    @Test("A TIFF that lacks its last byte is shown")
    func lastByte() throws {
        for name in try allFixtureNames() where name.hasSuffix(".tiff") {
            let data = try fixture(name)
            let whole = try Codecs.decode(data).bitmap()
            let part = try #require(try? Codecs.decode(data.dropLast()), "\(name)").bitmap()
            #expect(part.likeness(to: whole) > 30, "\(name): \(part.likeness(to: whole)) dB")
        }
        // The last byte of a file with the highest bytes first may be all of a number.
        for kind in try ImageListFixture.lines(of: "tiff-kinds.txt") where !kind.name.contains("-B") {
            #expect(throws: Never.self, "\(kind.name)") { try Codecs.decode(kind.data.dropLast()) }
        }
    }

    @Test(
        "A TIFF whose tags lack a byte is marked as damaged",
        arguments: ["photo", "tiles", "planes", "jpeg", "palette", "lab"]
    )
    func cutTags(name: String) throws {
        let data = try fixture("\(name).tiff")
        let image = try Codecs.decode(data.dropLast())
        #expect(image.isDamaged)
        #expect(try image.bitmap().likeness(to: picture("\(name).tiff").bitmap()) > 30)
    }

    /// The file with the last of its tiles or strips at the end.
    private func moved(_ name: String, offsets tag: Int, sizes: Int) throws -> (data: Data, last: Int) {
        var data = try fixture(name)
        func number(_ offset: Int, _ size: Int) -> Int {
            (0..<size).reversed().reduce(0) { $0 << 8 | Int(data[offset + $1]) }
        }
        func last(of tag: Int) throws -> (place: Int, size: Int) {
            let entries = number(4, 4) + 2
            let entry = try #require((0..<20).map { entries + $0 * 12 }.first { number($0, 2) == tag })
            let size = number(entry + 2, 2) == 3 ? 2 : 4
            return (number(entry + 8, 4) + (number(entry + 4, 4) - 1) * size, size)
        }
        let (offset, size) = try (last(of: tag), last(of: sizes))
        let (start, count) = (number(offset.place, offset.size), number(size.place, size.size))
        let block = data.subdata(in: start..<start + count)
        data.replaceSubrange(offset.place..<offset.place + offset.size, with: littleEndian(data.count, offset.size))
        return (data + block, count)
    }

    @Test(
        "Tiles and planes that end early keep their first rows",
        arguments: [("tiles", 324, 325), ("planes", 273, 279)]
    )
    func cutBlocks(name: String, offsets: Int, sizes: Int) throws {
        let (data, last) = try moved("\(name).tiff", offsets: offsets, sizes: sizes)
        let whole = try Codecs.decode(data)
        #expect(!whole.isDamaged)
        let part = try Codecs.decode(data.dropLast(last / 3))
        #expect(part.isDamaged)
        let count = try sharedRows(part.bitmap(), whole.bitmap())
        // The last tiles have 32 rows, the last planes 16.
        let first = name == "tiles" ? 32 : 48
        #expect((first + 1..<64).contains(count), "\(count) rows")
    }

    @Test("Damage in a TIFF's JPEG is noticed")
    func damagedJPEG() throws {
        var data = try fixture("jpeg.tiff")
        #expect(try !Codecs.decode(data).isDamaged)
        let scan = try #require(data.range(of: Data([0xFF, 0xDA]))).upperBound + 40
        data.replaceSubrange(scan..<scan + 12, with: Data(repeating: 0xFF, count: 11) + [0xD9])
        #expect(try Codecs.decode(data).isDamaged)
    }
}

@Suite struct DamagedGIFTests {
    /// A GIF whose first frame has a code that stands for nothing in the middle of its pixels.
    private func damaged(_ name: String) throws -> Data {
        var data = try fixture(name)
        let middle = data.count / 2
        data.replaceSubrange(middle..<middle + 8, with: Data(repeating: 0xFF, count: 8))
        return data
    }

    @Test("A GIF whose codes are damaged is marked", arguments: ["photo.gif", "plain.gif"])
    func damagedCodes(name: String) throws {
        let data = try damaged(name)
        #expect(try Codecs.decode(data).isDamaged)
        #expect(Image(data: data)?.isDamaged == true)
        #expect(Image.decoded(from: data, options: ImageCreatingOptions(preloadAll: true))?.isDamaged == true)
    }

    @Test("A GIF may begin with codes of more bits than its colours have", arguments: [9, 10, 11])
    func largeCodes(bits: Int) throws {
        let (clear, end) = (1 << bits, 1 << bits + 1)
        let indices = [0, 1, 1, 0, 1, 0, 0, 1]
        func file(_ indices: [Int]) -> Data {
            let codes = [clear] + indices + [end]
            let bitList = codes.flatMap { code in (0...bits).map { code >> $0 & 1 } }
            let packed = stride(from: 0, to: bitList.count, by: 8).map { start in
                bitList[start...].prefix(8).enumerated().reduce(UInt8(0)) { $0 | UInt8($1.element) << UInt8($1.offset) }
            }
            let screen: [UInt8] = [8, 0, 1, 0, 0x80, 0, 0, 10, 20, 30, 200, 100, 50]
            let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 8, 0, 1, 0, 0, UInt8(bits), UInt8(packed.count)]
            return Data("GIF89a".utf8) + screen + frame + packed + [0, 0x3B]
        }
        let image = try Codecs.decode(file(indices))
        let colors = [Pixel(r: 10, g: 20, b: 30), Pixel(r: 200, g: 100, b: 50)]
        #expect(try image.bitmap().rows == [indices.map { colors[$0] }] && !image.isDamaged)
        // No colour has such a number.
        #expect(Codecs.diagnose(file([0, 1, 256, 1]))?.malformedType == .gif)
    }
}
