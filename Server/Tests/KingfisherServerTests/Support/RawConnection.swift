// A connection whose bytes a test writes and reads itself, to pipeline requests and to leave. For the tests of the
// routes.

import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// What a server answered.
struct Answer: Sendable {
    var status = 0
    /// By names in lower case.
    var fields: [String: String] = [:]
    var body: [UInt8] = []

    var text: String { String(decoding: body, as: UTF8.self) }
}

/// A connection to a port of this machine; it is used by one task at a time.
final class RawConnection: Sendable {
    let port: Int
    private let channel: any Channel
    private let received: ByteReader

    /// Whether anything has come.
    var hasReceived: Bool { received.hasReceived.load(ordering: .sequentiallyConsistent) }

    /// A connection that reads from the beginning, or not before it is told to.
    init(port: Int, reads: Bool = true) async throws {
        let received = ByteReader()
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        if !reads {
            bootstrap = bootstrap.channelOption(.autoRead, value: false).channelOption(
                .socketOption(.so_rcvbuf),
                value: 4096
            )
        }
        channel =
            try await bootstrap
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ReadingHandler(received))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        (self.port, self.received) = (port, received)
    }

    /// Sends a request without waiting for an answer; the fields may say another length than that of the body.
    func send(
        _ path: String,
        _ fields: [String: String] = [:],
        method: String = "GET",
        version: String = "1.1",
        body: String? = nil
    ) async throws {
        var fields = fields
        if let body, fields["Content-Length"] == nil { fields["Content-Length"] = "\(body.utf8.count)" }
        try await send(head(path, fields, method: method, version: version) + Data((body ?? "").utf8))
    }

    /// Sends an image as the body of a request, in one piece with its head, without waiting for an answer.
    func upload(_ data: Data, to path: String, _ fields: [String: String] = [:]) async throws {
        let fields = fields.merging(["Content-Length": "\(data.count)"]) { $1 }
        try await send(head(path, fields, method: "POST", version: "1.1") + data)
    }

    private func head(_ path: String, _ fields: [String: String], method: String, version: String) -> Data {
        let lines = ["\(method) \(path) HTTP/\(version)", "Host: localhost"] + fields.map { "\($0.key): \($0.value)" }
        return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// Sends bytes as they are.
    func send(_ data: Data) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: data)) }

    /// The first line of the next answer.
    func statusLine() async throws -> String { try await received.line() }

    /// The next answer.
    func answer(isHead: Bool = false) async throws -> Answer {
        var answer = Answer()
        let head = try await received.line().split(separator: " ")
        answer.status = head.count > 1 ? Int(head[1]) ?? 0 : 0
        while case let line = try await received.line(), !line.isEmpty {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { answer.fields[parts[0].lowercased()] = parts[1].drop { $0 == " " }.description }
        }
        let hasBody = !isHead && answer.status != 304
        if hasBody { answer.body = try await received.bytes(Int(answer.fields["content-length"] ?? "") ?? 0) }
        return answer
    }

    /// Reads from now on; all bytes that come until the server closes the connection.
    func rest() async throws -> Int {
        try await channel.setOption(.autoRead, value: true).get()
        var count = 0
        for await chunk in received.chunks { count += chunk.count }
        return count
    }

    /// Whether the server has closed the connection, once all that came was read.
    func isAtEnd() async -> Bool { await received.isAtEnd() }

    /// Closes the connection.
    func leave() { channel.close(promise: nil) }

    /// Closes this half of the connection.
    func finishSending() { channel.close(mode: .output, promise: nil) }
}

/// Bytes in the order they came.
private final class ByteReader: Sendable {
    struct EndOfInput: Error {}

    let (chunks, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    let hasReceived = Atomic(false)
    private let reading = ReadingState()

    func line() async throws -> String {
        var bytes: [UInt8] = []
        while true {
            let byte = try await self.bytes(1)[0]
            if byte == UInt8(ascii: "\n") { break }
            if byte != UInt8(ascii: "\r") { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func bytes(_ count: Int) async throws -> [UInt8] {
        guard let bytes = await reading.bytes(count, from: chunks) else { throw EndOfInput() }
        return bytes
    }

    func isAtEnd() async -> Bool { await reading.bytes(1, from: chunks) == nil }

    private actor ReadingState {
        private var buffer: ArraySlice<UInt8> = []

        func bytes(_ count: Int, from chunks: AsyncStream<[UInt8]>) async -> [UInt8]? {
            while buffer.count < count {
                guard let chunk = await chunks.first(where: { _ in true }) else { return nil }
                buffer += chunk
            }
            defer { buffer = buffer.dropFirst(count) }
            return Array(buffer.prefix(count))
        }
    }
}

private final class ReadingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let reader: ByteReader

    init(_ reader: ByteReader) {
        self.reader = reader
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        reader.hasReceived.store(true, ordering: .sequentiallyConsistent)
        reader.continuation.yield(Array(buffer: unwrapInboundIn(data)))
    }

    func channelInactive(context: ChannelHandlerContext) {
        reader.continuation.finish()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
