// Comma-separated values, as in RFC 4180, for `--csv`. A value may have line breaks, and is not rewritten.

/// The members of JSON objects as lines.
enum CSV {
    /// The line of the names.
    static func header(_ members: [JSON.Member]) -> String { line(members.map { .string($0.key) }) }

    /// The line of the values; null is empty.
    static func row(_ members: [JSON.Member]) -> String { line(members.map(\.value)) }

    private static func line(_ values: [JSON]) -> String { values.map(cell).joined(separator: ",") }

    private static func cell(_ value: JSON) -> String {
        let text =
            switch value {
            case .null: ""
            case .string(let text): text
            default: value.description
            }
        guard text.utf8.contains(where: ",\"\r\n".utf8.contains) else { return text }
        let doubled = text.unicodeScalars.flatMap { $0 == "\"" ? [$0, $0] : [$0] }
        return "\"\(String(String.UnicodeScalarView(doubled)))\""
    }
}
