// A variable of the environment that sets up a server. The entries of the table of settings.

/// A setting: its names, what it may be, and what it changes.
package struct Setting: Sendable {
    /// What the names of imgproxy's settings begin with.
    static let imgproxyPrefix = "IMGPROXY_"

    /// Ours first; others that mean the same, which count where ours is not set, after it.
    package let names: [String]
    /// One sentence.
    package let help: String
    /// What it may be, in words.
    package let words: String
    /// Whether its value is never shown.
    package let isSecret: Bool
    /// Whether an empty variable sets it; for others it is as if there were none.
    let mayBeEmpty: Bool
    /// The value in a configuration, as in the environment.
    package let show: @Sendable (ServerConfiguration) -> String
    /// What a value means that may be expected to mean something else; nil for others.
    let note: @Sendable (String) -> String?
    /// Whether the text was a value.
    let set: @Sendable (inout ServerConfiguration, String) -> Bool

    /// A setting that imgproxy has, too, under the same name behind its own prefix, and under the aliases.
    init<T>(
        _ name: String,
        _ value: Value<T>,
        _ field: any WritableKeyPath<ServerConfiguration, T> & Sendable,
        aliases: [String] = [],
        isSecret: Bool = false,
        mayBeEmpty: Bool = false,
        help: String,
        note: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        let names = ["KF_" + name] + ([name] + aliases).map { Self.imgproxyPrefix + $0 }
        self.init(names: names, value, field, isSecret: isSecret, mayBeEmpty: mayBeEmpty, help: help, note: note)
    }

    /// A setting of this server only.
    init<T>(
        ours name: String,
        _ value: Value<T>,
        _ field: any WritableKeyPath<ServerConfiguration, T> & Sendable,
        isSecret: Bool = false,
        help: String
    ) {
        self.init(
            names: ["KF_" + name],
            value,
            field,
            isSecret: isSecret,
            mayBeEmpty: false,
            help: help,
            note: { _ in nil }
        )
    }

    /// A setting whose value depends on others before it in the table.
    init(
        _ name: String,
        words: String,
        help: String,
        show: @escaping @Sendable (ServerConfiguration) -> String,
        set: @escaping @Sendable (inout ServerConfiguration, String) -> Bool
    ) {
        names = ["KF_" + name, Self.imgproxyPrefix + name]
        (self.words, self.help, self.show, self.set) = (words, help, show, set)
        (isSecret, mayBeEmpty, note) = (false, false, { _ in nil })
    }

    private init<T>(
        names: [String],
        _ value: Value<T>,
        _ field: any WritableKeyPath<ServerConfiguration, T> & Sendable,
        isSecret: Bool,
        mayBeEmpty: Bool,
        help: String,
        note: @escaping @Sendable (String) -> String?
    ) {
        (self.names, self.words, self.isSecret, self.help) = (names, value.words, isSecret, help)
        (self.mayBeEmpty, self.note) = (mayBeEmpty, note)
        show = { value.write($0[keyPath: field]) }
        set = { configuration, text in
            guard let read = value.read(text) else { return false }
            configuration[keyPath: field] = read
            return true
        }
    }
}

extension Value {
    /// Several, with commas between them.
    func list() -> Value<[T]> {
        Value<[T]>(
            words: words + "; several with commas",
            read: { text in
                let pieces = parts(of: text, by: ",").map(trimmed).filter { !$0.isEmpty }
                let values = pieces.compactMap(read)
                return values.count == pieces.count ? values : nil
            },
            write: { $0.map(write).joined(separator: ",") }
        )
    }
}

extension Value where T == [UInt8] {
    /// Bytes of a key.
    static var hexBytes: Self {
        Value(
            words: "hexadecimal",
            read: { text in
                let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
                guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
                return stride(from: 0, to: digits.count, by: 2).map { (place: Int) -> UInt8 in
                    UInt8(digits[place] * 16 + digits[place + 1])
                }
            },
            write: { "\($0.count) bytes" }
        )
    }
}

extension Value where T == ServerConfiguration.Address {
    static var address: Self {
        Value(
            words: "host:port; without a host every IPv4 address of the machine, [::]:port is for IPv6, too",
            read: { text in
                let pieces = parts(of: text, by: ":")
                guard pieces.count > 1, let port = UInt16(pieces[pieces.count - 1]) else { return nil }
                var host = pieces.dropLast().joined(separator: ":")
                if host.hasPrefix("["), host.hasSuffix("]") {
                    host = String(host.dropFirst().dropLast())
                } else if pieces.count > 2 {
                    return nil
                }
                return T(host: host, port: Int(port))
            },
            write: { $0.host.contains(":") ? "[\($0.host)]:\($0.port)" : "\($0.host):\($0.port)" }
        )
    }
}

extension Value where T == [FileFormat: Int] {
    static var formatQualities: Self {
        Value(
            words: "format=quality; several with commas",
            read: { text in
                let pieces = parts(of: text, by: ",").map(trimmed).filter { !$0.isEmpty }
                let pairs = pieces.map { parts(of: $0, by: "=").map(trimmed) }
                guard pairs.allSatisfy({ $0.count == 2 }) else { return nil }
                return try? FormatQualities.read(pairs: pairs.flatMap(\.self)).get()
            },
            write: { qualities in
                qualities.map { "\($0.key.rawValue)=\($0.value)" }.sorted().joined(separator: ",")
            }
        )
    }
}

extension Value where T == SourcePattern {
    static var source: Self {
        Value(words: "beginning of URLs, with * for a part", read: SourcePattern.init, write: \.text)
    }
}

extension Value where T == String {
    /// What paths begin with: a slash at its beginning, and none at its end.
    static var pathPrefix: Self {
        Value(
            words: "path",
            read: { text in
                let segments = parts(of: text, by: "/").filter { !$0.isEmpty }
                return segments.map { "/" + $0 }.joined()
            },
            write: { $0 }
        )
    }
}

func trimmed(_ text: String) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
}
