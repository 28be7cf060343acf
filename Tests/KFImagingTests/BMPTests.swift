// Windows bitmaps: alpha, palettes, damage, and hostile numbers.

import Foundation
import KFImaging
import Testing

/// A number, the lowest byte first.
func littleEndian(_ value: Int, _ count: Int = 4) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
}

/// The header of a bitmap without that of a file: 40 bytes.
func bitmapHeader(_ width: Int, _ height: Int, depth: Int, compression: Int = 0, colors: Int = 0) -> Data {
    littleEndian(40) + littleEndian(width) + littleEndian(height) + littleEndian(1, 2) + littleEndian(depth, 2)
        + littleEndian(compression) + Data(count: 12) + littleEndian(colors) + Data(count: 4)
}

/// A file of a header, a palette and rows.
private func file(_ header: Data, palette: Data = Data(), _ rows: Data) -> Data {
    let offset = 14 + header.count + palette.count
    return Data("BM".utf8) + littleEndian(offset + rows.count) + Data(count: 4) + littleEndian(offset) + header
        + palette
        + rows
}

@Suite struct BMPTests {
    @Test("32-bit pixels whose alpha is 0 everywhere are opaque; otherwise alpha applies")
    func emptyAlpha() throws {
        let header = bitmapHeader(2, 1, depth: 32)
        let opaque = try Codecs.decode(file(header, Data([1, 2, 3, 0, 4, 5, 6, 0]))).bitmap()
        #expect(opaque.rows == [[Pixel(r: 3, g: 2, b: 1), Pixel(r: 6, g: 5, b: 4)]] && !opaque.hasAlpha)
        let other = try Codecs.decode(file(header, Data([1, 2, 3, 0, 4, 5, 6, 255]))).bitmap()
        #expect(other.rows == [[Pixel(r: 0, g: 0, b: 0, a: 0), Pixel(r: 6, g: 5, b: 4)]] && other.hasAlpha)
    }

    @Test("A truncated file keeps its complete rows, and others are transparent")
    func cutRows() throws {
        let whole = try picture("grey.bmp").bitmap()
        let half = try Codecs.decode(fixture("grey.bmp").dropLast(96 * 20 + 5)).bitmap()
        #expect(half.size == whole.size && half.hasAlpha)
        // The file begins with the lowest row.
        #expect(Array(half.rows.suffix(43)) == Array(whole.rows.suffix(43)))
        #expect(half.rows.prefix(21).joined().allSatisfy { $0.a == 0 })
        let header = bitmapHeader(2, -3, depth: 24)
        let rows = Data([1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0, 13])
        let upper = try Codecs.decode(file(header, rows)).bitmap()
        #expect(upper[1, 1] == Pixel(r: 12, g: 11, b: 10) && upper[0, 2].a == 0)
        // The padding of the last row may be missing.
        #expect(try !Codecs.decode(file(bitmapHeader(2, -2, depth: 24), rows.prefix(14))).bitmap().hasAlpha)
    }

    @Test("Without a single row there is no image")
    func noRows() throws {
        for rows in [Data(), Data(count: 5)] {
            let data = file(bitmapHeader(2, 3, depth: 24), rows)
            #expect(Codecs.diagnose(data) == .malformed(.bmp, detail: "the data ends before the first row"))
        }
        let runs = file(bitmapHeader(2, 3, depth: 8, compression: 1), palette: Data(count: 1024), Data())
        #expect(Codecs.diagnose(runs) == .malformed(.bmp, detail: "the data ends before the first row"))
    }

    @Test("A palette may be shorter than the depth allows, and indices beyond it are black")
    func shortPalette() throws {
        let header = bitmapHeader(3, 1, depth: 8, colors: 2)
        let bitmap = try Codecs.decode(file(header, palette: Data([1, 2, 3, 0, 4, 5, 6, 0]), Data([0, 1, 200, 0])))
            .bitmap()
        #expect(bitmap.rows == [[Pixel(r: 3, g: 2, b: 1), Pixel(r: 6, g: 5, b: 4), Pixel(r: 0, g: 0, b: 0)]])
    }

    @Test("An offset within the palette does not count where there is room for the rows behind the palette")
    func offsetWithinPalette() throws {
        let header = bitmapHeader(3, 1, depth: 8)
        let palette = (0..<256).map { Data([UInt8($0), 2, 3, 0]) }.reduce(Data(), +)
        let expected = [[Pixel(r: 3, g: 2, b: 0), Pixel(r: 3, g: 2, b: 200), Pixel(r: 3, g: 2, b: 7)]]
        var data = file(header, palette: palette, Data([0, 200, 7, 0]))
        data.replaceSubrange(10..<14, with: littleEndian(54))
        #expect(try Codecs.decode(data).bitmap().rows == expected)
        // A palette that is shorter than it could be, and says so by the offset only.
        let short = file(header, palette: palette.prefix(12), Data([0, 2, 1, 0]))
        for trailing in [0, 2_000] {
            let bitmap = try Codecs.decode(short + Data(count: trailing)).bitmap()
            #expect(bitmap[1, 0] == Pixel(r: 3, g: 2, b: 2), "\(trailing) bytes behind the rows")
        }
    }

    @Test("Runs beyond the edges of the image are cut off")
    func runsBeyondTheEdge() throws {
        let header = bitmapHeader(2, 2, depth: 8, compression: 1, colors: 2)
        let runs = Data([200, 1, 0, 2, 255, 0, 9, 1, 0, 0, 0, 4, 1, 0, 1, 0, 0, 2, 0, 255, 5, 1])
        let bitmap = try Codecs.decode(file(header, palette: Data([1, 2, 3, 0, 4, 5, 6, 0]), runs)).bitmap()
        let (one, two) = (Pixel(r: 3, g: 2, b: 1), Pixel(r: 6, g: 5, b: 4))
        #expect(bitmap.rows == [[two, one], [two, two]])
    }

    @Test("An image that is too large is refused before memory is taken, and invalid numbers are errors with a reason")
    func hostileNumbers() throws {
        let large = file(
            bitmapHeader(60_000, -60_000, depth: 8, compression: 1),
            palette: Data(count: 1024),
            Data(count: 4)
        )
        let refusal = ImagingError.limitExceeded(
            limit: "maxPixelCount",
            allowed: 1 << 28,
            width: 60_000,
            height: 60_000
        )
        #expect(Codecs.diagnose(large) == refusal)
        let flat = file(bitmapHeader(0, 5, depth: 24), Data(count: 20))
        #expect(Codecs.diagnose(flat) == .malformed(.bmp, detail: "the image has no pixels"))
        let jpeg = file(bitmapHeader(5, 5, depth: 24, compression: 4), Data(count: 20))
        #expect(Codecs.diagnose(jpeg) == .unsupported(.bmp, detail: "compression 4 of pixels of 24 bits"))
        let least = file(bitmapHeader(1, Int(Int32.min), depth: 1), Data(count: 20))
        #expect(Codecs.diagnose(least)?.description.contains("maxPixelCount") == true)
    }

    @Test("Data that begins with BM is not taken for a bitmap by these letters alone")
    func letters() {
        #expect(ImageContentType(sniffing: Data("BM".utf8)) == nil)
        #expect(ImageContentType(sniffing: Data("BMW drivers of all countries".utf8)) == nil)
        #expect(Codecs.diagnose(Data("BMW drivers".utf8)) == .unrecognizedFormat(resembling: "plain text"))
    }
}
