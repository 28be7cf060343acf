// Whether a connection goes on after an answer, as its client wants it. The server's connections have one each.

import NIOCore
import NIOHTTP1

/// Makes `Connection: close` of whatever means that: a list, other letters, a request of HTTP 1.0.
///
/// What comes after it knows only that spelling.
final class PersistenceHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Whether connections go on at all.
    private let keepsConnections: Bool

    init(keepsConnections: Bool) {
        self.keepsConnections = keepsConnections
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        if !keepsConnections || !head.isKeepAlive { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// Puts it where the versions of requests are still known: right after the decoder.
    func add(to pipeline: ChannelPipeline.SynchronousOperations) throws {
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(self, position: .after(decoder))
    }
}
