// Texts from images, URLs and file names in a form that is safe to print to a terminal.

extension Unicode.Scalar {
    /// Whether the character controls a terminal instead of being shown.
    ///
    /// These are control characters, also those of the range C1, the separators of lines and paragraphs, and characters
    /// that change the direction of a text; the tab, which only separates columns, is not one of them.
    var steersTerminals: Bool {
        switch value {
        case 0x09: false
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    /// The text in one line, with the characters that control terminals spelled out, as `\u{1B}`, and the bytes of
    /// names that are not UTF-8, as `\xE9`.
    var visible: String {
        guard unicodeScalars.contains(where: { $0.steersTerminals || $0.byteOfName != nil }) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if let byte = scalar.byteOfName {
                text += "\\x\(String(byte, radix: 16, uppercase: true))"
            } else if scalar.steersTerminals {
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// The text as a part of a file's name: `_` for the two characters that no name can have.
    ///
    /// - Parameter isFromServer: Whether the name comes from a server. Then characters that control terminals become
    ///   `_`, too.
    /// - Returns: The text.
    func asFileName(isFromServer: Bool) -> String {
        unicodeScalars.reduce(into: "") { text, scalar in
            let isReplaced = scalar == "/" || scalar.value == 0 || isFromServer && scalar.steersTerminals
            text.unicodeScalars.append(isReplaced ? "_" : scalar)
        }
    }

    /// The beginning of a file's name, of at most so many bytes.
    func beginning(bytes limit: Int) -> String {
        var count = 0
        let beginning = prefix { (character: Character) -> Bool in
            for scalar in character.unicodeScalars { count += scalar.byteOfName == nil ? scalar.utf8.count : 1 }
            return count <= limit
        }
        return String(beginning)
    }
}
