// How the lines of a PNG are written: their filters, what reads them back, and images too large for memory of their
// own.

import CKFCodecs
import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@Suite struct PNGLinesTests {
    /// What the pixels of an image are like, which decides how it is written.
    private enum Kind: CaseIterable {
        case colors, translucentColors, greys, translucentGreys, palette, twoLevels

        /// The pixel that noise becomes, premultiplied.
        func pixel(_ noise: UInt32) -> UInt32 {
            let level = (noise & 0x7F) * 0x01_0101
            return switch self {
            case .colors: 0xFF00_0000 | noise
            case .translucentColors: 0xFE00_0000 | noise & 0x7F7F7F
            case .greys: 0xFF00_0000 | level
            case .translucentGreys: (0xF0 | noise >> 28) << 24 | level
            case .palette: 0xFF10_2030 + (noise & 7)
            case .twoLevels: noise & 1 == 0 ? 0xFF00_0000 : 0xFFFF_FFFF
            }
        }
    }

    /// The pixels as libpng decodes them: blue, green, red and straight alpha.
    private func readByLibpng(_ png: Data, _ size: PixelSize) throws -> [UInt8] {
        try png.withUnsafeBytes { bytes in
            var (header, message) = (kf_png_header(), kf_message())
            let start = bytes.bindMemory(to: UInt8.self).baseAddress
            let reader = try #require(kf_png_open(start, bytes.count, &header, &message))
            defer { kf_png_close(reader) }
            var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
            let count = kf_png_read(reader, &pixels, size.width * 4, UInt32(size.height), &message)
            #expect(Int(count) == size.height)
            return pixels
        }
    }

    @Test("Images of every kind and size are written so that libpng and we read the same", arguments: Kind.allCases)
    private func kinds(kind: Kind) throws {
        var generator = SeededGenerator(state: 7)
        for (width, height) in [(1, 1), (1, 40), (40, 1), (2, 3), (17, 9), (333, 61)] {
            let rows = (0..<height).map { y in
                (0..<width).map { x in
                    // Ramps with grain: every filter is the best of some lines.
                    let grain = UInt32(truncatingIfNeeded: generator.next()) & (y % 9 == 0 ? 0xF0FF_FFFF : 0xF003_0103)
                    return kind.pixel(UInt32(x + y * 2) * 0x01_0301 & 0x7F_7F7F ^ grain & 0xF07F_7F7F)
                }
            }
            let bitmap = Bitmap.of(rows)
            let png = try #require(Image(cgImage: bitmap).pngData())
            let copy = try Codecs.decode(png).bitmap()
            #expect(copy.likeness(to: bitmap) == .infinity, "\(width)×\(height)")
            let other = try readByLibpng(png, PixelSize(width, height))
            guard !bitmap.hasAlpha else { continue }
            for y in 0..<height {
                let row = bitmap.withUnsafeBytes {
                    Array($0[y * bitmap.bytesPerRow..<y * bitmap.bytesPerRow + width * 4])
                }
                #expect(row == Array(other[y * width * 4..<(y + 1) * width * 4]), "\(width)×\(height), row \(y)")
            }
        }
    }

    @Test("Each line takes the filter that leaves the smallest numbers") func filters() throws {
        var generator = SeededGenerator(state: 3)
        let width = 200
        func noise() -> [Int] { (0..<width).map { _ in Int(generator.next() >> 56) } }
        let (first, second, last) = (noise(), noise(), noise())
        var average: [Int] = []
        for above in second { average.append(((average.last ?? 0) + above) / 2) }
        let half = width / 2
        let nearZero = (0..<width).map { _ in [0, 1, 254, 255][Int(generator.next() >> 62)] }
        let lines: [[Int]] = [
            first, first, [Int](repeating: 200, count: width), second, average, nearZero,
            // Half of the line is that above, and half goes on as it is.
            last[..<half] + [Int](repeating: 100, count: half), last[..<half] + [Int](repeating: 200, count: half),
        ]
        let bitmap = Bitmap.of(lines.map { line in line.map { 0xFF00_0000 | UInt32($0) * 0x01_0101 } })
        let png = try #require(Image(cgImage: bitmap).pngData())
        let filtered = try inflated(png)
        #expect(filtered.count == lines.count * (width + 1))
        let filters = stride(from: 0, to: filtered.count, by: width + 1).map { filtered[$0] }
        #expect([1, 2, 4, 5, 7].map { filters[$0] } == [2, 1, 3, 0, 4])
        #expect(try Codecs.decode(png).bitmap().likeness(to: bitmap) == .infinity)
    }

    @Test("What surrounds the pixels is what it was: the header, sRGB, EXIF, one chunk of pixels, the end")
    func chunks() throws {
        let image = try picture("orientation-6.png")
        var encoding = ImageEncodingOptions()
        encoding.metadata = EncodedMetadata(exif: Data([0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0]))
        let png = try Codecs.encode(image, as: .png, encoding)
        #expect(names(in: png) == ["IHDR", "sRGB", "eXIf", "IDAT", "IEND"])
        let few = try #require(
            Image(cgImage: .of([[UInt32]](repeating: [0, 0xFF10_2030, 0xFFAA_BBCC], count: 40))).pngData()
        )
        #expect(names(in: few) == ["IHDR", "sRGB", "PLTE", "tRNS", "IDAT", "IEND"])
    }

    @Test("Lines of more than 32 MiB are compressed piece by piece, into the same image") func largeImages() throws {
        let (width, height) = (4096, 2731)
        let bitmap = Bitmap(width: width, height: height, hasAlpha: false) { memory, _ in
            let words = memory.bindMemory(to: UInt32.self)
            for place in words.indices { words[place] = 0xFF00_0000 | UInt32(place / 64) }
        }
        let png = try #require(Image(cgImage: bitmap).pngData())
        #expect(names(in: png).filter { $0 == "IDAT" }.count > 1)
        let pixels = bitmap.withUnsafeBytes { Data($0) }
        #expect(try Codecs.decode(png).bitmap().withUnsafeBytes { Data($0) } == pixels)
    }

    /// The names of all chunks.
    private func names(in png: Data) -> [String] {
        var (names, rest) = ([String](), png.dropFirst(8))
        while rest.count >= 12 {
            names.append(String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self))
            rest = rest.dropFirst(12 + rest.prefix(4).reduce(0) { $0 << 8 | Int($1) })
        }
        return names
    }

    /// The filtered lines of an image whose pixels are in one chunk.
    private func inflated(_ png: Data) throws -> [UInt8] {
        let name = try #require(png.range(of: Data("IDAT".utf8)))
        let count = png[name.lowerBound - 4..<name.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        let decoder = try #require(ContentDecoder(["deflate"]))
        var lines: [UInt8] = []
        png[name.upperBound..<name.upperBound + count].withUnsafeBytes { stream in
            #expect(
                decoder.decode(stream) {
                    lines += $0; return true
                } && decoder.isComplete
            )
        }
        return lines
    }
}
