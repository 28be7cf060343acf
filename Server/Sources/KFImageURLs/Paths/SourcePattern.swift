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
        guard let scheme = text.utf8.firstRange(of: "://".utf8) else { return true }
        return !text.utf8[scheme.upperBound...].contains(UInt8(ascii: "/"))
    }

    /// Whether a source begins like the pattern; takes time in proportion to the source.
    package func matches(_ source: String) -> Bool {
        let pieces = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        var rest = Array(source.utf8)[...]
        for (index, piece) in pieces.enumerated() {
            // The first place is the best: whatever follows a later one also follows it. (If the piece itself ends a part,
            // there is only one place.)
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
func hasDotSegments(_ source: String) -> Bool {
    var text = source.lowercased()
    for (code, character) in [("%2e", "."), ("%2f", "/"), ("%5c", "/"), ("\\", "/"), ("?", "/"), ("#", "/")] {
        text = text.replacing(code, with: character)
    }
    return parts(of: text, by: "/").contains { $0 == "." || $0 == ".." }
}
