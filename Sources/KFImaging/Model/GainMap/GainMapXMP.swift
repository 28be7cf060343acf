// The parameters of a gain map in XMP, by Adobe's names (`hdrgm`), and the directory of Ultra HDR files. For GainMap.

import Foundation

/// The parameters of a gain map as an XMP packet has them.
struct GainMapXMP: Hashable {
    /// What the segment of a packet, an `APP1`, begins with.
    // As for the ISO parameters.
    static var signature: Data { Data("http://ns.adobe.com/xap/1.0/\0".utf8) }
    private static let namespace = "http://ns.adobe.com/hdr-gain-map/1.0/"
    private static let isHDR = "BaseRenditionIsHDR"
    /// The names of numbers, and what they are where a packet has none; nil for those that it must have.
    private static let numbers: KeyValuePairs<String, Double?> = [
        "GainMapMin": 0, "GainMapMax": nil, "Gamma": 1, "OffsetSDR": 0.015625, "OffsetHDR": 0.015625,
        "HDRCapacityMin": 0, "HDRCapacityMax": nil,
    ]

    /// The texts of each name that the packet has: one for all colours, or one each for red, green and blue.
    private let texts: [String: [String]]

    /// Nil for a packet without such parameters, or with some that are no numbers.
    init?(_ packet: Data) {
        let packet = String(decoding: packet, as: UTF8.self)
        guard packet.contains(Self.namespace) else { return nil }
        let names = ["Version", Self.isHDR] + Self.numbers.map(\.key)
        let texts = Self.texts(in: packet).filter { names.contains($0.key) }
        guard texts["Version"]?.count == 1, [nil, ["True"], ["False"]].contains(texts[Self.isHDR]) else { return nil }
        for (name, usual) in Self.numbers {
            guard let found = texts[name] else {
                if usual == nil { return nil }
                continue
            }
            guard found.count == 1 || found.count == 3 && !name.hasPrefix("HDRCapacity") else { return nil }
        }
        guard texts.filter({ $0.key != Self.isHDR }).values.joined().allSatisfy({ Self.number($0) != nil }) else {
            return nil
        }
        self.texts = texts
        guard parameters.channels.allSatisfy({ $0.gamma > 0 }) else { return nil }
    }

    /// The parameters as numbers.
    var parameters: GainMapParameters {
        func value(_ name: String, _ channel: Int = 0) -> Double {
            let found = texts[name] ?? []
            let usual = Self.numbers.first { $0.key == name }?.value
            return found.isEmpty ? usual ?? 0 : Self.number(found[min(channel, found.count - 1)]) ?? 0
        }
        let channels = (0..<(texts.values.map(\.count).max() ?? 1)).map { channel in
            GainMapInfo.Channel(
                minBoost: value("GainMapMin", channel),
                maxBoost: value("GainMapMax", channel),
                gamma: value("Gamma", channel),
                offsetSDR: value("OffsetSDR", channel),
                offsetHDR: value("OffsetHDR", channel)
            )
        }
        return GainMapParameters(
            channels: channels,
            minCapacity: value("HDRCapacityMin"),
            maxCapacity: value("HDRCapacityMax"),
            isBaseHDR: texts[Self.isHDR] == ["True"]
        )
    }

    /// A finite number in decimal digits.
    private static func number(_ text: String) -> Double? {
        let isPlain = text.utf8.count <= 40 && text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
        return isPlain ? Double(text).flatMap { $0.isFinite ? $0 : nil } : nil
    }

    // MARK: Reading

    /// The values of the properties in a packet, attributes or elements, by the prefix that every writer uses.
    private static func texts(in packet: String) -> [String: [String]] {
        let pieces = packet.components(separatedBy: "hdrgm:")
        return zip(pieces, pieces.dropFirst()).reduce(into: [:]) { texts, pair in
            let name = pair.1.prefix { $0.isASCII && $0.isLetter }
            guard !pair.0.hasSuffix("</"), texts[String(name)] == nil else { return }
            texts[String(name)] = values(pair.1.dropFirst(name.count))
        }
    }

    /// The values of a property, of which what stands behind its name is given; nil for a declaration of the prefix.
    private static func values(_ text: Substring) -> [String]? {
        let value = text.drop(while: \.isWhitespace)
        if value.first == "=" {
            let quoted = value.dropFirst().drop(while: \.isWhitespace)
            guard let quote = quoted.first, "\"'".contains(quote) else { return nil }
            return [String(quoted.dropFirst().prefix { $0 != quote })]
        }
        // The end of an element, which the name follows again.
        guard value.hasSuffix("</"), let start = value.firstIndex(of: ">") else { return nil }
        let content = value[value.index(after: start)...].dropLast(2)
        let items = content.components(separatedBy: "<rdf:li").dropFirst().map {
            $0.drop { $0 != ">" }.dropFirst().prefix { $0 != "<" }
        }
        return (items.isEmpty ? [content] : items).map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    }

    // MARK: Writing

    /// The packet of a map, with these parameters as they were read and nothing else.
    var packet: Data {
        let names = ["Version"] + Self.numbers.map(\.key) + [Self.isHDR]
        let attributes = names.compactMap { name in
            texts[name].flatMap { $0.count == 1 ? " hdrgm:\(name)=\"\($0[0])\"" : nil }
        }
        let elements = names.compactMap { name -> String? in
            guard let values = texts[name], values.count > 1 else { return nil }
            let items = values.map { "<rdf:li>\($0)</rdf:li>" }.joined()
            return "<hdrgm:\(name)><rdf:Seq>\(items)</rdf:Seq></hdrgm:\(name)>"
        }
        return Self.packet(" xmlns:hdrgm=\"\(Self.namespace)\"" + attributes.joined(), elements.joined())
    }

    /// The packet of the image, which says that a map of so many bytes lies behind it.
    func directory(mapLength: Int) -> Data {
        let names = "http://ns.google.com/photos/1.0/container/"
        let items = ["Item:Semantic=\"Primary\"", "Item:Semantic=\"GainMap\" Item:Length=\"\(mapLength)\""].map {
            "<rdf:li rdf:parseType=\"Resource\"><Container:Item \($0) Item:Mime=\"image/jpeg\"/></rdf:li>"
        }
        return Self.packet(
            " xmlns:Container=\"\(names)\" xmlns:Item=\"\(names)item/\" xmlns:hdrgm=\"\(Self.namespace)\""
                + " hdrgm:Version=\"\(texts["Version"]?.first ?? "1.0")\"",
            "<Container:Directory><rdf:Seq>\(items.joined())</rdf:Seq></Container:Directory>"
        )
    }

    /// The content of a segment: a packet with its wrapper.
    private static func packet(_ attributes: String, _ elements: String) -> Data {
        let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        let text =
            "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>"
            + "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"\(rdf)\"><rdf:Description rdf:about=\"\""
            + attributes + ">" + elements + "</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end=\"w\"?>"
        return Self.signature + Data(text.utf8)
    }
}
