// The status line and the fields of one HTTP response, as the bytes that came; read when asked for.

internal import Foundation

/// The head of an HTTP response, kept as its bytes: most downloads look at one or two of its fields.
struct HTTPHead: Sendable {
    /// The status, such as 200.
    private(set) var status = 0
    /// The protocol, such as `HTTP/1.1` or `HTTP/2`.
    private(set) var version = ""
    private var bytes: [UInt8] = []
    /// Where the fields begin: behind the status line.
    private var fieldsStart = 0
    /// Whether the empty line behind the fields has come.
    private(set) var isComplete = false
    /// How many bytes of body are announced, once it is complete; nil if that is not known.
    private(set) var contentLength: Int?

    /// How many bytes there are.
    var count: Int { bytes.count }
    /// Whether it is complete, and not that of an interim response.
    var isFinal: Bool { isComplete && status >= 200 }

    /// Whether another head may follow: this one is of an interim response, or of one that demands credentials, which
    /// libcurl may have.
    private var mayBeFollowed: Bool { isComplete && (status < 200 || status == 401 || status == 407) }

    /// Takes the next line, with its end.
    ///
    /// A status line begins a new head. Fields behind the body (trailers) are no part of the head, and are dropped.
    mutating func append(_ line: UnsafeRawBufferPointer) {
        if line.starts(with: "HTTP/".utf8), bytes.isEmpty || mayBeFollowed {
            self = HTTPHead()
            bytes.reserveCapacity(512)
            bytes.append(contentsOf: line)
            fieldsStart = bytes.count
            let versionEnd = line.place(of: " ") ?? line.count
            version = String(decoding: line.part(..<versionEnd), as: UTF8.self)
            let word = line[versionEnd...].drop { $0 == UInt8(ascii: " ") }.prefix { $0 != UInt8(ascii: " ") }
            status = word.prefix(3).reduce(0) { $0 * 10 + Int($1) - 48 }
        } else if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") {
            isComplete = true
            contentLength = value(of: "content-length").flatMap { Int($0) }
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

    private static func isName(_ field: UnsafeRawBufferPointer, _ name: String) -> Bool {
        field.count == name.utf8.count && zip(field, name.utf8).allSatisfy { $0 | 32 == $1 | 32 }
    }

    /// Calls `body` for each field; a line ends with a carriage return, a line feed or both.
    private func forEachField(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes.part(fieldsStart...)
            while !rest.isEmpty {
                var line = rest.part(..<(rest.place(of: "\n") ?? rest.count))
                line = line.part(..<(line.place(of: "\r") ?? line.count))
                rest = rest.part(min(line.count + 1, rest.count)...)
                if let colon = line.place(of: ":") { body(line.part(..<colon), line.part((colon + 1)...)) }
            }
        }
    }

    private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: withoutBlanks(bytes), as: UTF8.self)
    }

    private static func withoutBlanks(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
        guard let start = bytes.firstIndex(where: { !isBlank($0) }), let end = bytes.lastIndex(where: { !isBlank($0) })
        else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return bytes.part(start...end)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func part(_ range: some RangeExpression<Int>) -> Self { Self(rebasing: self[range]) }

    /// Where a character is first.
    fileprivate func place(of character: Unicode.Scalar) -> Int? {
        guard let baseAddress, let found = memchr(baseAddress, CInt(character.value), count) else { return nil }
        return UnsafeRawPointer(found) - baseAddress
    }
}
