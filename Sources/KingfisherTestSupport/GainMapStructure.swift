// The structure of a JPEG with a gain map, read by the specifications alone, for tests of what the encoder writes.

public import Foundation

/// The two images of a file with a gain map, and what each says about it.
@_spi(Server) public struct GainMapStructure: Sendable {
    /// The bytes of the image.
    public let image: Data
    /// The bytes of the map.
    public let map: Data
    /// The XMP of the image; nil without.
    public let imageXMP: String?
    /// The XMP of the map; nil without.
    public let mapXMP: String?
    /// What the image has behind the name of ISO 21496-1; nil without.
    public let imageISO: [UInt8]?
    /// What the map has behind the name of ISO 21496-1; nil without.
    public let mapISO: [UInt8]?
    /// The number of components of the map: 1 for grey, 3 for colours.
    public let mapComponents: Int

    private struct Wrong: Error { let words: String }

    /// Reads a file; nil for one whose image has no index of images.
    ///
    /// - Parameter file: The bytes of a JPEG.
    /// - Throws: What is wrong with it.
    public init?(_ file: Data) throws {
        let file = Data(file)
        let all = try Self.segments(file)
        guard let index = all.first(where: { $0.marker == 0xE2 && $0.content.starts(with: Data("MPF\0".utf8)) }) else {
            return nil
        }
        // Offsets count from the byte order behind the name.
        let base = index.content.startIndex + 4
        let entries = try Self.entries(Array(file[base..<index.content.endIndex]))
        guard entries.count == 2 else { throw Wrong(words: "the index has \(entries.count) images") }
        guard entries[0] == [0x03_0000, entries[0][1], 0, 0] else { throw Wrong(words: "first entry: \(entries[0])") }
        guard entries[1][0] == 0, entries[1][3] == 0 else { throw Wrong(words: "second entry: \(entries[1])") }
        let start = base + entries[1][2]
        guard start == entries[0][1], start + entries[1][1] == file.count else {
            throw Wrong(words: "\(entries) does not divide \(file.count) bytes")
        }
        (image, map) = (file[..<start], file[start...])
        for part in [image, map] where !part.starts(with: [0xFF, 0xD8]) || part.suffix(2) != Data([0xFF, 0xD9]) {
            throw Wrong(words: "an image does not begin and end as a JPEG does")
        }
        let own = try Self.segments(Data(map))
        (imageXMP, mapXMP) = (Self.text(all), Self.text(own))
        (imageISO, mapISO) = (Self.iso(all), Self.iso(own))
        guard let frame = own.first(where: { [0xC0, 0xC1, 0xC2].contains($0.marker) }) else {
            throw Wrong(words: "the map has no frame")
        }
        mapComponents = Int(frame.content[frame.content.startIndex + 5])
    }

    /// The length of the map that the directory of Ultra HDR files names.
    public var itemLength: Int? {
        guard let item = imageXMP?.range(of: "Item:Semantic=\"GainMap\""), let xmp = imageXMP,
            let length = xmp[item.upperBound...].range(of: "Item:Length=\"")
        else { return nil }
        return Int(xmp[length.upperBound...].prefix { $0 != "\"" })
    }

    private static func segments(_ file: Data) throws -> [(marker: UInt8, content: Data)] {
        var (list, place) = ([(marker: UInt8, content: Data)](), 2)
        while file[place + 1] != 0xDA {
            guard file[place] == 0xFF else { throw Wrong(words: "no marker at \(place)") }
            let length = Int(file[place + 2]) << 8 + Int(file[place + 3])
            list.append((file[place + 1], file[place + 4..<place + 2 + length]))
            place += 2 + length
        }
        return list
    }

    /// The entries of an index: attributes, length, offset, and the two numbers of images that it depends on.
    private static func entries(_ block: [UInt8]) throws -> [[Int]] {
        let isLittle = block.starts(with: Array("II".utf8))
        func number(_ place: Int, _ size: Int) -> Int {
            let bytes = block[place..<place + size]
            return (isLittle ? Array(bytes.reversed()) : Array(bytes)).reduce(0) { $0 << 8 | Int($1) }
        }
        guard number(2, 2) == 42 else { throw Wrong(words: "the index is no TIFF block") }
        let directory = number(4, 4)
        var fields: [Int: (type: Int, count: Int, place: Int)] = [:]
        var last = 0
        for entry in 0..<number(directory, 2) {
            let place = directory + 2 + 12 * entry
            let tag = number(place, 2)
            guard tag > last else { throw Wrong(words: "the tags of the index do not ascend") }
            (last, fields[tag]) = (tag, (number(place + 2, 2), number(place + 4, 4), place + 8))
        }
        guard let version = fields[0xB000], version.count == 4,
            block[version.place..<version.place + 4].elementsEqual("0100".utf8),
            let count = fields[0xB001], let images = fields[0xB002], images.type == 7,
            images.count == 16 * number(count.place, 4)
        else { throw Wrong(words: "the index lacks a field: \(fields)") }
        let start = number(images.place, 4)
        return (0..<number(count.place, 4)).map { image in
            (0..<4).map { number(start + 16 * image + 4 * $0, 4) }
        }
    }

    private static func content(_ segments: [(marker: UInt8, content: Data)], _ marker: UInt8, _ name: String) -> Data?
    {
        let name = Data((name + "\0").utf8)
        return segments.first { $0.marker == marker && $0.content.starts(with: name) }?.content.dropFirst(name.count)
    }

    private static func text(_ segments: [(marker: UInt8, content: Data)]) -> String? {
        content(segments, 0xE1, "http://ns.adobe.com/xap/1.0/").map { String(decoding: $0, as: UTF8.self) }
    }

    private static func iso(_ segments: [(marker: UInt8, content: Data)]) -> [UInt8]? {
        content(segments, 0xE2, "urn:iso:std:iso:ts:21496:-1").map(Array.init)
    }
}
