// AVIF grids: each part has a decoder and memory of its own, so parts that are too many or too large are refused.

import Foundation
import KFImaging
import Testing

/// Writes grids that share the data of their parts.
private struct Grid {
    var columns = 2
    var rows = 2
    var size = (width: 128, height: 128)
    /// The size of each part according to the container.
    var partSize = 64
    /// The size according to the data of the first part, and to those of all others.
    var firstSide = 64
    var otherSide = 64
    var place = Place.apart

    enum Place {
        /// The place of the data of the other parts: behind those of the first, in a unit of it that decoders skip, or
        /// among the boxes.
        case apart, insideTheFirst, amongTheBoxes
    }

    func data() throws -> Data {
        let (first, configuration) = try Self.image(side: firstSide)
        let other = try Self.image(side: otherSide).data
        let count = columns * rows
        let description =
            Data([0, 0, UInt8(rows - 1), UInt8(columns - 1)]) + Box.word(size.width) + Box.word(size.height)
        // A padding unit; its size is written in two bytes.
        let padding = Data([15 << 3 | 2, UInt8(other.count & 127 | 128), UInt8(other.count >> 7)])
        let pixels = place == .apart ? first + other : place == .insideTheFirst ? first + padding + other : first
        let inside = Box.box("idat", description + (place == .amongTheBoxes ? other : Data()))
        let kinds = (1...count + 1).map { id in
            Box.full("infe", 3, Box.long(id) + Box.word(0) + Data((id == 1 ? "grid" : "av01").utf8) + Data([0]))
        }
        let sizes = Box.size(size.width, size.height) + Box.size(partSize, partSize) + configuration
        let uses = (1...count + 1).map { id in
            Box.long(id) + (id == 1 ? Data([1, 1]) : Data([2, 2, 0x83]))
        }
        let parts = Box.long(1) + Box.word(count) + (2...count + 1).reduce(Data()) { $0 + Box.long($1) }
        func meta(_ start: Int) -> Data {
            let isInside = place == .amongTheBoxes
            let firstEnd = place == .insideTheFirst ? pixels.count : first.count
            let otherStart = isInside ? description.count : start + pixels.count - other.count
            let places = (1...count + 1).map { id in
                switch id {
                case 1: Self.place(id, isInside: true, 0, description.count)
                case 2: Self.place(id, isInside: false, start, firstEnd)
                default: Self.place(id, isInside: isInside, otherStart, other.count)
                }
            }
            return Box.full(
                "meta",
                0,
                Box.full("hdlr", 0, Data(count: 4) + Data("pict".utf8) + Data(count: 13))
                    + Box.full("pitm", 1, Box.long(1))
                    + Box.full("iloc", 2, Data([0x44, 0]) + Box.long(count + 1) + places.reduce(Data(), +))
                    + Box.full("iinf", 1, Box.long(count + 1) + kinds.reduce(Data(), +))
                    + Box.full("iref", 1, Box.box("dimg", parts))
                    + Box.box(
                        "iprp",
                        Box.box("ipco", sizes) + Box.full("ipma", 1, Box.long(count + 1) + uses.reduce(Data(), +))
                    ) + inside
            )
        }
        let head = Box.box("ftyp", Data("avif".utf8) + Data(count: 4) + Data("avifmif1miaf".utf8))
        return head + meta(head.count + meta(0).count + 8) + Box.box("mdat", pixels)
    }

    /// The AV1 data of a square of one colour, and the box with their configuration.
    private static func image(side: Int) throws -> (data: Data, configuration: Data) {
        let file = try Codecs.encode(Image(cgImage: .solid(0xFF30_60C0, side, side)), as: .avif)
        let kind = try #require(file.range(of: Data("av1C".utf8))).lowerBound - 4
        let pixels = try #require(file.range(of: Data("mdat".utf8))).upperBound
        return (file[pixels...], file[kind..<kind + Int(file[kind + 3])])
    }

    private static func place(_ id: Int, isInside: Bool, _ start: Int, _ count: Int) -> Data {
        Box.long(id) + Box.word(isInside ? 1 : 0) + Box.word(0) + Box.word(1) + Box.long(start) + Box.long(count)
    }
}

@Suite struct AVIFGridTests {
    private func refusal(of grid: Grid) throws -> ImagingError? { Codecs.diagnose(try grid.data()) }

    @Test("A grid is decoded, whatever the place of its parts", arguments: [Grid.Place.apart, .amongTheBoxes])
    fileprivate func decodedWherePartsLie(place: Grid.Place) throws {
        let bitmap = try Codecs.decode(Grid(place: place).data()).bitmap()
        #expect(bitmap.width == 128 && bitmap.height == 128)
        for (x, y) in [(0, 0), (127, 0), (64, 64), (0, 127)] {
            #expect(bitmap[x, y].isNear(Pixel(r: 0x30, g: 0x60, b: 0xC0), within: 4))
        }
    }

    @Test("More parts than an image of its size needs are refused")
    func tooManyPartsRefused() throws {
        let many = Grid(columns: 32, rows: 32, size: (2048, 2048))
        #expect(try refusal(of: many) == .malformed(.avif, detail: "Invalid image grid"))
    }

    @Test(
        "Parts larger than announced are refused before they take memory",
        arguments: [
            // Each part alone is within the limit, all of them together are not.
            Grid(columns: 8, rows: 8, size: (512, 512), firstSide: 1024, otherSide: 1024),
            Grid(otherSide: 2048), Grid(otherSide: 2048, place: .insideTheFirst),
            Grid(otherSide: 2048, place: .amongTheBoxes),
        ]
    )
    fileprivate func largePartsRefused(grid: Grid) throws {
        #expect(try refusal(of: grid) == .malformed(.avif, detail: "Decoding of color planes failed"))
    }

    @Test("Parts are not scaled to a size far beyond the image's")
    func noUpscaledParts() throws {
        #expect(try refusal(of: Grid(partSize: 16384))?.malformedType == .avif)
    }
}
