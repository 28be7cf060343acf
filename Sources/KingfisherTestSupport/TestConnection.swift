// One connection of the test server, on a thread of its own: it reads requests and plays scripted responses.

internal import Foundation
internal import KFSupport

/// Reads the requests of one connection and plays the responses.
struct TestConnection {
    /// The state of the connection after a response.
    enum Ending { case keep, close, cut, reset }

    private let server: TestServer
    private let socket: TestSocket
    private let number: Int
    private let stream: TestStream

    init(_ server: TestServer, _ socket: TestSocket, number: Int, _ tls: TestTLS?) throws {
        (self.server, self.socket, self.number) = (server, socket, number)
        stream = try TestStream(socket, tls)
    }

    /// Serves until one side ends the connection; does not close the socket.
    func serve() -> Ending {
        var reader = TestRequestReader(stream)
        var requestCount = 0
        while true {
            do {
                let request = try reader.next(on: socket, number: number)
                requestCount += 1
                let ending = try respond(to: request, isRefused: requestCount > server.requestsPerConnection ?? .max)
                if ending == .close { stream.sayGoodbye() }
                if ending != .keep { return ending }
            } catch is TestRequestReader.BadRequest {
                let head = TestResponse.status(400).head(isKeptAlive: false)
                try? stream.write(head)
                return .close
            } catch {
                return .cut
            }
        }
    }

    private func respond(to request: TestRequest, isRefused: Bool) throws -> Ending {
        let response: TestResponse
        switch server.received(request) {
        case _ where isRefused: return .cut
        case .fixed(let fixed): response = fixed
        case .computed(let route): response = try stream.wait { await route(request) }
        }
        return try TestPlayback(response.negotiated(for: request), for: request, on: stream).play()
    }
}

/// One response that is being sent.
struct TestPlayback {
    private let response: TestResponse
    private let request: TestRequest
    private let stream: TestStream
    private let isKeptAlive: Bool

    init(_ response: TestResponse, for request: TestRequest, on stream: TestStream) {
        (self.response, self.request, self.stream) = (response, request, stream)
        isKeptAlive = response.keepsConnection && request.keepsConnection
    }

    /// Plays the response as scripted.
    func play() throws(TestStream.End) -> TestConnection.Ending {
        if let delay = response.delay { try stream.wait(for: delay) }
        if let gate = response.gate { try stream.wait(for: gate) }
        switch response.interruption {
        case .cutBeforeHead: return .cut
        case .resetBeforeHead: return .reset
        default: break
        }
        let head = response.head(isKeptAlive: isKeptAlive)
        let ending: TestConnection.Ending = isKeptAlive ? .keep : .close
        guard response.hasBody(for: request.method) else {
            try stream.write(head)
            return ending
        }
        if response.interruption == nil, response.pieceSize == nil {
            try write(after: head, 0..<response.body.count, isLast: true)
            return ending
        }
        try stream.write(head)
        return try playBody(ending)
    }

    private func playBody(_ ending: TestConnection.Ending) throws(TestStream.End) -> TestConnection.Ending {
        let count = response.body.count
        switch response.interruption {
        case nil, .cutBeforeHead, .resetBeforeHead: try writePieces(0..<count)
        case .cut(let after):
            try writePieces(0..<min(after, count))
            return .cut
        case .reset(let after):
            try writePieces(0..<min(after, count))
            try stream.waitForDelivery()
            return .reset
        case .stall(let after):
            try writePieces(0..<min(after, count))
            try stream.waitForEnd()
        case .hold(let after, let gate): try write(holding: [(after, gate)])
        case .holds(let holds): try write(holding: holds)
        case .badChunk(let after):
            try writePieces(0..<min(after, count))
            try stream.write(Array("no number\r\n".utf8) + response.body.dropFirst(after))
            try stream.waitForEnd()
        case .endless: try writeEndlessly()
        }
        try write(after: [], count..<count, isLast: true)
        return ending
    }

    private func write(holding holds: [(after: Int, until: Gate)]) throws(TestStream.End) {
        var start = 0
        for hold in holds {
            let end = min(max(hold.after, start), response.body.count)
            try writePieces(start..<end)
            try stream.wait(for: hold.until)
            start = end
        }
        try writePieces(start..<response.body.count)
    }

    private func writeEndlessly() throws(TestStream.End) -> Never {
        var block = response.body.isEmpty ? Data(count: 16 << 10) : response.body
        // Few bytes at a time would keep a core busy with system calls.
        if response.pieceSize == nil { while block.count < 16 << 10 { block += block } }
        let endless = TestPlayback(response.with { $0.body = block }, for: request, on: stream)
        while true { try endless.writePieces(0..<block.count) }
    }

    private func writePieces(_ range: Range<Int>) throws(TestStream.End) {
        var start = range.lowerBound
        while start < range.upperBound {
            if start > 0, let pause = response.pause { try stream.wait(for: pause) }
            let end = min(start + max(response.pieceSize ?? range.count, 1), range.upperBound)
            try write(after: [], start..<end)
            start = end
        }
    }
}

// MARK: - Bytes

extension TestPlayback {
    /// The size up to which messages are joined and written by one system call.
    private static let longestMessage = 128 << 10

    /// Writes a part of the body, framed, in one go.
    private func write(after prefix: [UInt8], _ range: Range<Int>, isLast: Bool = false) throws(TestStream.End) {
        var (prefix, suffix) = (prefix, [UInt8]())
        if response.framing == .chunked {
            if !range.isEmpty {
                prefix += Array("\(String(range.count, radix: 16))\r\n".utf8)
                suffix = Array("\r\n".utf8)
            }
            if isLast { suffix += Array("0\r\n\r\n".utf8) }
        }
        let start = response.body.startIndex
        let part = response.body[start + range.lowerBound..<start + range.upperBound]
        guard prefix.count + part.count + suffix.count > Self.longestMessage else {
            try stream.write(prefix + part + suffix)
            return request.sent.add(part.count)
        }
        try stream.write(prefix, thenMore: true)
        try writeLong(part, thenMore: !suffix.isEmpty)
        try stream.write(suffix)
    }

    /// Writes many bytes, and counts them as the system takes them.
    private func writeLong(_ part: Data, thenMore: Bool) throws(TestStream.End) {
        var start = part.startIndex
        while start < part.endIndex {
            let end = min(start + Self.longestMessage, part.endIndex)
            try stream.write(Array(part[start..<end]), thenMore: thenMore || end < part.endIndex)
            request.sent.add(end - start)
            start = end
        }
    }
}
