// TIFF files: what they do not say, inks, damage, and directories that announce too much.

import Foundation
import KFImaging
import Testing

/// A file of one directory, behind its data, at whose end a profile may lie.
///
/// Values have 32 bits, and tags know only the first of theirs.
private func directory(_ tags: [(Int, Int)], data: Data = Data(count: 64), profile: Data? = nil) -> Data {
    var entries = tags.map { littleEndian($0.0, 2) + littleEndian(4, 2) + littleEndian(1) + littleEndian($0.1) }
    var data = data
    if let profile {
        let place = littleEndian(profile.count) + littleEndian(8 + data.count)
        entries.append(littleEndian(34_675, 2) + littleEndian(7, 2) + place)
        data += profile
    }
    return Data([0x49, 0x49, 0x2A, 0]) + littleEndian(8 + data.count) + data + littleEndian(entries.count, 2)
        + entries.reduce(Data(), +) + Data(count: 4)
}

@Suite struct TIFFTests {
    @Test(
        "Where the file does not say whether 0 is white, it is in compressions of documents only",
        arguments: [("grey1-cg4", true), ("grey1-cg3", true), ("grey1-cpackbits-flsb2msb", false)]
    )
    func untoldPhotometric(name: String, isWhiteZero: Bool) throws {
        let kind = try #require(ImageListFixture.lines(of: "tiff-kinds.txt").first { $0.name == name })
        var data = kind.data
        let entries = Int(data[4]) | Int(data[5]) << 8
        let place = try #require((0..<20).map { entries + 2 + $0 * 12 }.first { data[$0] == 6 && data[$0 + 1] == 1 })
        // The tag becomes the next one, which is about half-tones.
        data[place] = 7
        let pixels = try Codecs.decode(data).bitmap().rows.joined()
        let isInverted = zip(pixels, kind.pixels).map { $0 != $1 }
        #expect(isInverted.allSatisfy { $0 == isWhiteZero })
    }

    @Test("Inks with an alpha are converted by their profile, and made smaller, as those without")
    func translucentInks() throws {
        let profile = try #require(Self.profile(of: fixture("cmyk-profile.tiff")))
        /// 4 × 4 pixels of one colour, with the profile.
        func file(_ samples: [UInt8]) -> Data {
            let pixels = Data((0..<16).flatMap { _ in samples })
            let tags = [
                (256, 4), (257, 4), (258, 8), (259, 1), (262, 5), (273, 8), (277, samples.count), (278, 4),
                (279, pixels.count),
            ]
            return directory(tags + (samples.count > 4 ? [(338, 2)] : []), data: pixels, profile: profile)
        }
        let inks: [UInt8] = [200, 30, 90, 10]
        #expect(try ImageInfo(data: file(inks + [7])).hasAlpha && !ImageInfo(data: file(inks)).hasAlpha)
        for limit in [nil, 2] as [Int?] {
            let options = DecodingOptions(maxPixelSize: limit)
            let plain = try Codecs.decode(file(inks), options: options).bitmap()[0, 0]
            let image = try Codecs.decode(file(inks + [128]), options: options)
            let expected = Pixel.premultiplied(Int(plain.r), Int(plain.g), Int(plain.b), 128)
            #expect(image.hasAlpha)
            #expect(try image.bitmap().rows.joined().allSatisfy { $0.isNear(expected, within: 1) })
        }
    }

    /// The ICC profile in a TIFF of the lowest byte first.
    private static func profile(of data: Data) -> Data? {
        func number(_ offset: Int, _ size: Int) -> Int {
            (0..<size).reversed().reduce(0) { $0 << 8 | Int(data[offset + $1]) }
        }
        let first = number(4, 4) + 2
        guard let entry = (0..<30).map({ first + $0 * 12 }).first(where: { number($0, 2) == 34_675 }) else {
            return nil
        }
        return data.subdata(in: number(entry + 8, 4)..<number(entry + 8, 4) + number(entry + 4, 4))
    }

    @Test("A truncated file keeps the rows it has, and others are transparent")
    func cutRows() throws {
        // Most programs write the data first and the directory last; so the end of a strip is cut out.
        let pixels = Data((0..<30).map { UInt8($0 * 8) })
        let tags = [(256, 5), (257, 6), (258, 8), (259, 1), (262, 1), (273, 200), (277, 1), (278, 6), (279, 30)]
        let head = directory(tags, data: Data())
        let file = head + Data(count: 200 - head.count) + pixels
        let whole = try Codecs.decode(file).bitmap()
        #expect(whole[4, 5] == Pixel(r: 232, g: 232, b: 232) && !whole.hasAlpha)
        let cut = try Codecs.decode(file.dropLast(13)).bitmap()
        #expect(Array(cut.rows.prefix(3)) == Array(whole.rows.prefix(3)))
        #expect(cut.rows.dropFirst(3).joined().allSatisfy { $0.a == 0 } && cut.hasAlpha)
        #expect(Codecs.diagnose(file.dropLast(27))?.malformedType == .tiff, "an image without a single row")
    }

    @Test("A compressed strip that the file ends within is decoded as far as it goes")
    func cutStrip() throws {
        var data = try fixture("photo.tiff")
        func number(_ offset: Int, _ size: Int) -> Int {
            (0..<size).reversed().reduce(0) { $0 << 8 | Int(data[offset + $1]) }
        }
        /// The offset of the values of a tag with several values, and the number of bytes of each.
        func values(of tag: Int) throws -> (start: Int, size: Int) {
            let entries = number(4, 4) + 2
            let entry = try #require((0..<20).map { entries + $0 * 12 }.first { number($0, 2) == tag })
            return (number(entry + 8, 4), number(entry + 2, 2) == 3 ? 2 : 4)
        }
        // The last of four strips, of 16 rows each, moves to the end of the file.
        let (offsets, sizes) = try (values(of: 273), values(of: 279))
        let place = number(offsets.start + 3 * offsets.size, offsets.size)
        let strip = data.subdata(in: place..<place + number(sizes.start + 3 * sizes.size, sizes.size))
        let entry = offsets.start + 3 * offsets.size
        data.replaceSubrange(entry..<entry + offsets.size, with: littleEndian(data.count, offsets.size))
        data += strip
        let whole = try picture("photo.png").bitmap()
        #expect(try Codecs.decode(data).bitmap().rows == whole.rows)
        let cut = try Codecs.decode(data.dropLast(strip.count / 2)).bitmap()
        let rowCount = try #require(cut.rows.firstIndex { $0.contains { $0.a == 0 } })
        #expect((50..<62).contains(rowCount) && Array(cut.rows.prefix(rowCount)) == Array(whole.rows.prefix(rowCount)))
    }

    @Test("Unsupported kinds of TIFF are refused with a reason")
    func unsupported() throws {
        let base = [(256, 4), (257, 4), (258, 8), (262, 1), (273, 8), (277, 1), (278, 4), (279, 16)]
        func diagnosis(_ tag: Int, _ value: Int) -> ImagingError? {
            Codecs.diagnose(directory((base.filter { $0.0 != tag } + [(tag, value)]).sorted { $0.0 < $1.0 }))
        }
        #expect(diagnosis(259, 1) == nil)
        #expect(diagnosis(259, 6) == .unsupported(.tiff, detail: "compression 6 is not supported"))
        #expect(diagnosis(339, 3) == .unsupported(.tiff, detail: "the samples are no unsigned numbers"))
        guard case .unsupported(.tiff, _)? = diagnosis(258, 12) else {
            Issue.record("12 bits a sample")
            return
        }
    }

    @Test("A kilobyte that announces gigabytes is refused before the memory is taken")
    func hostileNumbers() async {
        // This runs in a process of its own, where no other test takes memory.
        await #expect(processExitsWith: .success) {
            let before = try peakMemory()
            let common = [(258, 8), (259, 1), (262, 1), (277, 1)]
            let most = Int(UInt32.max)
            let announced: [[(Int, Int)]] = [
                [(256, 60_000), (257, 60_000), (273, 8), (278, 60_000), (279, 64)],
                [(256, most), (257, most), (273, 8), (278, 1), (279, 64)],
                [(256, 1), (257, most), (273, 8), (278, 1), (279, 64)],
                [(256, 5), (257, 5), (322, 1 << 16), (323, 1 << 16), (324, 8), (325, 64)],
                [(256, 5), (257, 5), (322, 16), (323, 1 << 30), (324, 8), (325, 64)],
                [(256, 60_000), (257, 1), (273, 8), (277, 65_535), (278, 1), (279, 64)],
            ]
            for tags in announced {
                let kept = common.filter { tag in !tags.contains { $0.0 == tag.0 } }
                let data = directory((kept + tags).sorted { $0.0 < $1.0 })
                #expect(Codecs.diagnose(data) != nil, "\(tags)")
                _ = try? ImageInfo(data: data)
            }
            #expect(try peakMemory() - before < 100 << 20)
        }
    }
}
