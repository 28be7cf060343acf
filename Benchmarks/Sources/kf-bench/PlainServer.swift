// The simplest HTTP server that keeps connections alive: every GET receives the same bytes. Knows no paths.

import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Runs in a child process, so that it takes the same from both sides of a comparison.
enum PlainServer {
    private static let served = Atomic(0)

    /// How many requests have been served.
    static var count: Int { served.load(ordering: .sequentiallyConsistent) }

    /// Starts on a free port of loopback and returns the port.
    static func start(bodySize: Int) async throws -> Int {
        let body = ByteBuffer(repeating: 0x5A, count: bodySize)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    try channel.pipeline.syncOperations.addHandler(Responder(body))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        guard let port = channel.localAddress?.port else { throw BenchmarkError("the server has no port") }
        return port
    }

    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let body: ByteBuffer
        private let head: HTTPResponseHead

        init(_ body: ByteBuffer) {
            self.body = body
            let headers: HTTPHeaders = ["Content-Type": "image/jpeg", "Content-Length": "\(body.readableBytes)"]
            head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            PlainServer.served.add(1, ordering: .relaxed)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
