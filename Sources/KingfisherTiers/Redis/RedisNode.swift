// One Redis server, for calls from any thread. For RedisRouter.

internal import KFSupport

/// A server, and the one connection to it.
///
/// The connection is closed when the node and the last of its calls are gone.
final class RedisNode: Sendable {
    let endpoint: RedisEndpoint
    private let inbox = RedisInbox()

    /// Connects, and goes on when the connection is lost.
    init(_ endpoint: RedisEndpoint, _ settings: RedisSettings) {
        self.endpoint = endpoint
        RedisConnection.start(inbox, to: endpoint, settings)
    }

    deinit { inbox.close() }

    /// Whether calls can be made now.
    var readiness: RedisInbox.Readiness { inbox.readiness }

    /// The answer to a command, which may be an error of the server.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled, whether or not the command is carried out;
    ///   `RedisError` if there is no connection, or it is lost.
    func send(_ command: RedisCommand) async throws -> RESPValue {
        try Task.checkCancellation()
        let request = RedisRequest(command: command)
        try inbox.add(request, to: endpoint)
        return try await request.call.answer
    }
}
