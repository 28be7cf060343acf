// HEIC files made of single items: parts, references and false announcements. Compiled only with the trait.

#if HEIC
import Foundation
import KFImaging
import Testing

/// Writes the items of a HEIC; items with equal data share it in the file.
private struct HEICItems {
    struct Item {
        var kind: String
        var data: Data?
        /// The numbers of its properties, counted from 1.
        var properties: [UInt8] = []
        /// The texts that follow its name.
        var texts = Data()
    }

    struct Reference {
        var kind: String
        var from: Int
        var to: [Int]
    }

    /// The items, with the identifiers 1, 2, 3 …; the first is the image.
    var items: [Item]
    var properties: [Data]
    var references: [Reference] = []

    func data() -> Data {
        var pixels = Data()
        var starts: [Data: Int] = [:]
        for case let data? in items.map(\.data) where starts[data] == nil {
            starts[data] = pixels.count
            pixels += data
        }
        let head = Box.box("ftyp", Data("heic".utf8) + Data(count: 4) + Data("mif1heic".utf8))
        let start = head.count + meta(starts, 0).count + 8
        return head + meta(starts, start) + Box.box("mdat", pixels)
    }

    private func meta(_ starts: [Data: Int], _ start: Int) -> Data {
        var (kinds, uses, places) = (Data(), Data(), Data())
        var placeCount = 0
        for (index, item) in items.enumerated() {
            let id = Box.long(index + 1)
            kinds += Box.full("infe", 3, id + Box.word(0) + Data(item.kind.utf8) + Data([0]) + item.texts)
            uses += id + Data([UInt8(item.properties.count)]) + Data(item.properties)
            guard let data = item.data, let offset = starts[data] else { continue }
            placeCount += 1
            places += id + Box.word(0) + Box.word(0) + Box.word(1) + Box.long(start + offset) + Box.long(data.count)
        }
        let belongings = references.reduce(Data()) { all, one in
            all
                + Box.box(
                    one.kind,
                    Box.long(one.from) + Box.word(one.to.count) + one.to.reduce(Data()) { $0 + Box.long($1) }
                )
        }
        let count = Box.long(items.count)
        return Box.full(
            "meta",
            0,
            Box.full("hdlr", 0, Data(count: 4) + Data("pict".utf8) + Data(count: 13))
                + Box.full("pitm", 1, Box.long(1))
                + Box.full("iloc", 2, Data([0x44, 0]) + Box.long(placeCount) + places)
                + Box.full("iinf", 1, count + kinds)
                + (references.isEmpty ? Data() : Box.full("iref", 1, belongings))
                + Box.box("iprp", Box.box("ipco", properties.reduce(Data(), +)) + Box.full("ipma", 1, count + uses))
        )
    }
}

/// A coded image of 96 × 64 pixels.
private struct Coded {
    let data: Data
    let configuration: Data

    init(_ name: String) throws {
        let file = try fixture(name)
        let start = try #require(file.range(of: Data("hvcC".utf8))).lowerBound - 4
        configuration = Data(file[start..<start + Int(file[start + 3])])
        data = Data(file[try #require(file.range(of: Data("mdat".utf8))).upperBound...])
    }

    static let size = Box.size(96, 64)
}

@Suite struct HEICItemTests {
    private let photo: Coded
    private let deep: Coded

    init() throws {
        photo = try Coded("photo.heic")
        deep = try Coded("deep.heic")
    }

    private func refusal(of items: HEICItems) -> String? {
        do {
            _ = try Codecs.decode(items.data())
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func grid(columns: Int, rows: Int, width: Int, height: Int, announced: Data? = nil) -> HEICItems {
        let count = columns * rows
        let description = Data([0, 0, UInt8(rows - 1), UInt8(columns - 1)]) + Box.word(width) + Box.word(height)
        let part = HEICItems.Item(kind: "hvc1", data: photo.data, properties: [3, 4])
        return HEICItems(
            items: [.init(kind: "grid", data: description, properties: [1, 2])] + Array(repeating: part, count: count),
            properties: [
                announced ?? Box.size(width, height), Box.full("pixi", 0, Data([3, 8, 8, 8])), Coded.size,
                photo.configuration,
            ],
            references: [.init(kind: "dimg", from: 1, to: Array(2..<count + 2))]
        )
    }

    @Test("A grid is put together from its parts") func gridOfParts() throws {
        let bitmap = try Codecs.decode(grid(columns: 2, rows: 2, width: 180, height: 120).data()).bitmap()
        let part = try picture("photo.heic").bitmap()
        #expect(bitmap.width == 180 && bitmap.height == 120)
        for (x, y) in [(10, 10), (80, 50), (40, 30)] {
            for (column, row) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let (x, y) = (min(x, 83), min(y, 55))
                #expect(bitmap[column * 96 + x, row * 64 + y].isNear(part[x, y], within: 2))
            }
        }
    }

    @Test("More or larger parts than an image needs are refused") func excessiveParts() {
        // An image of this size may have 128 parts. Their data differ in units that decoders skip.
        var many = grid(columns: 13, rows: 10, width: 96, height: 64)
        for index in 1...130 { many.items[index].data = photo.data + Box.long(3) + Data([41 << 1, 1, UInt8(index)]) }
        #expect(refusal(of: many)?.contains("more or larger parts") == true)
        #expect(refusal(of: grid(columns: 1, rows: 1, width: 2, height: 2)) == nil)
        let canvas = grid(columns: 1, rows: 1, width: 30_000, height: 16_000, announced: Box.size(96, 64))
        #expect(refusal(of: canvas)?.contains("grid has another size") == true)
        var alone = HEICItems(
            items: [.init(kind: "hvc1", data: photo.data, properties: [1, 2])],
            properties: [Box.size(48, 64), photo.configuration]
        )
        #expect(refusal(of: alone)?.contains("another size than announced") == true)
        alone.properties[0] = Coded.size
        #expect(refusal(of: alone) == nil)
        alone.items[0].data = photo.data + photo.data
        #expect(refusal(of: alone)?.contains("consists of several") == true)
    }

    @Test("The limits apply to parts that are larger than the image") func limitsOfLargeParts() throws {
        let small = grid(columns: 1, rows: 1, width: 10, height: 10).data()
        let tight = DecodingOptions(limits: ImageDecodingLimits(maxPixelCount: 96 * 64 - 1))
        #expect(throws: ImagingError.limitExceeded(limit: "maxPixelCount", allowed: 6143, width: 96, height: 64)) {
            try Codecs.decode(small, options: tight)
        }
    }

    @Test("More coded units or slices than an image needs are refused") func excessiveUnits() throws {
        func alone(_ more: Data) -> HEICItems {
            HEICItems(
                items: [.init(kind: "hvc1", data: photo.data + more, properties: [1, 2])],
                properties: [Coded.size, photo.configuration]
            )
        }
        let empty = Data(count: 4)
        #expect(refusal(of: alone(Data((0..<1000).flatMap { _ in empty }))) == nil)
        #expect(refusal(of: alone(Data((0..<1024).flatMap { _ in empty })))?.contains("is broken") == true)
        // The unit is of a slice that is not the first; in a grid, all images share one limit of slices.
        let slice = Box.long(3) + Data([20 << 1, 1, 0])
        var many = grid(columns: 9, rows: 7, width: 800, height: 400)
        for index in 1...63 {
            let own = Box.long(3) + Data([41 << 1, 1, UInt8(index)])
            many.items[index].data = photo.data + own + Data((0..<900).flatMap { _ in slice })
        }
        #expect(refusal(of: many)?.contains("too many slices") == true)
    }

    @Test("Items that consist of themselves are refused", arguments: ["iden", "grid", "iovl"])
    func cyclicItems(kind: String) {
        let description =
            kind == "iovl"
            ? Data(count: 10) + Box.word(96) + Box.word(64) + Data(count: 4) : Data([0, 0, 0, 0, 0, 96, 0, 64])
        let item = HEICItems.Item(kind: kind, data: description, properties: [1])
        let alone = HEICItems(
            items: [item],
            properties: [Coded.size],
            references: [.init(kind: "dimg", from: 1, to: [1])]
        )
        #expect(refusal(of: alone)?.contains("only images coded as HEVC") == true)
        let ring = HEICItems(
            items: [item, item],
            properties: [Coded.size],
            references: [.init(kind: "dimg", from: 1, to: [2]), .init(kind: "dimg", from: 2, to: [1])]
        )
        #expect(refusal(of: ring)?.contains("only images coded as HEVC") == true)
    }

    // libheif takes more bytes off a box of this name, and reads on whatever the size of the box is.
    @Test("References behind a box that libheif reads in another way are refused") func hiddenReferences() {
        let item = HEICItems.Item(kind: "iden", data: Data([0]), properties: [1])
        let coded = HEICItems.Item(kind: "hvc1", data: photo.data, properties: [1, 2])
        let hiding = HEICItems(
            items: [item, coded],
            properties: [Coded.size, photo.configuration],
            references: [.init(kind: "uuid", from: 1, to: [2, 2, 2, 2]), .init(kind: "dimg", from: 1, to: [2])]
        )
        #expect(refusal(of: hiding)?.contains("description of the file is broken") == true)
    }

    @Test("An identity item is decoded if it has the size of its image") func identityItem() throws {
        func items(_ size: Data) -> HEICItems {
            HEICItems(
                items: [
                    .init(kind: "iden", data: Data([0]), properties: [1]),
                    .init(kind: "hvc1", data: photo.data, properties: [2, 3]),
                ],
                properties: [size, Coded.size, photo.configuration],
                references: [.init(kind: "dimg", from: 1, to: [2])]
            )
        }
        let bitmap = try Codecs.decode(items(Coded.size).data()).bitmap()
        #expect(bitmap.likeness(to: try picture("photo.heic").bitmap()) > 40)
        #expect(refusal(of: items(Box.size(64, 64)))?.contains("under another name has another size") == true)
    }

    /// The photo and, as its transparency, another image.
    private func transparent(_ other: Coded, size: Data = Coded.size, crop: Data? = nil) -> HEICItems {
        HEICItems(
            items: [
                .init(kind: "hvc1", data: photo.data, properties: [1, 2]),
                .init(kind: "hvc1", data: other.data, properties: crop == nil ? [3, 4, 5] : [3, 4, 5, 6]),
            ],
            properties: [
                Coded.size, photo.configuration, size, other.configuration,
                Box.full("auxC", 0, Data("urn:mpeg:hevc:2015:auxid:1".utf8) + Data([0])),
            ] + (crop.map { [$0] } ?? []),
            references: [.init(kind: "auxl", from: 2, to: [1])]
        )
    }

    private func crop(_ width: Int, _ height: Int) -> Data {
        Box.box("clap", [width, 1, height, 1, 0, 1, 0, 1].reduce(Data()) { $0 + Box.long($1) })
    }

    @Test("Transparency must match the depth and the transforms of the colours") func mismatchedTransparency() throws {
        #expect(try Codecs.decode(transparent(photo).data()).hasAlpha)
        // libheif would read beyond the data.
        #expect(refusal(of: transparent(deep))?.contains("another depth") == true)
        #expect(
            refusal(of: transparent(photo, crop: crop(10, 10)))?.contains("cropped or turned in another way") == true
        )
        // Another size, and announced as such: left out.
        #expect(try !Codecs.decode(transparent(photo, size: Box.size(48, 32)).data()).hasAlpha)
        var ring = transparent(photo)
        ring.items[0].properties.append(5)
        ring.references.append(.init(kind: "auxl", from: 1, to: [2]))
        #expect(refusal(of: ring)?.contains("transparency has transparency") == true)
        var two = transparent(photo)
        two.items.append(two.items[1])
        two.references.append(.init(kind: "auxl", from: 3, to: [1]))
        #expect(refusal(of: two)?.contains("two transparencies") == true)
    }

    @Test("The limits apply to the image before it is cropped") func limitsBeforeCropping() throws {
        let items = HEICItems(
            items: [.init(kind: "hvc1", data: photo.data, properties: [1, 2, 3])],
            properties: [Coded.size, photo.configuration, crop(10, 8)]
        )
        let wide = DecodingOptions(limits: ImageDecodingLimits(maxPixelCount: 96 * 64))
        #expect(try Codecs.decode(items.data(), options: wide).size == CGSize(width: 10, height: 8))
        let tight = DecodingOptions(limits: ImageDecodingLimits(maxPixelCount: 96 * 64 - 1))
        #expect(throws: ImagingError.limitExceeded(limit: "maxPixelCount", allowed: 6143, width: 96, height: 64)) {
            try Codecs.decode(items.data(), options: tight)
        }
    }

    // As some cameras write it.
    @Test("The rotation may come before the size in the list of properties") func rotationBeforeSize() throws {
        let rotation = Box.box("irot", Data([1]))
        var items = HEICItems(
            items: [.init(kind: "hvc1", data: photo.data, properties: [3, 1, 2])],
            properties: [Coded.size, photo.configuration, rotation]
        )
        let early = try Codecs.decode(items.data()).bitmap()
        items.items[0].properties = [1, 2, 3]
        let late = try Codecs.decode(items.data()).bitmap()
        #expect(early.width == 64 && early.height == 96 && early.likeness(to: late) == .infinity)
        let photo = try picture("photo.heic").bitmap()
        // Rotated counterclockwise by a right angle.
        for (x, y) in [(10, 20), (50, 40), (30, 60)] { #expect(late[y, 95 - x] == photo[x, y]) }
    }

    @Test("The layers of an overlay must lie within the image") func overlayBounds() throws {
        func layers(_ x: Int, _ y: Int) -> HEICItems {
            let colors = Box.word(0) + Box.word(0) + Box.word(0xFFFF) + Box.word(0xFFFF)
            let description = Data([0, 0]) + colors + Box.word(120) + Box.word(80) + Box.word(x) + Box.word(y)
            return HEICItems(
                items: [
                    .init(kind: "iovl", data: description, properties: [1]),
                    .init(kind: "hvc1", data: photo.data, properties: [2, 3]),
                ],
                properties: [Box.size(120, 80), Coded.size, photo.configuration],
                references: [.init(kind: "dimg", from: 1, to: [2])]
            )
        }
        let bitmap = try Codecs.decode(layers(20, 10).data()).bitmap()
        #expect(bitmap[5, 5] == Pixel(r: 0, g: 0, b: 255))
        #expect(try bitmap[60, 40].isNear(picture("photo.heic").bitmap()[40, 30], within: 2))
        for (x, y) in [(-1, 0), (25, 10), (0, 17)] {
            #expect(refusal(of: layers(x, y))?.contains("reach beyond the image") == true)
        }
    }

    @Test("More items or data than an image needs are refused") func excessiveItems() {
        let coded = HEICItems.Item(kind: "hvc1", data: photo.data, properties: [1, 2])
        let properties = [Coded.size, photo.configuration]
        let note = HEICItems.Item(kind: "Exif", data: Data(repeating: 7, count: 20_000))
        let many = HEICItems(
            items: [coded] + Array(repeating: .init(kind: "Exif", data: Data([7])), count: 5800),
            properties: properties
        )
        #expect(refusal(of: many)?.contains("more items than an image needs") == true)
        let shared = HEICItems(items: [coded] + Array(repeating: note, count: 60), properties: properties)
        #expect(refusal(of: shared)?.contains("more data than the file") == true)
        let packed = HEICItems.Item(
            kind: "mime",
            data: Data(repeating: 7, count: 1 << 16 + 1),
            texts: Data("application/rdf+xml\0deflate\0".utf8)
        )
        #expect(refusal(of: HEICItems(items: [coded, packed], properties: properties))?.contains("more data") == true)
    }

    @Test("Two items with one identifier are refused") func duplicateIdentifiers() {
        var items = transparent(photo).data()
        // The second entry of the list of items gets the identifier of the first.
        let place = items.ranges(of: Data("infe".utf8))[1].upperBound + 4
        items.replaceSubrange(place..<place + 4, with: Box.long(1))
        #expect(throws: ImagingError.self) { try Codecs.decode(items) }
        let error = #expect(throws: ImagingError.self) { try ImageInfo(data: items) }
        #expect("\(String(describing: error))".contains("two items of the file have one name"))
    }
}
#endif
