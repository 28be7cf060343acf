// Knows when clients leave, and ends what is done for them. For the routes; the connections report to it.

import NIOCore
import Synchronization

/// The connections with work in progress, and those whose clients have left.
///
/// A client that closes only its half of the connection counts as one that left. One that sends more requests before
/// it reads an answer is noticed when those are read.
package final class ClientWatch: Sendable {
    private struct Connection {
        var hasLeft = false
        var actions: [Int: @Sendable () -> Void] = [:]
    }

    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// How many connections are known; none when no work is in progress and all have been closed.
    package var connectionCount: Int { state.withLock { $0.connections.count } }

    /// Calls back when the client of the connection leaves, at once if it has.
    ///
    /// - Returns: What ``forget(_:on:)`` takes.
    func onLeaving(_ connection: any Channel, _ action: @escaping @Sendable () -> Void) -> Int {
        let (number, hasLeft) = state.withLock { state in
            state.lastNumber += 1
            let hasLeft = state.connections[ObjectIdentifier(connection)]?.hasLeft ?? false
            if !hasLeft {
                state.connections[ObjectIdentifier(connection), default: .init()].actions[state.lastNumber] = action
            }
            return (state.lastNumber, hasLeft)
        }
        if hasLeft || !connection.isActive { action() }
        return number
    }

    /// Calls back no more.
    func forget(_ number: Int, on connection: any Channel) {
        state.withLock { state in
            let key = ObjectIdentifier(connection)
            state.connections[key]?.actions[number] = nil
            if let known = state.connections[key], known.actions.isEmpty, !known.hasLeft {
                state.connections[key] = nil
            }
        }
    }

    /// The client has closed its half; answers could still be written.
    fileprivate func hasLeft(_ connection: any Channel) {
        let actions = state.withLock { state in
            let actions = state.connections[ObjectIdentifier(connection)]?.actions ?? [:]
            state.connections[ObjectIdentifier(connection)] = Connection(hasLeft: true)
            return actions
        }
        for action in actions.values { action() }
    }

    /// The connection is closed.
    fileprivate func hasClosed(_ connection: any Channel) {
        let actions = state.withLock {
            $0.connections.removeValue(forKey: ObjectIdentifier(connection))?.actions ?? [:]
        }
        for action in actions.values { action() }
    }
}

/// Reports to a watch that the client of its connection left.
final class LeavingHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let clients: ClientWatch

    init(clients: ClientWatch) {
        self.clients = clients
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { clients.hasLeft(context.channel) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        clients.hasClosed(context.channel)
        context.fireChannelInactive()
    }
}
