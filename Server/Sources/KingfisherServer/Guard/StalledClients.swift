// Ends connections whose clients take too long to send a request, or stop reading its answer. The server's connections
// have one of each.

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
    private var isReading = false
    private var end: Scheduled<Void>?

    init(timeout: TimeAmount, metrics: ServerMetrics) {
        (self.timeout, self.metrics) = (timeout, metrics)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: isReading = true
        case .body: break
        case .end:
            isReading = false
            end?.cancel()
            end = nil
        }
        context.fireChannelRead(data)
    }

    /// Most requests are whole by now, and need no clock.
    func channelReadComplete(context: ChannelHandlerContext) {
        if isReading, end == nil {
            end = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [metrics] in
                metrics.count(error: "request_stalled")
                context.close(promise: nil)
            }
        }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end?.cancel()
        context.fireChannelInactive()
    }
}

/// Closes a connection that could not be written to for some time, since its client takes nothing of its answer.
///
/// A client that reads slowly keeps its connection, as long as it takes some 32 KB in that time.
final class StallHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let timeout: TimeAmount
    private let metrics: ServerMetrics
    private var end: Scheduled<Void>?

    init(timeout: TimeAmount, metrics: ServerMetrics) {
        (self.timeout, self.metrics) = (timeout, metrics)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        end?.cancel()
        end = nil
        if !context.channel.isWritable {
            end = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [metrics] in
                metrics.count(error: "client_stalled")
                context.close(promise: nil)
            }
        }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end?.cancel()
        context.fireChannelInactive()
    }
}
