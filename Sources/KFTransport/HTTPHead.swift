// The status line and the fields of one HTTP response, as the bytes that came; read when asked for.

/// The head of an HTTP response, kept as its bytes: most downloads look at one or two of its fields.
struct HTTPHead: Sendable {
    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    /// The status, such as 200.
    private(set) var status = 0
    /// The protocol, such as `HTTP/1.1` or `HTTP/2`.
    private(set) var version = ""
    private var bytes: [UInt8] = []
    /// Where the fields begin: behind the status line.
    private var fieldsStart = 0
    /// Whether the empty line behind the fields has come.
    private(set) var isComplete = false

    /// How many bytes there are.
    var count: Int { bytes.count }
    /// Whether it is complete, and not that of an interim response.
    var isFinal: Bool { isComplete && status >= 200 }

    /// Whether another head may follow: this one is of an interim response, or of one that demands credentials, which
    /// libcurl may have.
    private var mayBeFollowed: Bool { isComplete && (status < 200 || status == 401 || status == 407) }

    /// Takes the next line, with its end.
    ///
    /// A status line begins a new head. Fields behind the body (trailers) are none of the head, and are dropped.
    mutating func append(_ line: UnsafeRawBufferPointer) {
        if line.starts(with: "HTTP/".utf8), bytes.isEmpty || mayBeFollowed {
            self = HTTPHead()
            bytes.reserveCapacity(512)
            bytes.append(contentsOf: line)
            fieldsStart = bytes.count
            let words = bytes.split(separator: UInt8(ascii: " "), maxSplits: 2)
            version = String(decoding: words[0], as: UTF8.self)
            status = words.count > 1 ? words[1].prefix(3).reduce(0) { $0 * 10 + Int($1) - 48 } : 0
        } else if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") {
            isComplete = true
        } else if !isComplete {
            bytes.append(contentsOf: line)
        }
    }

    /// The names and values of the fields, in the order they came.
    var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        forEachField { fields.append((String(decoding: $0, as: UTF8.self), Self.trimmed($1))) }
        return fields
    }

    /// The value of a field, whatever the case of its name; the values of several joined by commas.
    func value(of name: String) -> String? {
        var found: String?
        forEachField { field, value in
            guard Self.isName(field, name) else { return }
            let value = Self.trimmed(value)
            found = found.map { $0 + ", " + value } ?? value
        }
        return found
    }

    /// The value of the first field of a name as it came, which need not be UTF-8.
    func bytes(of name: String) -> [UInt8]? {
        var found: [UInt8]?
        forEachField { field, value in
            if found == nil, Self.isName(field, name) { found = Array(Self.withoutBlanks(value)) }
        }
        return found
    }

    private static func isName(_ field: Bytes, _ name: String) -> Bool {
        field.count == name.utf8.count && zip(field, name.utf8).allSatisfy { $0 | 32 == $1 | 32 }
    }

    private func forEachField(_ body: (_ name: Bytes, _ value: Bytes) -> Void) {
        bytes.withUnsafeBufferPointer { bytes in
            var rest = bytes[fieldsStart...]
            while !rest.isEmpty {
                let line = rest.prefix { $0 != 13 && $0 != 10 }
                rest = rest[line.endIndex...].dropFirst()
                if let colon = line.firstIndex(of: UInt8(ascii: ":")) { body(line[..<colon], line[(colon + 1)...]) }
            }
        }
    }

    private static func trimmed(_ bytes: Bytes) -> String { String(decoding: withoutBlanks(bytes), as: UTF8.self) }

    private static func withoutBlanks(_ bytes: Bytes) -> Bytes {
        func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
        let start = bytes.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start.startIndex
        return start[..<end]
    }
}
