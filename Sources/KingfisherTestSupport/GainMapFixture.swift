// JPEGs with gain maps, put together byte by byte from the specifications, for tests of those who read them.

public import Foundation

/// A JPEG with a gain map behind it: CIPA DC-007, Adobe's and Google's XMP, ISO 21496-1.
@_spi(Server) public struct GainMapFixture: Sendable {
    /// An entry of the index: the attributes, the length and the offset of an image.
    public typealias Entry = (attributes: Int, length: Int, offset: Int)

    /// The JPEG of the image; the rest goes behind its first marker.
    public var image: Data
    /// The JPEG of the map.
    public var map: Data
    /// The attributes and elements of the map's XMP; nil for a map without.
    public var xmp: (attributes: String, elements: String)?
    /// The map's parameters as ISO 21496-1 writes them; nil for a map without.
    public var iso: [UInt8]?
    /// Changes the index before it is written.
    public var changeIndex: @Sendable ([Entry]) -> [Entry] = { $0 }

    /// A file with the parameters of Adobe, or those of ISO 21496-1, or both.
    ///
    /// - Parameters:
    ///   - image: The JPEG of the image.
    ///   - map: The JPEG of the map.
    ///   - hasXMP: Whether it has parameters in XMP.
    ///   - hasISO: Whether it has those of ISO 21496-1.
    public init(image: Data, map: Data, hasXMP: Bool = true, hasISO: Bool = false) {
        (self.image, self.map) = (image, map)
        xmp = hasXMP ? (Self.attributes, "") : nil
        iso = hasISO ? Self.isoParameters : nil
    }

    /// -0.5 to 2.25 stops, a gamma of 1.5, offsets of 1/64 and 1/32, for screens of 0.25 to 2.5 stops.
    public static let attributes = """
        hdrgm:Version="1.0" hdrgm:GainMapMin="-0.5" hdrgm:GainMapMax="2.25" hdrgm:Gamma="1.5" \
        hdrgm:OffsetSDR="0.015625" hdrgm:OffsetHDR="0.03125" hdrgm:HDRCapacityMin="0.25" hdrgm:HDRCapacityMax="2.5" \
        hdrgm:BaseRenditionIsHDR="False"
        """

    /// The same: versions, flags, headrooms, and a channel, each number a fraction.
    public static let isoParameters: [UInt8] =
        [0, 0, 0, 0, 0]
        + [(1, 4), (5, 2), (-1, 2), (9, 4), (3, 2), (1, 64), (1, 32)].flatMap { number($0.0, 4) + number($0.1, 4) }

    /// The bytes of a number, the highest first.
    public static func number(_ value: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// The file.
    public var file: Data {
        let map = describedMap
        var signs = Data()
        if xmp != nil { signs += Self.segment(0xE1, Self.xmpName + Data(Self.packet(Self.directory(map.count)).utf8)) }
        if iso != nil { signs += Self.segment(0xE2, Self.isoName + Data([0, 0, 0, 0])) }
        let place = 2 + signs.count + 8
        let length = image.count + signs.count + index([]).count + 2 * 16
        let entries = changeIndex([(0x2003_0000, length, 0), (0, map.count, length - place)])
        return image.prefix(2) + signs + index(entries) + image.dropFirst(2) + map
    }

    /// The map with its parameters.
    public var describedMap: Data {
        var parameters = Data()
        if let xmp {
            let open = "<rdf:Description rdf:about=\"\" xmlns:hdrgm=\"http://ns.adobe.com/hdr-gain-map/1.0/\" "
            let text = open + xmp.attributes + ">" + xmp.elements + "</rdf:Description>"
            parameters += Self.segment(0xE1, Self.xmpName + Data(Self.packet(text).utf8))
        }
        if let iso { parameters += Self.segment(0xE2, Self.isoName + Data(iso)) }
        return map.prefix(2) + parameters + map.dropFirst(2)
    }

    private static let xmpName = Data("http://ns.adobe.com/xap/1.0/\0".utf8)
    private static let isoName = Data("urn:iso:std:iso:ts:21496:-1\0".utf8)

    private static func segment(_ marker: UInt8, _ content: Data) -> Data {
        Data([0xFF, marker] + number(content.count + 2, 2)) + content
    }

    private static func packet(_ text: String) -> String {
        """
        <?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x="adobe:ns:meta/">
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\(text)</rdf:RDF></x:xmpmeta>
        <?xpacket end='w'?>
        """
    }

    private static func directory(_ mapLength: Int) -> String {
        """
        <rdf:Description xmlns:Container="http://ns.google.com/photos/1.0/container/"
          xmlns:Item="http://ns.google.com/photos/1.0/container/item/"
          xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"><Container:Directory><rdf:Seq>
        <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/></rdf:li>
        <rdf:li rdf:parseType="Resource">
        <Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg" Item:Length="\(mapLength)"/></rdf:li>
        </rdf:Seq></Container:Directory></rdf:Description>
        """
    }

    /// The segment of the index, whose lowest bytes come first.
    private func index(_ entries: [Entry]) -> Data {
        func little(_ value: Int, _ size: Int) -> [UInt8] { Self.number(value, size).reversed() }
        let fields =
            little(0xB000, 2) + little(7, 2) + little(4, 4) + Array("0100".utf8)
            + little(0xB001, 2) + little(4, 2) + little(1, 4) + little(entries.count, 4)
            + little(0xB002, 2) + little(7, 2) + little(16 * entries.count, 4) + little(50, 4)
        let images = entries.flatMap { entry in
            little(entry.attributes, 4) + little(entry.length, 4) + little(entry.offset, 4) + little(0, 4)
        }
        let header = Array("MPF\0II".utf8) + little(42, 2) + little(8, 4) + little(3, 2)
        return Self.segment(0xE2, Data(header + fields + little(0, 4) + images))
    }
}
