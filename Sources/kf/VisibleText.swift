// Texts from pictures, URLs and file names as a terminal may be shown them. Knows nothing of what they say.

extension Unicode.Scalar {
    /// Whether a terminal obeys the character instead of showing it: control characters, also those of the range C1,
    /// the separators of lines and paragraphs, and what changes the direction of a text.
    ///
    /// The tab is none of them: all it does is to stand between columns.
    var steersTerminals: Bool {
        switch value {
        case 0x09: false
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    /// The text in one line that steers no terminal: the characters that would are spelled out, as `\u{1B}`.
    var visible: String {
        guard unicodeScalars.contains(where: \.steersTerminals) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.steersTerminals {
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// The text as a part of a file's name: `_` for separators, tabs and what would steer a terminal.
    var asFileName: String {
        unicodeScalars.reduce(into: "") { text, scalar in
            text.unicodeScalars.append(scalar.steersTerminals || ["/", "\t"].contains(scalar) ? "_" : scalar)
        }
    }
}
