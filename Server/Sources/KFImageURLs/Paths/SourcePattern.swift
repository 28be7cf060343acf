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

    package func matches(_ source: String) -> Bool {
        // All places in the source that the pattern read so far may end at.
        let bytes = Array(source.utf8)
        var places: Set<Int> = [0]
        for expected in text.utf8 {
            if expected == UInt8(ascii: "*") {
                for place in places {
                    var end = place
                    while end < bytes.count, !Self.ends(bytes[end]) {
                        end += 1
                        places.insert(end)
                    }
                }
            } else {
                places = Set(places.compactMap { $0 < bytes.count && bytes[$0] == expected ? $0 + 1 : nil })
            }
        }
        return !places.isEmpty
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
