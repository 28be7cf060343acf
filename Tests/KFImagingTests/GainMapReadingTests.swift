// Gain maps are recognised by both kinds of parameters; files whose index or parameters are wrong have none.

import Foundation
@_spi(Server) import KingfisherTestSupport
import Testing

@testable import KFImaging

extension GainMapFixture {
    /// An image of 64 × 48 pixels and a grey map of half its sides, or of other sizes.
    static func sample(
        _ image: Bitmap = .solid(0xFF40_8020, 64, 48),
        map: Bitmap = .solid(0xFF50_5050, 32, 24),
        isGrey: Bool = true,
        hasXMP: Bool = true,
        hasISO: Bool = false
    ) throws -> GainMapFixture {
        let options = ImageEncodingOptions(quality: 1)
        return GainMapFixture(
            image: try JPEGCodec.encode(image, options),
            map: isGrey ? try JPEGCodec.encodeGrey(map, options) : try JPEGCodec.encode(map, options),
            hasXMP: hasXMP,
            hasISO: hasISO
        )
    }
}

@Suite struct GainMapReadingTests {
    private func info(_ change: (inout GainMapFixture) -> Void) throws -> GainMapInfo? {
        var fixture = try GainMapFixture.sample()
        change(&fixture)
        return try ImageInfo(data: fixture.file).gainMap
    }

    @Test("Both kinds of parameters are read, to the same numbers", arguments: [true, false], [true, false])
    func kinds(hasXMP: Bool, hasISO: Bool) throws {
        let file = try GainMapFixture.sample(hasXMP: hasXMP, hasISO: hasISO).file
        let found = try ImageInfo(data: file)
        #expect(found.pixelWidth == 64 && found.byteCount == file.count)
        guard hasXMP || hasISO else {
            #expect(found.gainMap == nil)
            return
        }
        let map = try #require(found.gainMap)
        #expect(map.pixelWidth == 32 && map.pixelHeight == 24 && !map.isBaseHDR)
        #expect(map.parameterKinds == (hasXMP ? [.xmp] : []) + (hasISO ? [.iso] : []))
        let channel = GainMapInfo.Channel(
            minBoost: -0.5,
            maxBoost: 2.25,
            gamma: 1.5,
            offsetSDR: 1 / 64,
            offsetHDR: 1 / 32
        )
        #expect(map.channels == [channel] && map.minCapacity == 0.25 && map.maxCapacity == 2.5)
        // As a slice that does not begin at zero, too.
        #expect(GainMap(of: (Data([1, 2, 3]) + file).dropFirst(3))?.info == map)
    }

    @Test("Elements, three channels and missing numbers of XMP are read") func formsOfXMP() throws {
        let three = try #require(
            try info {
                $0.xmp = (
                    "hdrgm:Version = '1.0' hdrgm:HDRCapacityMax='3' hdrgm:BaseRenditionIsHDR=\"True\"",
                    """
                    <hdrgm:GainMapMax><rdf:Seq><rdf:li>1</rdf:li> <rdf:li> 2.5 </rdf:li><rdf:li>3e0</rdf:li></rdf:Seq>
                    </hdrgm:GainMapMax><hdrgm:Gamma>2</hdrgm:Gamma>
                    """
                )
            }
        )
        #expect(three.channels.map(\.maxBoost) == [1, 2.5, 3] && three.channels.map(\.gamma) == [2, 2, 2])
        #expect(three.channels.allSatisfy { $0.minBoost == 0 && $0.offsetSDR == 1 / 64 && $0.offsetHDR == 1 / 64 })
        #expect(three.minCapacity == 0 && three.maxCapacity == 3 && three.isBaseHDR)
    }

    @Test(
        "XMP that lacks a number, or has what is none, is no gain map",
        arguments: [
            ("hdrgm:GainMapMax=\"2.25\"", ""), ("hdrgm:HDRCapacityMax=\"2.5\"", ""), ("hdrgm:Version=\"1.0\"", ""),
            ("\"2.25\"", "\"inf\""), ("\"2.25\"", "\"nan\""), ("\"2.25\"", "\"\""), ("\"2.25\"", "\"0x2\""),
            ("\"2.25\"", "\"1e999\""), ("\"1.5\"", "\"0\""), ("\"1.5\"", "\"-1\""), ("\"False\"", "\"no\""),
            ("\"2.25\"", "\"" + String(repeating: "1", count: 50) + "\""), ("hdrgm:", "other:"),
            ("hdrgm:GainMapMax=\"2.25\"", "hdrgm:GainMapMax=\"2.25"), ("hdrgm:GainMapMax=", "hdrgm:GainMapMaximum="),
        ]
    )
    func wrongXMP(text: String, other: String) throws {
        let attributes = GainMapFixture.attributes.replacingOccurrences(of: text, with: other)
        #expect(attributes != GainMapFixture.attributes)
        #expect(try info { $0.xmp = (attributes, "") } == nil)
    }

    @Test("Lists of XMP have one value or three", arguments: [0, 1, 2, 3, 4]) func listsOfXMP(count: Int) throws {
        let attributes = GainMapFixture.attributes.replacingOccurrences(of: "hdrgm:Gamma=\"1.5\"", with: "")
        let list = "<rdf:Seq>" + String(repeating: "<rdf:li>2</rdf:li>", count: count) + "</rdf:Seq>"
        let found = try info { $0.xmp = (attributes, "<hdrgm:Gamma>\(list)</hdrgm:Gamma>") }
        #expect(found?.channels.map(\.gamma) == (count == 1 ? [2] : count == 3 ? [2, 2, 2] : nil))
    }

    @Test("Three channels, a shared denominator and a bright base of ISO 21496-1 are read") func formsOfISO() throws {
        func numbers(_ values: [Int]) -> [UInt8] { values.flatMap { GainMapFixture.number($0, 4) } }
        let shared = try #require(
            try info {
                $0.xmp = nil
                $0.iso = [0, 0, 0, 9, 0x88] + numbers([100, 300, 50])
                for channel in 1...3 { $0.iso? += numbers([-100 * channel, 25, 100, 1, 2]) }
                // What a later version may add.
                $0.iso? += [7, 7]
            }
        )
        #expect(shared.isBaseHDR && shared.minCapacity == 0.5 && shared.maxCapacity == 3)
        #expect(
            shared.channels.map(\.maxBoost) == [1, 2, 3] && shared.channels.map(\.minBoost) == [-0.25, -0.25, -0.25]
        )
        #expect(shared.channels.allSatisfy { $0.offsetSDR == 0.02 && $0.offsetHDR == 0.01 && $0.gamma == 1 })
    }

    @Test("ISO 21496-1 that ends early, is of another version or divides by zero is no gain map") func wrongISO() throws
    {
        let right = GainMapFixture.isoParameters
        for count in 0..<right.count {
            #expect(try info { ($0.xmp, $0.iso) = (nil, Array(right.prefix(count))) } == nil, "\(count) bytes")
        }
        // The version, the denominators, and the gamma.
        for place in [1] + stride(from: 9, to: right.count, by: 8) + [37] {
            var wrong = right
            wrong.replaceSubrange(place..<min(place + 4, right.count), with: place == 1 ? [1, 0, 0, 0] : [0, 0, 0, 0])
            #expect(try info { ($0.xmp, $0.iso) = (nil, wrong) } == nil, "\(place)")
        }
    }

    /// What an attacker writes for a number.
    private static let bounds = [
        0, -1, 1, 2, 3, Int.max, Int.min, Int(Int32.max), Int(Int32.max) + 1, Int(UInt32.max) - 1, 1 << 31, 1 << 24,
    ]

    @Test("Lengths and offsets that are wrong in any way mean no gain map", arguments: bounds, [0, 1])
    func wrongIndex(value: Int, entry: Int) throws {
        for isLength in [true, false] where !(entry == 0 && !isLength) {
            let found = try info {
                $0.changeIndex = { entries in
                    var entries = entries
                    if isLength { entries[entry].length = value } else { entries[entry].offset = value }
                    return entries
                }
            }
            #expect(found == nil, "\(isLength ? "length" : "offset") \(value)")
        }
    }

    @Test("A map that overlaps its image, or reaches a byte beyond the file, is none") func overlaps() throws {
        for (first, second, offset) in [(0, 1, 0), (0, 0, 1), (0, 0, -1), (1, 0, 0), (0, 1, -1), (-100_000, 0, 0)] {
            let found = try info {
                $0.changeIndex = { entries in
                    var entries = entries
                    entries[0].length += first
                    (entries[1].length, entries[1].offset) = (entries[1].length + second, entries[1].offset + offset)
                    return entries
                }
            }
            #expect(found == nil, "\(first) \(second) \(offset)")
        }
        #expect(try info { $0.changeIndex = { [$0[0]] } } == nil)
        #expect(try info { $0.changeIndex = { _ in [] } } == nil)
        // Behind images of other kinds it is found, but not behind too many.
        for (count, isFound) in [(1, true), (14, true), (15, false), (4_000, false)] {
            let found = try info {
                $0.changeIndex = { entries in
                    let more = 16 * count
                    let first = (entries[0].attributes, entries[0].length + more, 0)
                    let map = (0, entries[1].length, entries[1].offset + more)
                    return [first] + Array(repeating: (0, 3, map.2), count: count) + [map]
                }
            }
            #expect((found != nil) == isFound, "\(count)")
        }
    }

    @Test("No damage of a file stops the program") func damage() throws {
        let file = try GainMapFixture.sample(hasISO: true).file
        for count in 0...file.count { _ = GainMap(of: file.prefix(count)) }
        for place in file.indices {
            for byte in [0x00, 0xFF, 0x7F, file[place] ^ 0x80] as [UInt8] {
                var damaged = file
                damaged[place] = byte
                _ = GainMap(of: damaged)
            }
        }
    }

    @Test("A thousand images that share a long header are looked at in a moment") func sharedHeader() throws {
        // Segments without content, up to the most that are looked at.
        let filler = Data((0..<70_000).flatMap { _ in [0xFF, 0xEC, 0, 2] as [UInt8] })
        let found = try info {
            $0.map = $0.map.prefix(2) + filler + $0.map.dropFirst(2)
            $0.changeIndex = { entries in
                let more = 16 * 1_000
                let first = (entries[0].attributes, entries[0].length + more, 0)
                return [first] + Array(repeating: (0, entries[1].length, entries[1].offset + more), count: 1_001)
            }
        }
        #expect(found == nil)
    }
}
