// Undamaged PNGs of every kind: their pixels follow the formula in every way of decoding.

import CKFCodecs
import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

/// The expected pixels of an image of a `PNGWriter`.
private struct Expectation {
    let writer: PNGWriter
    /// The entries of its palette as red, green, blue, alpha.
    var palette: [[Int]] = []
    /// The samples that are transparent.
    var key: [Int]?

    func pixel(_ x: Int, _ y: Int) -> Pixel {
        let samples = (0..<(PNGWriter.components[writer.type] ?? 1)).map { writer.sample(x, y, $0) }
        if writer.type == 3 {
            let entry = palette.indices.contains(samples[0]) ? palette[samples[0]] : [0, 0, 0, 255]
            return Pixel.premultiplied(entry[0], entry[1], entry[2], entry[3])
        }
        // To 8 bits: rounded, never cut off.
        let greatest = (1 << writer.depth) - 1
        let levels = samples.map { (2 * $0 * 255 + greatest) / (2 * greatest) }
        let alpha = samples == key ? 0 : 255
        switch writer.type {
        case 0: return Pixel.premultiplied(levels[0], levels[0], levels[0], alpha)
        case 4: return Pixel.premultiplied(levels[0], levels[0], levels[0], levels[1])
        case 2: return Pixel.premultiplied(levels[0], levels[1], levels[2], alpha)
        default: return Pixel.premultiplied(levels[0], levels[1], levels[2], levels[3])
        }
    }

    var rows: [[Pixel]] { (0..<writer.height).map { y in (0..<writer.width).map { pixel($0, y) } } }
}

/// An image of random samples, some of them alike so that every filter has something to find.
private func random(_ type: Int, _ depth: Int, _ width: Int, _ height: Int, _ generator: inout SeededGenerator)
    -> PNGWriter
{
    let count = width * height * 4
    var samples = [Int](repeating: 0, count: count)
    for index in 0..<count {
        let fresh = Int.random(in: 0..<(1 << depth), using: &generator)
        samples[index] = index >= 4 && Bool.random(using: &generator) ? samples[index - 4] : fresh
    }
    let fixed = samples
    var writer = PNGWriter(width, height) { x, y, component in fixed[(y * width + x) * 4 + component] }
    (writer.type, writer.depth) = (type, depth)
    let filters = (0..<max(1, height)).map { _ in UInt8.random(in: 0...4, using: &generator) }
    writer.filter = { filters[$0 % filters.count] }
    return writer
}

/// Gives an image a palette (shorter than its indices can be) or a transparent colour.
private func withAncillaryChunks(_ writer: PNGWriter, transparency: Bool, _ generator: inout SeededGenerator)
    -> Expectation
{
    var writer = writer
    var expectation = Expectation(writer: writer)
    if writer.type == 3 {
        let count = writer.depth == 8 ? 200 : 1 << writer.depth
        let palette = (0..<count).map { _ in (0..<4).map { _ in Int.random(in: 0...255, using: &generator) } }
        let translucent = transparency ? (count + 1) / 2 : 0
        writer.chunks += PNGWriter.chunk("PLTE", palette.flatMap { $0.prefix(3).map { UInt8($0) } })
        if transparency {
            writer.chunks += PNGWriter.chunk("tRNS", palette.prefix(translucent).map { UInt8($0[3]) })
        }
        expectation = Expectation(writer: writer)
        expectation.palette = palette.enumerated().map { Array($1.prefix(3)) + [$0 < translucent ? $1[3] : 255] }
    } else if transparency, writer.type < 3 {
        let key = (0..<(writer.type == 0 ? 1 : 3)).map { writer.sample(0, 0, $0) }
        writer.chunks += PNGWriter.chunk("tRNS", key.flatMap { PNGWriter.number($0, bytes: 2) })
        expectation = Expectation(writer: writer)
        expectation.key = key
    }
    return expectation
}

/// The pixels as bytes.
private func bytes(_ image: Image) throws -> Data { try Data(image.bitmap().withUnsafeBytes { Data($0) }) }

/// The file without its last byte, since truncated files are decoded row by row with libpng.
private func throughLibPNG(_ data: Data) -> Data { data.dropLast() }

/// Whether the image is inflated in one go.
private func isFast(_ data: Data) -> Bool {
    data.withUnsafeBytes { bytes in
        var (header, message) = (kf_png_header(), kf_message())
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let reader = kf_png_open(start, bytes.count, &header, &message) else { return false }
        defer { kf_png_close(reader) }
        guard let fast = kf_png_fast_open(reader, true) else { return false }
        defer { kf_png_fast_close(fast) }
        var memory = [UInt8](repeating: 0, count: kf_png_fast_memory(fast))
        return kf_png_fast_inflate(fast, &memory)
    }
}

@Suite struct PNGTests {
    private static let executor = WorkExecutor("kf.png", threads: 1)

    @Test("Every kind of PNG decodes to the pixels of the formula", arguments: PNGWriter.kinds.indices, [false, true])
    func everyKind(kind: Int, transparency: Bool) async throws {
        let (type, depth) = PNGWriter.kinds[kind]
        try await Self.executor.run {
            var generator = SeededGenerator(state: UInt64(kind))
            for (width, height) in [(1, 1), (2, 3), (3, 2), (5, 5), (9, 8), (13, 7), (33, 6)] {
                let image = random(type, depth, width, height, &generator)
                let expectation = withAncillaryChunks(image, transparency: transparency, &generator)
                var writer = expectation.writer
                for isInterlaced in [false, true] {
                    writer.isInterlaced = isInterlaced
                    let bitmap = try Codecs.decode(writer.data).bitmap()
                    #expect(bitmap.rows == expectation.rows, "\(width) × \(height), interlaced: \(isInterlaced)")
                    #expect(bitmap.hasAlpha == expectation.rows.joined().contains { $0.a < 255 })
                    #expect(isFast(writer.data) == (depth <= 8 && !isInterlaced))
                }
            }
        }
    }

    @Test("The fast decoder and libpng give the same bytes for random images", arguments: PNGWriter.kinds.indices)
    func fastAndLibPNG(kind: Int) async throws {
        let (type, depth) = PNGWriter.kinds[kind]
        let profile = PNGWriter.chunk("gAMA", PNGWriter.number(100_000))
        try await Self.executor.run {
            var generator = SeededGenerator(state: 77 + UInt64(kind))
            for round in 0..<24 {
                let (width, height) = (
                    Int.random(in: 1...70, using: &generator), Int.random(in: 1...30, using: &generator)
                )
                let image = random(type, depth, width, height, &generator)
                var writer = withAncillaryChunks(image, transparency: round % 2 == 0, &generator).writer
                if round % 3 == 0 { writer.chunks = profile + writer.chunks }
                if round % 4 == 0 { writer.pieces = [5, 0, 17, 100, Int.max] }
                let data = writer.data
                for limit in [nil, max(width, height) / 2 + 1] {
                    let options = DecodingOptions(maxPixelSize: limit)
                    let ours = try Codecs.decode(data, options: options)
                    let theirs = try Codecs.decode(throughLibPNG(data), options: options)
                    #expect(try bytes(ours) == bytes(theirs) ? true : false, "\(width) × \(height), round \(round)")
                    #expect(ours.hasAlpha == theirs.hasAlpha)
                }
            }
        }
    }

    @Test("The fast decoder and libpng give the same bytes for all fixtures") func fastAndLibPNGFixtures() throws {
        for name in try allFixtureNames().filter({ $0.hasSuffix(".png") && $0 != "bomb.png" }) {
            let data = try fixture(name)
            let same = try bytes(Codecs.decode(data)) == bytes(Codecs.decode(throughLibPNG(data)))
            #expect(same, "\(name)")
            let isSlow = ["interlaced.png", "grey16.png", "alpha16.png"].contains(name)
            #expect(isFast(data) == !isSlow, "\(name)")
        }
    }

    @Test("A stream that promises a smaller window than it uses is read whole in both ways") func smallWindow() throws {
        // Each row equals the one before, which is 400 bytes away.
        let image = Bitmap(width: 100, height: 20) { bytes, bytesPerRow in
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index % bytesPerRow / 4 * 37) | 1 }
            for index in stride(from: 3, to: bytes.count, by: 4) { bytes[index] = 255 }
        }
        let data = try #require(Image(cgImage: image).pngData())
        let place = try #require(data.firstRange(of: Data("IDAT".utf8)))
        let size = data[place.lowerBound - 4..<place.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        // A window of 256 bytes, and the check of the two bytes.
        let stream = [0x08, 0x1D] + data[place.upperBound..<place.upperBound + size].dropFirst(2)
        var changed = data[..<(place.lowerBound - 4)] + PNGWriter.chunk("IDAT", Array(stream))
        changed += data[(place.upperBound + size + 4)...]
        let right = try bytes(Codecs.decode(data))
        #expect(try bytes(Codecs.decode(Data(changed))) == right)
        #expect(try bytes(Codecs.decode(throughLibPNG(Data(changed)))) == right)
    }

    @Test("The memory for decoding to a small size is bounded", .enabled(if: memoryIsOurs))
    func thumbnailMemory() async {
        await #expect(processExitsWith: .success) {
            var writer = PNGWriter(6000, 2) { x, _, _ in x & 255 }
            writer.type = 6
            // Ten megapixels, of which two lines are there; then as many as may be inflated in one go.
            writer.claimedHeight = 1700
            let gradual = writer.data
            writer.claimedHeight = 1390
            let inOneGo = writer.data
            let options = DecodingOptions(maxPixelSize: 60)
            try limitMemory()
            #expect(throws: Never.self) { try Codecs.decode(gradual, options: options) }
            let lack = #expect(throws: ImagingError.self) { try Codecs.decode(inOneGo, options: options) }
            guard case .outOfMemory(let bytes?) = lack else {
                Issue.record("\(String(describing: lack))")
                return
            }
            #expect(bytes > 30 << 20 && bytes <= 32 << 20, "\(bytes)")
        }
    }

    @Test("All 65,536 levels of 16 bits are rounded to 8 bits") func sixteenBitRounding() async throws {
        try await Self.executor.run {
            var writer = PNGWriter(256, 256) { x, y, _ in y * 256 + x }
            (writer.type, writer.depth) = (0, 16)
            writer.filter = { _ in 0 }
            let bitmap = try Codecs.decode(writer.data).bitmap()
            let isRounded = bitmap.withUnsafeBytes { bytes in
                (0..<65_536).allSatisfy { Int(bytes[$0 * 4]) == (2 * $0 + 257) / 514 }
            }
            #expect(isRounded)
        }
    }

    @Test("An image whose alpha channel is opaque everywhere has no alpha") func opaqueAlpha() throws {
        for (type, depth) in [(4, 8), (4, 16), (6, 8), (6, 16)] {
            let components = PNGWriter.components[type] ?? 0
            for isLastClear in [false, true] {
                var writer = PNGWriter(7, 3) { x, y, component in
                    let isAlpha = component == components - 1
                    return isAlpha && !(isLastClear && x == 6 && y == 2) ? (1 << depth) - 1 : 3
                }
                (writer.type, writer.depth) = (type, depth)
                #expect(try Codecs.decode(writer.data).hasAlpha == isLastClear)
            }
        }
    }

    @Test("The orientation of a PNG is read from its EXIF block") func exifOrientation() throws {
        for orientation in 1...8 {
            let block: [UInt8] = [
                0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0,
            ]
            var writer = PNGWriter(4, 2) { x, y, _ in x + y }
            writer.chunks = PNGWriter.chunk("eXIf", block)
            let image = try Codecs.decode(writer.data)
            #expect(image.imageOrientation == Orientation(exif: orientation))
            #expect(image.size == (orientation < 5 ? CGSize(width: 4, height: 2) : CGSize(width: 2, height: 4)))
        }
    }
}
