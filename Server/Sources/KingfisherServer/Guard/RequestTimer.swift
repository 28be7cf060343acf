// Ends connections whose clients take too long to send a request. The server's connections have one each.

import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request has a body that does not end in time.
///
/// What comes before the body is bounded by the time that a connection may be idle.
final class RequestTimer: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let timeout: TimeAmount
    private let metrics: ServerMetrics
    private var end: Scheduled<Void>?

    init(timeout: TimeAmount, metrics: ServerMetrics) {
        (self.timeout, self.metrics) = (timeout, metrics)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            end = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [metrics] in
                metrics.count(error: "request_stalled")
                context.close(promise: nil)
            }
        case .body: break
        case .end: end?.cancel()
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end?.cancel()
        context.fireChannelInactive()
    }
}
