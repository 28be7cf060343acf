// Still AVIF images that are changed: order, size, crops, and damage.

import Foundation
import KFImaging
import KFSupport
import Testing

@Suite struct AVIFStillTests {
    @Test("Colours and transparency may lie in either order")
    func itemsInEitherOrder() throws {
        let data = try fixture("alpha.avif")
        #expect(try rows(data) == rows(data.withItemsExchanged()))
    }

    @Test("An image of another size than announced is scaled to the announced size")
    func otherSizeThanAnnounced() throws {
        var data = try fixture("photo.avif")
        let place = try #require(data.range(of: Data("ispe".utf8))).upperBound + 4
        #expect(data[place + 3] == 96)
        data[place + 3] = 90
        let bitmap = try Codecs.decode(data).bitmap()
        #expect(bitmap.width == 90 && bitmap.height == 64)
        let whole = try picture("photo.avif").bitmap().resampled(to: PixelSize(90, 64))
        #expect(bitmap.likeness(to: whole) > 30)
    }

    @Test("Alpha of the limited range is stretched to the full range")
    func limitedTransparency() throws {
        let alphas = try rows(fixture("alpha-limited.avif")).joined().map(\.a)
        #expect(alphas.min() == 0 && alphas.max() == 255)
    }

    private func rows(_ data: Data) throws -> [[Pixel]] { try Codecs.decode(data).bitmap().rows }

    @Test("Crops at odd pixels are applied, even where chroma has half the resolution") func oddCrops() throws {
        let whole = try fixture("cropped.avif")
        let box = try #require(whole.range(of: Data("clap".utf8))).upperBound
        // Of 80 × 60 pixels the 39 × 29 from (11, 13) on, where the file has 40 × 30 from (10, 12): the size and the
        // distance between the two centres, as fractions.
        let numbers: [Int32] = [39, 1, 29, 1, -19, 2, -5, 2]
        var odd = whole
        let content = numbers.flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        odd.replaceSubrange(box..<box + 32, with: content)
        let (even, cropped) = (try #require(Image(data: whole)), try #require(Image(data: odd)))
        #expect(cropped.pixelWidth == 29 && cropped.pixelHeight == 39)
        // The first column and row are gone, which the file's turn and mirroring make the last row and column.
        let part = try #require(even.cgImage?.cropping(to: CGRect(x: 0, y: 0, width: 29, height: 39)))
        #expect(cropped.cgImage?.rows == part.rows)
    }

    @Test("Broken data is an error")
    func brokenData() throws {
        var data = try fixture("photo.avif")
        // The frame header, behind the two bytes of the delimiter and the sequence header.
        let header = try #require(data.range(of: Data([0x12, 0x00, 0x0A]))).upperBound
        let frame = header + 1 + Int(data[header])
        #expect(data[frame] == 0x32)
        for offset in frame + 3..<frame + 6 { data[offset] = 0xFF }
        #expect(Codecs.diagnose(data) == .malformed(.avif, detail: "Decoding of color planes failed"))
    }
}

extension Data {
    private func number(at offset: Int) -> Int { self[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }

    private mutating func setNumber(_ value: Int, at offset: Int) {
        for index in 0..<4 { self[offset + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
    }

    /// The file, whose last box holds two items in a row, with these in the opposite order.
    fileprivate func withItemsExchanged() throws -> Data {
        let start = try #require(range(of: Data("mdat".utf8))).upperBound
        let places = 0..<start - 16
        let first = try #require(places.first { number(at: $0) == start })
        let length = number(at: first + 4)
        let second = try #require(places.first { number(at: $0) == start + length })
        var copy = self
        copy.setNumber(start + number(at: second + 4), at: first)
        copy.setNumber(start, at: second)
        copy.replaceSubrange(start..., with: self[(start + length)...] + self[start..<start + length])
        return copy
    }
}
