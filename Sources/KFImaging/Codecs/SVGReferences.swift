// What pictures a drawing contains as data, and how large they are. Decodes none, knows nothing of what is drawn.
//
// librsvg hands such pictures to gdk-pixbuf, whatever their size: kilobytes of PNG become gigabytes. It tells nobody of
// them, so the text is searched. What could hide a reference from the search is refused.

#if SVG
import Foundation

struct SVGReferences {
    let limits: ImageDecodingLimits
    private var pixelCount = 0

    init(limits: ImageDecodingLimits) { self.limits = limits }

    /// Throws when the pictures within a drawing have more pixels together than a picture may have, counted twice: they are
    /// held as gdk-pixbuf's pixels and as cairo's.
    mutating func check(_ text: Data, depth: Int = 0) throws(ImagingError) {
        guard depth < 4 else { throw Self.refusal("a drawing in a drawing in a drawing in a drawing") }
        try Self.checkIsPlain(text)
        var place = text.startIndex
        while let name = text.range(of: Data("href".utf8), in: place..<text.endIndex) {
            // What looks like a value may be text that hides another, so the search goes on right behind the name.
            place = name.upperBound
            guard let value = Self.value(in: text, at: place) else { continue }
            guard let data = try Self.picture(value) else { continue }
            try count(data, depth)
        }
        try Self.checkMatrices(text)
        try Self.checkDefinitions(text)
    }

    /// Throws when so many masks may have masks that no stack is deep enough: librsvg takes some 30 KB for each.
    private static func checkDefinitions(_ text: Data) throws(ImagingError) {
        var count = 0
        for name in ["mask", "pattern", "marker", "feImage"] {
            var place = text.startIndex
            while let found = text.range(of: Data(name.utf8), in: place..<text.endIndex) {
                place = found.upperBound
                // Behind the sign that begins an element, or a prefix.
                if found.lowerBound > text.startIndex, "<:".utf8.contains(text[found.lowerBound - 1]) { count += 1 }
            }
        }
        guard count <= 20_000 else { throw refusal("a drawing with \(count) masks, patterns and markers") }
    }

    /// Throws when a matrix of a filter has more numbers than 400, at which librsvg 2.54 ends the process.
    private static func checkMatrices(_ text: Data) throws(ImagingError) {
        var place = text.startIndex
        while let name = text.range(of: Data("kernelMatrix".utf8), in: place..<text.endIndex) {
            place = name.upperBound
            guard let value = value(in: text, at: place) else { continue }
            // So many need a digit each and what parts them.
            guard value.count <= 800, !value.contains(UInt8(ascii: "&")) else { throw refusal("a matrix so large") }
        }
    }

    private mutating func count(_ data: Data, _ depth: Int) throws(ImagingError) {
        if data.isEmpty { return }
        if ImageContentType(sniffing: data) == .svg { try check(data, depth: depth + 1) }
        guard let info = try? ImageInfo(data: data) else {
            throw Self.refusal("a picture within the drawing that is damaged or of an unknown format")
        }
        let (width, height) = (info.pixelWidth, info.pixelHeight)
        try limits.check(width: width, height: height)
        pixelCount += 2 * width * height
        guard pixelCount > limits.maxPixelCount else { return }
        throw .limitExceeded(limit: "maxPixelCount", allowed: limits.maxPixelCount, width: width, height: height)
    }

    /// Throws when the text says `href` in another way than in these letters, or may put together what it refers to.
    private static func checkIsPlain(_ text: Data) throws(ImagingError) {
        let headEnd = text.range(of: Data("?>".utf8))?.lowerBound ?? text.endIndex
        let head = String(decoding: text[..<headEnd].prefix(10_000), as: UTF8.self).lowercased()
        if let word = head.range(of: "encoding\\s*=\\s*[\"'][^\"']*", options: .regularExpression) {
            let name = head[word].drop { $0 != "\"" && $0 != "'" }.dropFirst()
            let known = ["utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "windows-125"]
            guard known.contains(where: name.hasPrefix) else { throw refusal("text in the encoding \(name)") }
        }
        guard !text.contains(0) else { throw refusal("text that is not of bytes") }
        var place = text.startIndex
        while let start = text.range(of: Data("<!ENTITY".utf8), in: place..<text.endIndex)?.upperBound {
            let quote =
                text[start...].firstIndex { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") } ?? text.endIndex
            let value = text[quote...].dropFirst().prefix { quote < text.endIndex && $0 != text[quote] }
            guard !text[start..<quote].contains(UInt8(ascii: "%")), !value.contains(where: { "<&%".utf8.contains($0) })
            else { throw refusal("entities that are more than text") }
            place = value.endIndex
        }
        try checkDefaults(text)
    }

    /// Throws when an attribute that matters may have a default.
    private static func checkDefaults(_ text: Data) throws(ImagingError) {
        guard let start = text.range(of: Data("<!ATTLIST".utf8))?.upperBound else { return }
        for name in ["href", "kernelMatrix"] {
            var place = start
            while let found = text.range(of: Data(name.utf8), in: place..<text.endIndex) {
                place = found.upperBound
                // Where it is used there is an equals sign; a default stands behind the name of a type.
                guard value(in: text, at: place) != nil else { throw refusal("a drawing that declares \(name)") }
            }
        }
    }

    /// What stands in quotes behind the name of an attribute and an equals sign.
    private static func value(in text: Data, at place: Data.Index) -> Data? {
        func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
        var rest = text[place...].drop(while: isSpace)
        guard rest.popFirst() == UInt8(ascii: "=") else { return nil }
        rest = rest.drop(while: isSpace)
        guard let quote = rest.popFirst(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        return rest.prefix { $0 != quote }
    }

    /// The bytes that a reference contains; nil when it is one to elsewhere, which is not followed, or to a style.
    private static func picture(_ value: Data) throws(ImagingError) -> Data? {
        let plain = String(decoding: value, as: UTF8.self).replacing("&amp;", with: "")
        let text = plain.filter { !$0.isWhitespace }
        let start = text.prefix(13).prefix { $0 != "&" }.lowercased()
        guard start.hasPrefix("data:") || start.count < 5 && "data:".hasPrefix(start), start != "data:text/css" else {
            return nil
        }
        guard !text.contains("&") else { throw refusal("a reference with entities") }
        guard start.hasPrefix("data:") else { return nil }
        guard let comma = text.firstIndex(of: ",") else { throw refusal("data without a comma") }
        let isBase64 = text[..<comma].lowercased().hasSuffix(";base64")
        // In plain text white space counts.
        let body = isBase64 ? text[comma...].dropFirst() : plain.drop { $0 != "," }.dropFirst()
        let bytes = decodingPercents(body)
        guard isBase64 else { return bytes }
        guard let data = Data(base64Encoded: bytes, options: .ignoreUnknownCharacters) else {
            throw .malformed(.svg, detail: "the data of a reference are not in base 64")
        }
        return data
    }

    private static func decodingPercents(_ text: Substring) -> Data {
        var (data, rest) = (Data(), text.utf8[...])
        while let byte = rest.popFirst() {
            let digits = Substring(rest.prefix(2))
            if byte == UInt8(ascii: "%"), digits.count == 2, let value = UInt8(digits, radix: 16) {
                data.append(value)
                rest = rest.dropFirst(2)
            } else {
                data.append(byte)
            }
        }
        return data
    }

    private static func refusal(_ what: String) -> ImagingError {
        .unsupported(.svg, detail: what + " is not looked into")
    }
}
#endif
