// The status line and the fields of one HTTP response, as the bytes that came; read when asked for.

/// The head of an HTTP response, kept as its bytes: most downloads look at one or two of its fields.
struct HTTPHead: Sendable {
    /// More bytes than this are no head of a response that anyone has a use for.
    static let longest = 300 << 10

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

    /// Takes the next line, with its end.
    ///
    /// A status line begins a new head: what came before was an interim response.
    mutating func append(_ line: UnsafeRawBufferPointer) {
        if line.starts(with: "HTTP/".utf8), bytes.isEmpty || isComplete {
            self = HTTPHead()
            bytes.reserveCapacity(512)
            bytes.append(contentsOf: line)
            fieldsStart = bytes.count
            let words = bytes.split(separator: UInt8(ascii: " "), maxSplits: 2)
            version = String(decoding: words[0], as: UTF8.self)
            status = words.count > 1 ? words[1].prefix(3).reduce(0) { $0 * 10 + Int($1) - 48 } : 0
        } else if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") {
            isComplete = true
        } else {
            bytes.append(contentsOf: line)
        }
    }

    /// The names and values of the fields, in the order they came.
    var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        forEachLine { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            fields.append((name, Self.trimmed(line[(colon + 1)...])))
        }
        return fields
    }

    /// The value of a field, whatever the case of its name; the values of several joined by commas.
    func value(of name: String) -> String? {
        var name = name
        return name.withUTF8 { name in
            var found: String?
            forEachLine { line in
                guard line.count > name.count, line[line.startIndex + name.count] == UInt8(ascii: ":") else { return }
                for (index, byte) in name.enumerated() where line[line.startIndex + index] | 32 != byte | 32 { return }
                let value = Self.trimmed(line[(line.startIndex + name.count + 1)...])
                found = found.map { $0 + ", " + value } ?? value
            }
            return found
        }
    }

    private func forEachLine(_ body: (Slice<UnsafeBufferPointer<UInt8>>) -> Void) {
        bytes.withUnsafeBufferPointer { bytes in
            var start = fieldsStart
            while start < bytes.count {
                let end = bytes[start...].firstIndex { $0 == 13 || $0 == 10 } ?? bytes.count
                if end > start { body(bytes[start..<end]) }
                start = end + 1
            }
        }
    }

    private static func trimmed(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
        let start = bytes.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start.startIndex
        return String(decoding: start[..<end], as: UTF8.self)
    }
}
