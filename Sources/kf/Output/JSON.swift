// JSON whose keys keep the order they were given in, for `--json`; and its objects as lines of comma-separated values
// (RFC 4180), for `--csv`.

import Foundation

/// A JSON value.
///
/// Its description is the value on one line, with the keys in the order they were given in; Foundation's encoder would
/// sort or shuffle them.
enum JSON: Equatable, CustomStringConvertible {
    case null
    case bool(Bool)
    case int(Int)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    /// A key and its value.
    struct Member: Equatable {
        let key: String
        let value: JSON
    }

    var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .int(let value): String(value)
        // JSON has no word for infinity.
        case .number(let value): value.isFinite ? Self.text(value) : "null"
        case .string(let value): Self.quoted(value)
        case .array(let values): "[" + values.map(\.description).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0.key)):\($0.value)" }.joined(separator: ",") + "}"
        }
    }

    private static func text(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
    }

    /// A string on one line: characters that would end the line or control a terminal are escaped, and bytes of names
    /// that are not UTF-8 are spelled out.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.byteOfName != nil: result += "\\" + String(scalar).visible
            case _ where scalar.steersTerminals:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension JSON: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member(key: $0.0, value: $0.1) })
    }
}

extension JSON: Decodable {
    /// A value that another type has written; the keys of objects are sorted.
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let int = try? value.decode(Int.self) {
            self = .int(int)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let values = try? value.decode([JSON].self) {
            self = .array(values)
        } else {
            let members = try value.decode([String: JSON].self)
            self = .object(members.sorted { $0.key < $1.key }.map { Member(key: $0.key, value: $0.value) })
        }
    }
}

extension JSON {
    /// The value, or null.
    static func optional<Value>(_ value: Value?, _ wrap: (Value) -> JSON) -> JSON { value.map(wrap) ?? .null }

    /// A duration rounded to a microsecond, so that lines stay readable.
    static func milliseconds(_ seconds: Double) -> JSON { .number((seconds * 1_000_000).rounded() / 1_000) }
}

/// The members of JSON objects as lines.
///
/// A value may have line breaks, and is not rewritten.
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
