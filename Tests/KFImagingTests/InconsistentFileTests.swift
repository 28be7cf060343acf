// Files whose parts contradict each other: they are shown as far as possible, or refused with an error.

import Foundation
import KFImaging
import Testing

extension Data {
    fileprivate func replacing(_ range: Range<Int>, with bytes: [UInt8]) -> Data {
        var copy = self
        copy.replaceSubrange(range, with: bytes)
        return copy
    }
}

private func bigEndian(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - $0 * 8)) } }
private func littleEndian(_ value: Int) -> [UInt8] { bigEndian(value).reversed() }

private func isMalformed(_ data: Data, _ type: ImageContentType) -> Bool {
    guard case .malformed(let found, _)? = Codecs.diagnose(data) else { return false }
    return found == type
}

/// A TIFF directory with an orientation that points to itself as the next one.
private let cyclicEXIF: [UInt8] =
    [0x4D, 0x4D, 0x00, 0x2A, 0, 0, 0, 8, 0, 1]
    + [0x87, 0x69, 0, 4, 0, 0, 0, 1, 0, 0, 0, 8]  // its own beginning as another directory
    + [0, 0, 0, 8]

@Suite struct InconsistentPNGTests {
    /// A fixture with a chunk put in front of its pixels.
    private func photo(with name: String, _ content: [UInt8], in file: String = "photo.png") throws -> Data {
        let data = try fixture(file)
        let place = try #require(data.range(of: Data("IDAT".utf8))).lowerBound - 4
        return data.replacing(place..<place, with: PNGWriter.chunk(name, content))
    }

    private func header(width: Int, height: Int, depth: UInt8, color: UInt8) throws -> Data {
        let content = bigEndian(width) + bigEndian(height) + [depth, color, 0, 0, 0]
        return try fixture("photo.png").replacing(8..<33, with: PNGWriter.chunk("IHDR", content))
    }

    @Test("Empty and negative sizes are refused", arguments: [(0, 64), (96, 0), (0, 0), (-1, 64)])
    func emptyPNGSizes(width: Int, height: Int) throws {
        #expect(isMalformed(try header(width: width, height: height, depth: 8, color: 2), .png))
    }

    @Test("A header with a wrong checksum is refused") func changedHeader() throws {
        var data = try fixture("photo.png")
        data[19] ^= 1
        #expect(isMalformed(data, .png))
    }

    @Test("A missing palette is an error") func missingPNGPalette() throws {
        let data = try fixture("palette.png")
        let place = try #require(data.range(of: Data("PLTE".utf8))).lowerBound - 4
        let length = data[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
        #expect(isMalformed(data.replacing(place..<place + 12 + length, with: []), .png))
    }

    @Test("An image without pixels is refused") func missingPixels() throws {
        let data = try fixture("photo.png")
        let place = try #require(data.range(of: Data("IDAT".utf8))).lowerBound - 4
        #expect(isMalformed(data.prefix(place) + Data(PNGWriter.chunk("IEND", [])), .png))
    }

    @Test(
        "Invalid auxiliary chunks do not hide the image",
        arguments: ["iCCP", "gAMA", "cHRM", "sRGB", "tRNS", "bKGD", "tEXt", "eXIf", "acTL", "fcTL", "cICP", "ruBB"]
    )
    func invalidAuxiliaryChunks(name: String) throws {
        let whole = try picture("photo.png").bitmap()
        for content in [[], [0], [UInt8](repeating: 0xFF, count: 26), Array("x\0\0not zlib".utf8)] as [[UInt8]] {
            let data = try photo(with: name, content)
            let image = try Codecs.decode(data)
            #expect(image.imageOrientation == .up)
            // Some nonsense has a meaning: a transparent colour, primaries. The image is shown even so.
            #expect(image.pixelWidth == whole.width && image.pixelHeight == whole.height)
            if name == "iCCP" || name == "eXIf" || name == "tEXt" {
                #expect(try image.bitmap().likeness(to: whole) == .infinity)
            }
        }
    }

    @Test("Wrong checksums of auxiliary chunks do not matter") func auxiliaryChecksums() throws {
        var bytes = PNGWriter.chunk("tEXt", Array("a\0b".utf8))
        bytes[bytes.count - 1] ^= 1
        let data = try fixture("photo.png")
        let place = try #require(data.range(of: Data("IDAT".utf8))).lowerBound - 4
        let image = try Codecs.decode(data.replacing(place..<place, with: bytes))
        #expect(try image.bitmap().likeness(to: picture("photo.png").bitmap()) == .infinity)
    }

    @Test("EXIF that points to itself is ignored") func cyclicPNGEXIF() throws {
        #expect(try Codecs.decode(photo(with: "eXIf", cyclicEXIF)).imageOrientation == .up)
        #expect(try ImageInfo(data: photo(with: "eXIf", cyclicEXIF)).orientation == .up)
    }

    @Test(
        "Orientations that are no integers are ignored",
        arguments: [(3, Orientation.right), (4, .right), (1, .right), (2, .up), (5, .up), (7, .up)]
            as [(UInt8, Orientation)]
    )
    func orientationTypes(type: UInt8, orientation: Orientation) throws {
        // The type decides how the bytes are read: 3 is a number of two bytes, 2 is text.
        let block: [UInt8] = [
            0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, type, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0,
        ]
        #expect(try Codecs.decode(photo(with: "eXIf", block)).imageOrientation == orientation)
    }

    @Test("Wrong frame counts do not hide the image", arguments: [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF])
    func wrongFrameCounts(count: Int) throws {
        let data = try photo(with: "acTL", bigEndian(count) + bigEndian(0))
        #expect(try Codecs.decode(data).pixelWidth == 96)
        #expect(try ImageInfo(data: data).pixelWidth == 96)
        let source = (try? Codecs.frameSource(of: data)) ?? nil
        #expect((source?.frameCount ?? 0) <= 10_000)
    }
}

@Suite struct InconsistentGIFTests {
    private let pixel: [UInt8] = [0x02, 0x02, 0x44, 0x01, 0x00]

    private func gif(_ width: Int, _ height: Int, palette: Bool = true, _ blocks: [UInt8]) -> Data {
        let flags: UInt8 = palette ? 0x80 : 0
        let colors: [UInt8] = palette ? [255, 0, 0, 0, 0, 255] : []
        return Data(Array("GIF89a".utf8) + short(width) + short(height) + [flags, 0, 0] + colors + blocks + [0x3B])
    }

    private func short(_ value: Int) -> [UInt8] { Array(littleEndian(value).prefix(2)) }

    private func frame(x: Int = 0, y: Int = 0, _ width: Int = 1, _ height: Int = 1) -> [UInt8] {
        [0x2C] + short(x) + short(y) + short(width) + short(height) + [0] + pixel
    }

    @Test("A frame outside the screen shows nothing, unless it is the first") func frameOutsideScreen() throws {
        let image = try Codecs.decode(gif(4, 3, frame(x: 100, y: 100)))
        #expect(image.pixelWidth == 101 && image.pixelHeight == 101)
        let source = (try? Codecs.frameSource(of: gif(4, 3, frame() + frame(x: 10_000, y: 10_000) + frame()))) ?? nil
        let frames = try #require(source)
        #expect(frames.frameCount == 3)
        for index in 0..<3 { #expect(frames.frame(at: index).map { $0.size == PixelSize(4, 3) } ?? true) }
        #expect(frames.frame(at: 2)?[0, 0] == Pixel(r: 255, g: 0, b: 0))
    }

    @Test("A missing palette does not crash") func missingGIFPalette() {
        let data = gif(1, 1, palette: false, frame())
        if let image = try? Codecs.decode(data) { #expect(image.pixelWidth == 1) }
        _ = try? Codecs.frameSource(of: data)
    }

    @Test("A transparent index beyond the palette is ignored") func transparentIndex() throws {
        let control: [UInt8] = [0x21, 0xF9, 4, 1, 0, 0, 200, 0]
        #expect(try Codecs.decode(gif(1, 1, control + frame())).bitmap()[0, 0] == Pixel(r: 255, g: 0, b: 0))
    }

    @Test("Impossible code sizes do not crash", arguments: [0, 1, 9, 12, 255] as [UInt8])
    func impossibleCodeSizes(size: UInt8) {
        var blocks = frame()
        blocks[10] = size
        let image = try? Codecs.decode(gif(1, 1, blocks))
        #expect((image?.pixelWidth ?? 1) == 1)
    }

    @Test("A screen without frames is malformed") func screenWithoutFrames() {
        #expect(isMalformed(gif(10, 10, []), .gif))
        #expect(isMalformed(gif(10, 10, [0x21, 0xF9, 4, 1, 0, 0, 0, 0]), .gif))
    }
}

@Suite struct InconsistentJPEGTests {
    /// A fixture with a segment put behind its first marker.
    private func photo(with marker: UInt8, _ content: [UInt8], length: Int? = nil) throws -> Data {
        let count = length ?? content.count + 2
        return try fixture("photo.jpg").replacing(2..<2, with: [0xFF, marker] + bigEndian(count).suffix(2) + content)
    }

    private func place(of marker: UInt8, in data: Data) throws -> Int {
        try #require(data.range(of: Data([0xFF, marker]))).lowerBound
    }

    @Test("EXIF that points to itself is ignored") func cyclicJPEGEXIF() throws {
        let image = try Codecs.decode(photo(with: 0xE1, Array("Exif\0\0".utf8) + cyclicEXIF))
        #expect(image.imageOrientation == .up && image.pixelWidth == 96)
    }

    @Test(
        "Broken colour profiles are ignored",
        arguments: [
            [], [1, 1], [1, 2] + [UInt8](repeating: 0xFF, count: 60), [1, 1] + [UInt8](repeating: 7, count: 500),
        ]
    )
    func brokenJPEGProfiles(content: [UInt8]) throws {
        let data = try photo(with: 0xE2, Array("ICC_PROFILE\0".utf8) + content)
        #expect(try Codecs.decode(data).bitmap().likeness(to: picture("photo.jpg").bitmap()) == .infinity)
        #expect(try ImageInfo(data: data).colorProfileName == nil)
    }

    @Test("Segments with a length too small to hold itself are skipped", arguments: [0, 1])
    func shortSegments(length: Int) throws {
        #expect(try Codecs.decode(photo(with: 0xEF, [], length: length)).pixelWidth == 96)
    }

    @Test("Segments longer than the file are refused") func oversizedSegments() throws {
        #expect(isMalformed(try photo(with: 0xEF, [], length: 0xFFFF), .jpeg))
    }

    @Test("A width or height of 0 is refused", arguments: [5, 7])
    func emptyJPEGSizes(offset: Int) throws {
        let data = try fixture("photo.jpg")
        let frame = try place(of: 0xC0, in: data)
        let error = Codecs.diagnose(data.replacing(frame + offset..<frame + offset + 2, with: [0, 0]))
        switch error {
        case .malformed(.jpeg, _)?, .unsupported(.jpeg, _)?: break
        default: Issue.record("\(String(describing: error))")
        }
    }

    @Test("Images beyond the limits are refused after the header") func oversizedImages() throws {
        let data = try fixture("photo.jpg")
        let frame = try place(of: 0xC0, in: data)
        let huge = data.replacing(frame + 5..<frame + 9, with: [0xFF, 0xDC, 0xFF, 0xDC])
        let expected = ImagingError.limitExceeded(
            limit: "maxPixelCount",
            allowed: 1 << 28,
            width: 65_500,
            height: 65_500
        )
        #expect(Codecs.diagnose(huge) == expected)
    }

    @Test("Missing tables are an error, unless libjpeg has standard ones", arguments: [0xDB, 0xC4] as [UInt8])
    func missingTables(marker: UInt8) throws {
        // The first table of its kind becomes a comment, and so do those behind it.
        var data = try fixture("photo.jpg")
        while let place = data.range(of: Data([0xFF, marker]))?.lowerBound { data[place + 1] = 0xFE }
        #expect(Codecs.diagnose(data) != nil || marker == 0xC4, "libjpeg has standard tables for one of the two")
    }
}

@Suite struct InconsistentWebPTests {
    private func container(_ chunks: [(String, [UInt8])]) -> Data {
        var body = Array("WEBP".utf8)
        for (name, content) in chunks {
            body += Array(name.utf8) + littleEndian(content.count) + content
            if content.count % 2 == 1 { body.append(0) }
        }
        return Data(Array("RIFF".utf8) + littleEndian(body.count) + body)
    }

    /// The coded image of a fixture, without what surrounds it.
    private func coded(_ name: String) throws -> (String, [UInt8]) {
        let data = try fixture(name)
        let length = data[16..<20].reversed().reduce(0) { $0 << 8 | Int($1) }
        return (String(decoding: data[12..<16], as: UTF8.self), Array(data[20..<20 + length]))
    }

    private func extended(_ flags: UInt8, width: Int, height: Int) -> (String, [UInt8]) {
        ("VP8X", [flags, 0, 0, 0] + littleEndian(width - 1).prefix(3) + littleEndian(height - 1).prefix(3))
    }

    @Test("Broken profiles and EXIF are ignored") func brokenWebPMetadata() throws {
        let data = container([
            extended(0x28, width: 96, height: 64), ("ICCP", Array("no profile".utf8)), try coded("photo.webp"),
            ("EXIF", cyclicEXIF),
        ])
        let image = try Codecs.decode(data)
        #expect(image.imageOrientation == .up)
        #expect(try image.bitmap().likeness(to: picture("photo.webp").bitmap()) == .infinity)
    }

    @Test(
        "A canvas of another size than the image does not crash",
        arguments: [(10, 10), (1 << 14, 1 << 14), (1 << 24, 1 << 24), (97, 64)]
    )
    func wrongCanvas(width: Int, height: Int) throws {
        let data = container([extended(0, width: width, height: height), try coded("photo.webp")])
        guard let image = try? Codecs.decode(data) else { return }
        #expect(image.pixelWidth <= width && image.pixelHeight <= height)
    }

    @Test("Frames outside the canvas are none") func framesOutsideCanvas() throws {
        let coded = try coded("photo.webp")
        let far = littleEndian(5000).prefix(3)
        let size = littleEndian(95).prefix(3) + littleEndian(63).prefix(3)
        let frame =
            Array(far + far + size) + [100, 0, 0, 0] + Array(coded.0.utf8) + littleEndian(coded.1.count) + coded.1
        let data = container([
            extended(2, width: 96, height: 64), ("ANIM", [0, 0, 0, 0, 0, 0]), ("ANMF", frame), ("ANMF", frame),
        ])
        if let image = try? Codecs.decode(data) {
            #expect(image.pixelWidth == 96 && image.pixelHeight == 64 && image.frameCount == nil)
        }
        #expect((try? ImageInfo(data: data))?.frameCount != 0)
        #expect(((try? Codecs.frameSource(of: data)) ?? nil) == nil)
    }

    @Test("Lengths beyond the end of the file do not crash") func lengthsBeyondFile() throws {
        let data = try fixture("photo.webp")
        for place in [4, 16] { _ = Codecs.diagnose(data.replacing(place..<place + 4, with: [0xFF, 0xFF, 0xFF, 0xFF])) }
        #expect(isMalformed(data.prefix(12), .webp))
    }

    @Test("A lossless image that is marked as opaque is opaque") func opaqueLosslessImage() throws {
        // The bit in the header of the coded image that announces an alpha, taken away; the alpha is still there.
        var data = try fixture("alpha.webp")
        let header = try #require(data.range(of: Data("VP8L".utf8))).upperBound + 4
        #expect(data[header] == 0x2F && data[header + 4] & 0x10 != 0)
        data[header + 4] &= ~0x10
        if let extended = data.range(of: Data("VP8X".utf8)) { data[extended.upperBound + 4] &= ~0x10 }
        let bitmap = try Codecs.decode(data).bitmap()
        #expect(!bitmap.hasAlpha && bitmap.rows.joined().allSatisfy { $0.a == 255 })
    }

    @Test("Alpha that the header does not announce is not shown") func unannouncedAlpha() throws {
        let alpha = [0] + [UInt8](repeating: 7, count: 96 * 64)
        let data = container([extended(0, width: 96, height: 64), ("ALPH", alpha), try coded("photo.webp")])
        let bitmap = try Codecs.decode(data).bitmap()
        #expect(!bitmap.hasAlpha && bitmap.rows.joined().allSatisfy { $0.a == 255 })
    }

    @Test("Lossless frames that are marked as opaque are opaque") func opaqueLosslessFrames() throws {
        // The same taken away from each frame of an animation.
        let pixels: [[UInt32]] = [[0x4032_190C, 0x8040_2010], [0xFF64_3232, 0x2010_0804]]
        let frames = pixels.map { Bitmap.of([$0, $0.reversed()]) }
        let image = try #require(Image.animatedImage(with: frames.map { Image(cgImage: $0) }, duration: 1))
        var data = try Codecs.encode(#require(image.frames), as: .webp, lossless: true)
        var place = data.startIndex
        while let header = data.range(of: Data("VP8L".utf8), in: place..<data.endIndex)?.upperBound {
            data[header + 8] &= ~0x10
            place = header
        }
        let source = try #require(try Codecs.frameSource(of: data))
        for index in 0..<source.frameCount {
            let bitmap = try #require(source.frame(at: index))
            #expect(bitmap.rows.joined().allSatisfy { $0.a == 255 })
        }
        #expect(try Codecs.decode(data).bitmap().rows == source.frame(at: 0)?.rows)
    }

    @Test("An image that ends within its alpha is refused", arguments: [40, 60, 200])
    func truncatedAlpha(length: Int) throws {
        // The size of the image follows its alpha.
        let data = container([extended(0, width: 32, height: 32), ("ALPH", [UInt8](repeating: 0, count: 500))])
        #expect(isMalformed(data.prefix(length), .webp))
    }
}

@Suite struct InconsistentAVIFTests {
    private func box(_ name: String, in data: Data) throws -> Int {
        try #require(data.range(of: Data(name.utf8))).lowerBound
    }

    @Test(
        "Announced sizes that are not the image's are refused",
        arguments: [(0, 64), (96, 0), (1 << 20, 1 << 20), (-1, -1)]
    )
    func wrongAVIFSizes(width: Int, height: Int) throws {
        let data = try fixture("photo.avif")
        let place = try box("ispe", in: data) + 8
        #expect(Codecs.diagnose(data.replacing(place..<place + 8, with: bigEndian(width) + bigEndian(height))) != nil)
    }

    @Test("Missing boxes do not crash", arguments: ["meta", "iloc", "iprp", "mdat", "pitm"])
    func missingBoxes(name: String) throws {
        let data = try fixture("photo.avif")
        let place = try box(name, in: data)
        _ = Codecs.diagnose(data.replacing(place..<place + 4, with: Array("free".utf8)))
        _ = Codecs.diagnose(data.replacing(place - 4..<place, with: [0xFF, 0xFF, 0xFF, 0xFF]))
        _ = Codecs.diagnose(data.replacing(place - 4..<place, with: [0, 0, 0, 0]))
    }

    @Test("A brand without an image is malformed") func brandOnly() {
        #expect(isMalformed(Data(bigEndian(16) + Array("ftypavif".utf8) + [0, 0, 0, 0]), .avif))
    }
}

@Suite struct WrongMagicTests {
    @Test(
        "Contents of another format than the signature are refused",
        arguments: ["photo.jpg", "photo.png", "plain.gif", "photo.webp", "photo.avif"]
    )
    func wrongContents(name: String) throws {
        let contents = try fixture(name)
        let magics: [(ImageContentType, [UInt8])] = [
            (.jpeg, [0xFF, 0xD8, 0xFF]), (.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
            (.gif, Array("GIF89a".utf8)),
            (.webp, Array("RIFF".utf8) + littleEndian(contents.count) + Array("WEBP".utf8)),
            (.avif, bigEndian(16) + Array("ftypavif".utf8) + [0, 0, 0, 0]),
        ]
        for (type, magic) in magics where type != ImageContentType(sniffing: contents) {
            let data = Data(magic) + contents
            let error = Codecs.diagnose(data)
            // A JPEG decoder looks for the next marker, and finds an image when there is one.
            if type == .jpeg, error == nil { continue }
            switch error {
            case .malformed(type, _)?, .unsupported(type, _)?: break
            case .limitExceeded?: #expect(type == .gif)
            default: Issue.record("\(name) as \(type.rawValue): \(String(describing: error))")
            }
        }
    }

    @Test("The name of a file does not decide its format") func misleadingFileName() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).gif")
        try fixture("photo.png").write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        #expect(Image(contentsOfFile: path.path)?.pixelWidth == 96)
    }
}
