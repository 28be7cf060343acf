// The sources that a configuration allows. For the parser.

/// The beginning of allowed sources; `*` stands for any characters within a part of the URL.
///
/// It does not stand for any of `/ ? # @ \`, so that what follows it is in the same part of the URL as it seems.
package struct SourcePattern: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// Whether the pattern leaves the end of the host open, so that it allows `example.com.elsewhere.org`.
    var endsWithinHost: Bool {
        if text.utf8.starts(with: "local://".utf8) { return false }
        guard let scheme = text.utf8.firstRange(of: "://".utf8) else { return true }
        return !text.utf8[scheme.upperBound...].contains(UInt8(ascii: "/"))
    }

    /// Whether a source begins like the pattern; takes time in proportion to the source.
    package func matches(_ source: some Sequence<UInt8>) -> Bool {
        let pieces = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        var rest = Array(source)[...]
        for (index, piece) in pieces.enumerated() {
            // The first place is the best: whatever follows a later one also follows it. (If the piece itself ends a
            // part, there is only one place.)
            while !rest.starts(with: piece) {
                guard index > 0, let byte = rest.first, !Self.ends(byte) else { return false }
                rest = rest.dropFirst()
            }
            rest = rest.dropFirst(piece.count)
        }
        return true
    }

    private static func ends(_ byte: UInt8) -> Bool {
        "/?#@\\".utf8.contains(byte)
    }
}

/// Whether a part of the source is `.` or `..`, also an encoded one: it would lead out of what a pattern allows.
///
/// Of bytes, because a character may be more than one of them: a mark on a slash hides it among characters.
func hasDotSegments(_ source: [UInt8]) -> Bool {
    let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
    var bytes = source.map { capitals.contains($0) ? $0 | 0x20 : $0 }
    for (code, character) in [("%2e", "."), ("%2f", "/"), ("%5c", "/"), ("\\", "/"), ("?", "/"), ("#", "/")] {
        bytes = bytes.replacing(code.utf8, with: character.utf8)
    }
    return bytes.split(separator: UInt8(ascii: "/")).contains { part in
        part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8)
    }
}
