// Ends connections whose clients stop reading. The server's connections have one each.

import NIOCore

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
