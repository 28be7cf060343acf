// Reads the markup of a drawing, piece by piece, and takes nothing that is not well-formed. For DrawingCleaner.
//
// It is not a parser of XML in C, since drawings are untrusted, and what reads these in the process of the server
// must be safe. What is written of its pieces is read in one way only: so it need not be read as each browser does it.

/// A piece of markup.
enum MarkupPiece: Equatable {
    /// The start of an element, by its name with prefix.
    case start(String, [MarkupAttribute], isEmpty: Bool)
    case end(String)
    /// Text without references.
    case text(String)
}

/// An attribute; its value has no references.
struct MarkupAttribute: Equatable {
    let name: String
    let value: String
}

/// Why markup is not taken.
package struct MarkupError: Error {
    package let reason: String
}

/// A reader of markup in UTF-8.
///
/// Comments, instructions and the document type are left out; entities that this declares are replaced by their text.
struct MarkupReader {
    /// The most attributes of an element, which no program that draws has use for.
    private static let mostAttributes = 1000

    private var rest: Substring.UTF8View
    private var open: [String] = []
    private var hasRoot = false
    private var entities = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
    /// How much text of entities may yet be put in place of references.
    private var expansion: Int

    init(_ text: String) {
        rest = Substring(text).utf8
        expansion = 4 * text.utf8.count
        if text.utf8.starts(with: "\u{FEFF}".utf8) { rest = rest.dropFirst(3) }
    }

    /// The next piece; nil at the end.
    mutating func next() throws(MarkupError) -> MarkupPiece? {
        while let first = rest.first {
            guard first == UInt8(ascii: "<") else {
                let text = try unescaped(take { $0 != UInt8(ascii: "<") })
                if !open.isEmpty { return .text(text) }
                guard text.allSatisfy(\.isWhitespace) else {
                    throw MarkupError(reason: "there is text beside the drawing")
                }
                continue
            }
            if skip("<!--") {
                _ = try take(until: "-->")
            } else if skip("<![CDATA[") {
                let text = try take(until: "]]>")
                guard !open.isEmpty else { throw MarkupError(reason: "there is text beside the drawing") }
                return .text(text)
            } else if skip("<?") {
                let instruction = try take(until: "?>")
                try checkEncoding(instruction)
            } else if skip("<!DOCTYPE") {
                guard !hasRoot else { throw MarkupError(reason: "a document type is in the middle") }
                try readDocumentType()
            } else if skip("</") {
                return try readEnd()
            } else {
                rest.removeFirst()
                return try readStart()
            }
        }
        guard open.isEmpty, hasRoot else { throw MarkupError(reason: "it ends before its elements do") }
        return nil
    }

    private mutating func readStart() throws(MarkupError) -> MarkupPiece {
        guard !(hasRoot && open.isEmpty) else { throw MarkupError(reason: "there is more than one drawing") }
        hasRoot = true
        let name = try takeName()
        var attributes: [MarkupAttribute] = []
        var names: Set<String> = []
        while true {
            let hadSpace = skipSpace()
            if skip("/>") { return .start(name, attributes, isEmpty: true) }
            if skip(">") {
                open.append(name)
                return .start(name, attributes, isEmpty: false)
            }
            guard hadSpace else { throw MarkupError(reason: "attributes are not apart") }
            let attribute = try takeName()
            guard names.insert(attribute).inserted else {
                throw MarkupError(reason: "an element has an attribute twice")
            }
            guard names.count <= Self.mostAttributes else {
                throw MarkupError(reason: "an element has more than \(Self.mostAttributes) attributes")
            }
            _ = skipSpace()
            guard skip("=") else { throw MarkupError(reason: "an attribute has no value") }
            _ = skipSpace()
            attributes.append(MarkupAttribute(name: attribute, value: try unescaped(takeQuoted(isAttribute: true))))
        }
    }

    private mutating func readEnd() throws(MarkupError) -> MarkupPiece {
        let name = try takeName()
        _ = skipSpace()
        guard skip(">"), open.popLast() == name else { throw MarkupError(reason: "an element ends that has not begun") }
        return .end(name)
    }

    /// Takes the entities that it declares with a text; of the others references are errors.
    private mutating func readDocumentType() throws(MarkupError) {
        var isInside = false
        while let byte = rest.first {
            if skip("<!--") {
                _ = try take(until: "-->")
            } else if isInside, skip("<!ENTITY") {
                try readEntity()
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                _ = try takeQuoted(isAttribute: false)
            } else if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") {
                isInside = byte == UInt8(ascii: "[")
                rest.removeFirst()
            } else if byte == UInt8(ascii: ">"), !isInside {
                rest.removeFirst()
                return
            } else {
                rest.removeFirst()
            }
        }
        throw MarkupError(reason: "the document type does not end")
    }

    private mutating func readEntity() throws(MarkupError) {
        _ = skipSpace()
        guard let name = try? takeName() else { return }
        _ = skipSpace()
        guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return }
        let value = try takeQuoted(isAttribute: false)
        // Markup in an entity, and an entity in an entity, are not for drawings.
        if !value.utf8.contains(UInt8(ascii: "<")), !value.utf8.contains(UInt8(ascii: "&")), entities[name] == nil {
            entities[name] = value
        }
    }

    /// What is no UTF-8 was not read as what it is.
    private func checkEncoding(_ instruction: String) throws(MarkupError) {
        guard let match = instruction.lowercased().firstMatch(of: /^xml\s.*encoding\s*=\s*["']([^"']*)["']/) else {
            return
        }
        guard ["utf-8", "utf8", "us-ascii", "ascii"].contains(match.1) else {
            throw MarkupError(reason: "it is not in UTF-8")
        }
    }

    // MARK: Bytes

    private mutating func skip(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes in
            guard rest.starts(with: bytes) else { return false }
            rest = rest.dropFirst(bytes.count)
            return true
        }
    }

    private mutating func skipSpace() -> Bool {
        let count = rest.count
        rest = rest.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return rest.count < count
    }

    private mutating func take(while isTaken: (UInt8) -> Bool) -> String {
        let taken = rest.prefix(while: isTaken)
        rest = rest[taken.endIndex...]
        return String(Substring(taken))
    }

    private mutating func take(until end: String) throws(MarkupError) -> String {
        guard let found = rest.firstRange(of: end.utf8) else { throw MarkupError(reason: "\(end) is missing") }
        let taken = rest[..<found.lowerBound]
        rest = rest[found.upperBound...]
        return String(Substring(taken))
    }

    private mutating func takeQuoted(isAttribute: Bool) throws(MarkupError) -> String {
        guard let quote = rest.popFirst(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw MarkupError(reason: "a value has no quotes")
        }
        let taken = take { $0 != quote }
        guard rest.popFirst() == quote, !(isAttribute && taken.utf8.contains(UInt8(ascii: "<"))) else {
            throw MarkupError(reason: "a value does not end")
        }
        return taken
    }

    private mutating func takeName() throws(MarkupError) -> String {
        let name = take { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...: true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
            case UInt8(ascii: "_"), UInt8(ascii: ":"): true
            default: false
            }
        }
        guard let first = name.utf8.first, !"0123456789-.".utf8.contains(first) else {
            throw MarkupError(reason: "a name is missing")
        }
        return name
    }

    /// The text with what its references stand for.
    private mutating func unescaped(_ text: String) throws(MarkupError) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        let pieces = text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        var result = pieces.first.map { String(Substring($0)) } ?? ""
        for piece in pieces.dropFirst() {
            guard let end = piece.firstIndex(of: UInt8(ascii: ";")) else {
                throw MarkupError(reason: "a reference does not end")
            }
            result += try meaning(ofReference: String(Substring(piece[..<end])))
            result += String(Substring(piece[end...].dropFirst()))
        }
        return result
    }

    private mutating func meaning(ofReference name: String) throws(MarkupError) -> String {
        if let text = entities[name] {
            expansion -= text.utf8.count
            guard expansion >= 0 else { throw MarkupError(reason: "its entities make it too long") }
            return text
        }
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard name.hasPrefix("#"), let number = UInt32(digits, radix: isHexadecimal ? 16 : 10),
            number >= 0x20 || [9, 10, 13].contains(number), let scalar = Unicode.Scalar(number)
        else { throw MarkupError(reason: "nothing is known of the reference \(name.prefix(40))") }
        return String(Character(scalar))
    }
}
