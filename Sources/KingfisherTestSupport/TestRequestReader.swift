// Parses the requests of a connection.

internal import Foundation

/// Reads the requests of a connection, one after the other.
struct TestRequestReader {
    /// A request that cannot be parsed.
    struct BadRequest: Error {}

    private static let longestHead = 1 << 20
    private let stream: TestStream
    private var buffer: [UInt8] = []
    /// The index of the first byte that has not been read.
    private var start = 0

    init(_ stream: TestStream) { self.stream = stream }

    /// The next request, which came through that connection.
    ///
    /// - Throws: ``TestStream/End`` when there is none, ``BadRequest`` when it cannot be understood.
    mutating func next(on socket: TestSocket, number: Int) throws -> TestRequest {
        buffer.removeFirst(start)
        start = 0
        let lines = try head().split(separator: UInt8(ascii: "\n"))
        let words = (lines.first ?? []).split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { throw BadRequest() }
        let headers = try lines.dropFirst().map(Self.field)
        let wish = headers.first { $0.name.lowercased() == "connection" }?.value.lowercased()
        return TestRequest(
            method: words[0],
            uri: words[1],
            headers: headers,
            body: try body(headers),
            disconnected: socket.disconnected,
            connection: number,
            keepsConnection: words[2] == "HTTP/1.0" ? wish == "keep-alive" : wish != "close"
        )
    }

    /// All lines up to the empty one, without carriage returns.
    private mutating func head() throws -> [UInt8] {
        var searched = 0
        while true {
            if let end = Self.endOfHead(in: buffer, from: searched) {
                start = end
                return buffer[..<end].filter { $0 != UInt8(ascii: "\r") }
            }
            guard buffer.count < Self.longestHead else { throw BadRequest() }
            searched = max(buffer.count - 3, 0)
            try stream.read(into: &buffer)
        }
    }

    private static func endOfHead(in buffer: [UInt8], from first: Int) -> Int? {
        buffer.withUnsafeBufferPointer { bytes in
            var index = first + 3
            while index < bytes.count {
                if bytes[index] == 10, bytes[index - 1] == 13, bytes[index - 2] == 10, bytes[index - 3] == 13 {
                    return index + 1
                }
                index += 1
            }
            return nil
        }
    }

    private static func field(_ line: ArraySlice<UInt8>) throws -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw BadRequest() }
        let isSpace: (UInt8) -> Bool = { $0 == 32 || $0 == 9 }
        let value = line[(colon + 1)...].drop(while: isSpace)
        let end = value.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? value.startIndex
        return (String(decoding: line[..<colon], as: UTF8.self), String(decoding: value[..<end], as: UTF8.self))
    }
}

// MARK: - Body

extension TestRequestReader {
    private mutating func body(_ headers: [(name: String, value: String)]) throws -> Data {
        func value(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
        let isChunked = value("transfer-encoding")?.lowercased() == "chunked"
        guard isChunked || value("content-length") != nil else { return Data() }
        if value("expect")?.lowercased() == "100-continue" {
            try stream.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        if isChunked { return try chunks() }
        guard let count = value("content-length").flatMap({ Int($0) }), count >= 0 else { throw BadRequest() }
        return Data(try take(count))
    }

    private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
        while buffer.count - start < count { try stream.read(into: &buffer) }
        defer { start += count }
        return buffer[start..<start + count]
    }

    private mutating func chunks() throws -> Data {
        var body = Data()
        while true {
            let size = try line().prefix { $0 != UInt8(ascii: ";") }
            guard let count = Int(String(decoding: size, as: UTF8.self), radix: 16), count >= 0 else {
                throw BadRequest()
            }
            if count == 0 { break }
            body += try take(count)
            guard try line().isEmpty else { throw BadRequest() }
        }
        while try !line().isEmpty {}
        return body
    }

    /// The next line, without its end.
    private mutating func line() throws -> ArraySlice<UInt8> {
        var end = start
        while true {
            if let newline = buffer[end...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = newline + 1 }
                let line = buffer[start..<newline]
                return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            }
            end = buffer.count
            guard end - start < Self.longestHead else { throw BadRequest() }
            try stream.read(into: &buffer)
        }
    }
}
