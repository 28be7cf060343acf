// How texts become the values of single settings. For the table of settings.

import Foundation

extension Value where T == String {
    /// A text that may stand in a field of HTTP, and in quotes there.
    static var fieldText: Self {
        Value(
            words: "printable ASCII without quotes and backslashes",
            read: { text in
                text.utf8.allSatisfy { (0x20...0x7E).contains($0) && !"\"\\".utf8.contains($0) } ? text : nil
            },
            write: { $0 }
        )
    }

    /// What a name in Prometheus' format may begin with.
    static var metricsName: Self {
        Value(
            words: "letters, digits and _, no digit first",
            read: { text in text.wholeMatch(of: #/[A-Za-z_][A-Za-z0-9_]*/#) == nil ? nil : text },
            write: { $0 }
        )
    }
}

extension Value where T == [UInt8] {
    /// Bytes in base64.
    static var base64: Self {
        Value(
            words: "base64",
            read: { text in Data(base64Encoded: text).map { Array($0) } },
            write: { $0.isEmpty ? "" : "\($0.count) bytes" }
        )
    }
}

extension Value where T == Date {
    /// An instant in RFC 3339.
    static var date: Self {
        Value(
            words: "a time such as 2026-01-31T12:00:00Z",
            read: { try? Date($0, strategy: .iso8601) },
            write: { $0.formatted(.iso8601) }
        )
    }
}

extension Value {
    /// The same, in capitals too.
    var inAnyCase: Self { Value(words: words, read: { read($0.lowercased()) }, write: write) }
}

extension Value where T == LogFormat {
    /// Its names, and imgproxy's.
    static var logFormat: Self {
        let name = Value.name()
        return Value(
            words: name.words,
            read: { text in
                switch text {
                case "pretty", "structured": .text
                case "gcp": .json
                default: name.read(text)
                }
            },
            write: name.write
        ).inAnyCase
    }
}

extension Value where T == LogLevel {
    /// Its names, and imgproxy's.
    static var logLevel: Self {
        let name = Value.name()
        return Value(words: name.words, read: { name.read($0 == "warn" ? "warning" : $0) }, write: name.write).inAnyCase
    }
}

extension Value where T == [SourceReplacement] {
    static var replacements: Self {
        Value(
            words: "beginning=replacement; several with semicolons",
            read: { text in
                let pairs = parts(of: text, by: ";").map {
                    $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                }
                guard pairs.allSatisfy({ $0.count == 2 }) else { return nil }
                return pairs.map { SourceReplacement(pattern: String($0[0]), replacement: String($0[1])) }
            },
            write: { $0.map { "\($0.pattern)=\($0.replacement)" }.joined(separator: ";") }
        )
    }
}

/// Presets as settings write them, `name=option/option`.
enum Presets {
    /// The options of each, a segment each; nil if a text is no preset.
    ///
    /// Empty texts, and those that begin with `#`, are left out.
    static func read(_ texts: [String]) -> [String: [String]]? {
        var presets: [String: [String]] = [:]
        for text in texts.map(trimmed) where !text.isEmpty && !text.hasPrefix("#") {
            let halves = parts(of: text, by: "=").map(trimmed)
            guard halves.count == 2, !halves[0].isEmpty, !halves[1].isEmpty else { return nil }
            presets[halves[0]] = parts(of: halves[1], by: "/")
        }
        return presets
    }

    static func text(of presets: [String: [String]], separator: String) -> String {
        presets.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.joined(separator: "/"))" }
            .joined(separator: separator)
    }
}
