// One connection of the test server: parts of requests in, scripted parts of responses out.

internal import Foundation
internal import KFSupport
internal import NIOCore
internal import NIOHTTP1

/// Reads requests of one connection and sends the scripted responses.
final class TestServerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// Marks a response for the compressor further down the pipeline, which removes the field.
    static let compressionMark = "X-Test-Compress"

    private let server: TestServer
    private let disconnected = Gate()
    private var head: HTTPRequestHead?
    private var body = Data()

    init(server: TestServer) { self.server = server }

    func channelActive(context: ChannelHandlerContext) {
        server.opened(context.channel)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        server.closed(context.channel)
        disconnected.open()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = Data()
        case .body(let buffer): body.append(contentsOf: buffer.readableBytesView)
        case .end:
            guard let head else { return }
            let request = TestRequest(
                method: head.method.rawValue,
                uri: head.uri,
                headers: head.headers.map { ($0.name, $0.value) },
                body: body,
                disconnected: disconnected,
                sent: Counter()
            )
            respond(to: request, head, on: context.channel)
        }
    }

    private func respond(to request: TestRequest, _ head: HTTPRequestHead, on channel: any Channel) {
        switch server.received(request) {
        case .fixed(let response) where response.isPlain:
            let playback = Playback(response.negotiated(for: request), request, head, channel)
            playback.playAtOnce()
        case .fixed(let response):
            Task { await Playback(response.negotiated(for: request), request, head, channel).play() }
        case .computed(let route):
            Task { await Playback(await route(request).negotiated(for: request), request, head, channel).play() }
        }
    }
}

extension TestResponse {
    /// Whether it can be written in one go, without waiting for anything.
    fileprivate var isPlain: Bool { pieceSize == nil && interruption == nil && delay == nil && gate == nil }
}

/// One response on its way out.
private struct Playback: Sendable {
    private let response: TestResponse
    private let request: TestRequest
    private let isKeptAlive: Bool
    private let channel: any Channel

    init(_ response: TestResponse, _ request: TestRequest, _ head: HTTPRequestHead, _ channel: any Channel) {
        self.response = response
        self.request = request
        self.channel = channel
        isKeptAlive = head.isKeepAlive && response.framing != .untilClose
    }

    private var hasBody: Bool { request.method != "HEAD" && response.status != 304 && response.status != 204 }

    private var head: HTTPResponseHead {
        var headers = HTTPHeaders(response.headers.map { ($0.key, $0.value) })
        if response.framing == .contentLength, response.status != 304, !headers.contains(name: "Content-Length") {
            headers.add(name: "Content-Length", value: "\(response.body.count)")
        }
        if response.compresses { headers.add(name: TestServerHandler.compressionMark, value: "yes") }
        if !isKeptAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
        return HTTPResponseHead(
            version: response.framing == .untilClose ? .http1_0 : .http1_1,
            status: .init(statusCode: response.status),
            headers: headers
        )
    }

    func playAtOnce() {
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        if hasBody, !response.body.isEmpty {
            channel.write(part(0..<response.body.count), promise: nil)
            request.sent.add(response.body.count)
        }
        finish()
    }

    /// Plays the response as scripted.
    ///
    /// An error means that the client has closed the connection.
    func play() async {
        if let delay = response.delay {
            try? await channel.eventLoop.scheduleTask(in: TimeAmount(delay)) {}.futureResult.get()
        }
        await response.gate?.wait()
        do {
            try await channel.writeAndFlush(HTTPServerResponsePart.head(head)).get()
            guard hasBody else { return finish() }
            switch response.interruption {
            case nil: try await write(0..<response.body.count)
            case .cut(let count):
                try await write(0..<min(count, response.body.count))
                return channel.close(promise: nil)
            case .stall(let count):
                try await write(0..<min(count, response.body.count))
                return
            case .hold(let count, let gate): try await write(holding: [(count, gate)])
            case .holds(let holds): try await write(holding: holds)
            }
            finish()
        } catch {
            channel.close(promise: nil)
        }
    }

    private func write(holding holds: [(after: Int, until: Gate)]) async throws {
        var start = 0
        for hold in holds {
            let end = min(max(hold.after, start), response.body.count)
            try await write(start..<end)
            await hold.until.wait()
            start = end
        }
        try await write(start..<response.body.count)
    }

    private func write(_ range: Range<Int>) async throws {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = min(start + (response.pieceSize ?? range.count), range.upperBound)
            try await channel.writeAndFlush(part(start..<end)).get()
            request.sent.add(end - start)
            start = end
        }
    }

    private func part(_ range: Range<Int>) -> HTTPServerResponsePart {
        let start = response.body.startIndex
        let bytes = response.body[start + range.lowerBound..<start + range.upperBound]
        return .body(.byteBuffer(channel.allocator.buffer(bytes: bytes)))
    }

    private func finish() {
        let isKeptAlive = isKeptAlive
        channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { [channel] _ in
            if !isKeptAlive { channel.close(promise: nil) }
        }
    }
}
