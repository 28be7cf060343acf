// Lets answers arrive whole when the server ends. The server's connections have one each.

import Glibc
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Tells clients of an ending server that their connection ends, and ends it once they have all of their answer.
///
/// Closed at once, a connection would lose what its client has yet to take; and where the network goes away with the
/// program, as a container's does, what the system still had of it. How long that may take in all is
/// `KF_GRACEFUL_STOP_TIMEOUT`; ``StallHandler`` ends those that take nothing.
final class EndingHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var isEnding = false
    /// Completes when the system has taken what was written last.
    private var lastWrite: EventLoopFuture<Void>?

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { isEnding = true }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where isEnding && head.status.kind != .informational:
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            let promise = promise ?? context.eventLoop.makePromise()
            lastWrite = promise.futureResult
            context.write(data, promise: promise)
        default:
            context.write(data, promise: promise)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard isEnding, mode == .all, let lastWrite else { return context.close(mode: mode, promise: promise) }
        let loop = context.eventLoop.assumeIsolated()
        lastWrite.assumeIsolated().whenComplete { result in
            guard case .success = result else { return context.close(promise: promise) }
            context.close(mode: .output).assumeIsolated().whenComplete { _ in
                self.close(context, loop, promise)
            }
        }
    }

    /// Closes once the client's system has taken all that was sent, the end included.
    private func close(
        _ context: ChannelHandlerContext,
        _ loop: NIOIsolatedEventLoop,
        _ promise: EventLoopPromise<Void>?
    ) {
        guard context.channel.isActive, let socket = context.channel as? any SocketOptionProvider else {
            return context.close(promise: promise)
        }
        socket.getTCPInfo().assumeIsolated().whenComplete { info in
            guard case .success(let info) = info, Int(info.tcpi_state) == TCP_FIN_WAIT1 else {
                return context.close(promise: promise)
            }
            loop.scheduleTask(in: .milliseconds(20)) { self.close(context, loop, promise) }
        }
    }
}

/// `TCP_FIN_WAIT1` of `netinet/tcp.h`, which is not imported: the end was sent, and has yet to be acknowledged.
private let TCP_FIN_WAIT1 = 4
