// Describes bytes that are no image, such as HTML or JSON, for error messages. Never decides whether something is
// decoded.

/// Recognises common kinds of content that are not images.
enum NonImageContent {
    /// A noun with its article, such as "an HTML page"; nil when the bytes look like none of these.
    static func describe(_ bytes: UnsafeRawBufferPointer) -> String? {
        if bytes.starts(with: [0x1F, 0x8B]) { return "gzip-compressed data" }
        if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) { return "a ZIP archive" }
        if bytes.allSatisfy({ $0 == 0 }) { return "nothing but zeros" }
        return describeText(Array(bytes.prefix(512)))
    }

    private static func describeText(_ bytes: [UInt8]) -> String? {
        guard isText(bytes) else { return nil }
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = bytes.starts(with: byteOrderMark) ? bytes.dropFirst(3) : bytes[...]
        let text = start.drop { $0 == 32 || (9...13).contains($0) }
        let lowercased = String(decoding: text, as: UTF8.self).lowercased()
        switch lowercased.first {
        case "<":
            if lowercased.hasPrefix("<!doctype html") || lowercased.contains("<html") { return "an HTML page" }
            if lowercased.contains("<svg") { return "an SVG drawing" }
            if lowercased.hasPrefix("<?xml") { return "an XML document" }
            let tags = ["<head", "<body", "<title", "<div", "<p>", "<h1", "<script", "<!--", "<meta"]
            return tags.contains { lowercased.hasPrefix($0) } ? "an HTML page" : "an XML document"
        case "{", "[":
            return "a JSON document"
        default:
            return "plain text"
        }
    }

    /// Control characters other than white space do not occur in text.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        guard bytes.allSatisfy({ $0 >= 32 && $0 != 127 || (9...13).contains($0) || $0 == 27 }) else { return false }
        // A character may be cut off at the end of the bytes examined here.
        return (0...3).contains { cut in String(validating: bytes.dropLast(cut), as: UTF8.self) != nil }
    }
}
