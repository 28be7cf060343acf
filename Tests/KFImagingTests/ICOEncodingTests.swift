// Icons that are written: their directory, their images, and what our own decoder makes of them.

import Foundation
import KFImaging
import Testing

@Suite struct ICOEncodingTests {
    /// The sizes in the directory of an icon, and the images it points to, which have them.
    private func entries(_ icon: Data) throws -> [(size: [Int], image: Image)] {
        let bytes = [UInt8](icon)
        func number(_ offset: Int, _ count: Int) -> Int {
            bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        #expect(number(0, 2) == 0 && number(2, 2) == 1)
        return try (0..<number(4, 2)).map { index in
            let entry = 6 + index * 16
            #expect(number(entry + 4, 2) == 1 && number(entry + 6, 2) == 32)
            let (count, offset) = (number(entry + 8, 4), number(entry + 12, 4))
            let image = try Codecs.decode(Data(bytes[offset..<offset + count]))
            #expect(image.contentType == .png)
            let size = [entry, entry + 1].map { bytes[$0] == 0 ? 256 : Int(bytes[$0]) }
            #expect(size == [image.pixelWidth, image.pixelHeight])
            return (size, image)
        }
    }

    private func encoded(_ bitmap: Bitmap, _ sides: [Int]? = nil) throws -> Data {
        var options = ImageEncodingOptions()
        options.iconSides = sides
        return try Codecs.encode(Image(cgImage: bitmap), as: .ico, options)
    }

    @Test(
        "An icon has the image's own size, up to 256, and the usual ones that are smaller",
        arguments: [
            (300, [16, 32, 48, 256]), (256, [16, 32, 48, 256]), (255, [16, 32, 48, 255]), (64, [16, 32, 48, 64]),
            (48, [16, 32, 48]), (20, [16, 20]), (16, [16]), (3, [3]),
        ]
    )
    func usualSizes(side: Int, sides: [Int]) throws {
        let icon = try encoded(.solid(0xFF20_40C0, side, side))
        let entries = try entries(icon)
        #expect(entries.map(\.size) == sides.map { [$0, $0] })
        for entry in entries { #expect(try entry.image.bitmap()[2, 2] == Pixel(r: 0x20, g: 0x40, b: 0xC0)) }
        let largest = try Codecs.decode(icon)
        #expect(largest.contentType == .ico && largest.pixelWidth == sides.last && largest.pixelHeight == sides.last)
        #expect(try ImageInfo(data: icon).pixelWidth == sides.last)
    }

    @Test(
        "An image that is no square keeps its proportions in every size, and the one that is read is its own",
        arguments: [
            ([300, 200], [[16, 11], [32, 21], [48, 32], [256, 171]]),
            ([100, 10], [[16, 2], [32, 3], [48, 5], [100, 10]]),
            ([4, 512], [[1, 16], [1, 32], [1, 48], [2, 256]]), ([1, 257], [[1, 16], [1, 32], [1, 48], [1, 256]]),
        ]
    )
    func proportions(size: [Int], sizes: [[Int]]) throws {
        let icon = try encoded(.solid(0xFF20_40C0, size[0], size[1]))
        let entries = try entries(icon)
        #expect(entries.map(\.size) == sizes)
        for entry in entries { #expect(try entry.image.bitmap()[0, 0] == Pixel(r: 0x20, g: 0x40, b: 0xC0)) }
        let read = try Codecs.decode(icon)
        #expect([read.pixelWidth, read.pixelHeight] == sizes.last)
    }

    @Test("The sizes asked for are written, larger than the image too, and what no icon holds is left out")
    func namedSizes() throws {
        let entries = try entries(encoded(.solid(0xFF20_40C0, 30, 30), [24, 64, 300, 0]))
        #expect(entries.map(\.size) == [[24, 24], [64, 64]])
    }

    @Test("In sizes asked for, an image that is no square has transparent margins") func margins() throws {
        let image = try Codecs.decode(encoded(.solid(0xFFFF_0000, 60, 30), [20])).bitmap()
        let red = Pixel(r: 255, g: 0, b: 0)
        #expect((0..<20).map { image[10, $0] == red } == (0..<20).map { (5..<15).contains($0) })
        #expect(image[10, 0].a == 0 && image[10, 19].a == 0)
    }
}
