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

    @Test("A coded image of another size than announced is refused") func announcedSize() {
        var alone = HEICItems(
            items: [.init(kind: "hvc1", data: photo.data, properties: [1, 2])],
            properties: [Box.size(48, 64), photo.configuration]
        )
        #expect(refusal(of: alone)?.contains("another than announced") == true)
        alone.properties[0] = Coded.size
        #expect(refusal(of: alone) == nil)
    }

    private func identity(_ size: Data) -> HEICItems {
        HEICItems(
            items: [
                .init(kind: "iden", data: Data([0]), properties: [1]),
                .init(kind: "hvc1", data: photo.data, properties: [2, 3]),
            ],
            properties: [size, Coded.size, photo.configuration],
            references: [.init(kind: "dimg", from: 1, to: [2])]
        )
    }

    @Test("An identity item is decoded as its image") func identityItem() throws {
        let bitmap = try Codecs.decode(identity(Coded.size).data()).bitmap()
        #expect(bitmap.likeness(to: try picture("photo.heic").bitmap()) > 40)
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

    @Test("Transparency belongs to an image of its size") func transparency() throws {
        #expect(try Codecs.decode(transparent(photo).data()).hasAlpha)
        // Another size, and announced as such: left out.
        #expect(try !Codecs.decode(transparent(photo, size: Box.size(48, 32)).data()).hasAlpha)
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

    private func layers(_ x: Int, _ y: Int) -> HEICItems {
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

    @Test("Layers lie over one another") func overlay() throws {
        let bitmap = try Codecs.decode(layers(20, 10).data()).bitmap()
        #expect(bitmap[5, 5] == Pixel(r: 0, g: 0, b: 255))
        #expect(try bitmap[60, 40].isNear(picture("photo.heic").bitmap()[40, 30], within: 2))
    }

    /// Files that made libheif 1.15 go around in circles, read beyond the end of its data or take seconds for nothing.
    private var badFiles: [HEICItems] {
        let description = Data(count: 10) + Box.word(96) + Box.word(64) + Data(count: 4)
        let cycles = [("iden", description), ("grid", Data([0, 0, 0, 0, 0, 96, 0, 64])), ("iovl", description)].map {
            HEICItems(
                items: [.init(kind: $0, data: $1, properties: [1]), .init(kind: $0, data: $1, properties: [1])],
                properties: [Coded.size],
                references: [.init(kind: "dimg", from: 1, to: [2]), .init(kind: "dimg", from: 2, to: [1])]
            )
        }
        var ring = transparent(photo)
        ring.items[0].properties.append(5)
        ring.references.append(.init(kind: "auxl", from: 1, to: [2]))
        let coded = HEICItems.Item(kind: "hvc1", data: photo.data, properties: [1, 2])
        let crowd = HEICItems(
            items: [coded] + Array(repeating: .init(kind: "Exif", data: Data([7])), count: 5800),
            properties: [Coded.size, photo.configuration]
        )
        let hiding = HEICItems(
            items: [.init(kind: "iden", data: Data([0]), properties: [1]), coded],
            properties: [Coded.size, photo.configuration],
            references: [.init(kind: "uuid", from: 1, to: [2, 2, 2, 2]), .init(kind: "dimg", from: 1, to: [2])]
        )
        return cycles + [
            ring, crowd, hiding, identity(Box.size(64, 64)), transparent(deep), transparent(photo, crop: crop(10, 10)),
            layers(-1, 0), layers(25, 10), layers(0, 17), grid(columns: 13, rows: 10, width: 96, height: 64),
        ]
    }

    @Test("In a decoder, whatever is wrong with a file costs no more than its image") func badFilesInDecoder() throws {
        var limits = ImageDecodingLimits()
        limits.isolation = .required
        limits.maxDecodingDuration = 20
        let options = DecodingOptions(limits: limits)
        let good = try fixture("photo.heic"), expected = try Codecs.decode(good).bitmap()
        for bad in badFiles {
            _ = try? Codecs.decode(bad.data(), options: options)
            #expect(try Codecs.decode(good, options: options).bitmap().likeness(to: expected) == .infinity)
        }
    }
}
#endif
