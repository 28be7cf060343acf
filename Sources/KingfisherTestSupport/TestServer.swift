// An HTTP server on loopback that follows a script, faults included. Knows nothing of images.

public import Foundation
internal import KFSupport
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression
internal import NIOPosix
internal import NIOSSL

/// An HTTP server on loopback whose routes are scripted: slow, cut off, redirecting, conditional, whatever is needed.
///
/// ```swift
/// let server = try await TestServer.start()
/// server.route("/a.png", .data(bytes, type: "image/png"))
/// server.route("/slow") { request in await gate.wait(); return .status(404) }
/// // … load server.url("/a.png") …
/// await server.stop()
/// ```
/// Paths without a route respond with 404. All members may be used from any thread.
public final class TestServer: Sendable {
    /// Makes the response of a path: called once for each request, on no particular thread.
    public typealias Route = @Sendable (TestRequest) async -> TestResponse

    enum RouteResponse: Sendable { case fixed(TestResponse), computed(Route) }

    private struct State: Sendable {
        var routes: [String: RouteResponse] = [:]
        var requests: [TestRequest] = []
        var counts: [String: Int] = [:]
        var waiting: [(path: String, count: Int, gate: Gate)] = []
        var connections: [ObjectIdentifier: any Channel] = [:]
        var connectionCount = 0
        var channel: (any Channel)?
        var isStopped = false
    }

    /// One thread for all servers of the process, apart from those of the client under test.
    ///
    /// Never shut down: a scripted response may still be waiting for its gate when its server stops.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private let state = Locked(State())
    private let scheme: String

    private init(scheme: String) { self.scheme = scheme }

    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// - Parameter usesTLS: Whether to speak HTTPS, with a self-signed certificate for `localhost` that no client
    ///   trusts.
    /// - Returns: The running server.
    /// - Throws: An error of the system when no port is free.
    public static func start(usesTLS: Bool = false) async throws -> TestServer {
        let server = TestServer(scheme: usesTLS ? "https" : "http")
        let tls = usesTLS ? try NIOSSLContext(configuration: TestCertificate.configuration()) : nil
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try server.configure(channel, tls) }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        server.state.withLock { $0.channel = channel }
        return server
    }

    private func configure(_ channel: any Channel, _ tls: NIOSSLContext?) throws {
        let pipeline = channel.pipeline.syncOperations
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
        try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
        try pipeline.addHandler(
            HTTPResponseCompressor { head, _ in
                let isWanted = head.headers.contains(name: TestServerHandler.compressionMark)
                head.headers.remove(name: TestServerHandler.compressionMark)
                if isWanted { head.headers.remove(name: "Content-Length") }
                return isWanted ? .compressIfPossible : .doNotCompress
            }
        )
        try pipeline.addHandler(TestServerHandler(server: self))
    }

    /// Closes all connections and the port.
    ///
    /// The server cannot be started again.
    public func stop() async {
        let channels = state.withLock { state -> [any Channel]? in
            guard !state.isStopped else { return nil }
            state.isStopped = true
            return Array(state.connections.values) + [state.channel].compactMap(\.self)
        }
        guard let channels else { return }
        for channel in channels { try? await channel.close().get() }
    }
}

// MARK: - Script

extension TestServer {
    /// The port on loopback; 0 once stopped.
    public var port: Int { state.withLock { $0.channel?.localAddress?.port } ?? 0 }

    /// The URL of a path, which starts with a slash and is written as in a URL.
    public func url(_ path: String) -> URL {
        URL(string: "\(scheme)://\(scheme == "https" ? "localhost" : "127.0.0.1"):\(port)\(path)")
            ?? URL(fileURLWithPath: path)
    }

    /// Responds to a path in the same way every time.
    public func route(_ path: String, _ response: TestResponse) {
        state.withLock { $0.routes[path] = .fixed(response) }
    }

    /// Responds to a path with what `respond` returns.
    public func route(_ path: String, respond: @escaping Route) {
        state.withLock { $0.routes[path] = .computed(respond) }
    }

    /// Responds to a path with one response after the other; the last one stays.
    public func route(_ path: String, sequence: [TestResponse]) {
        let calls = Locked(0)
        route(path) { _ in
            let call = calls.withLock { count in
                count += 1
                return count - 1
            }
            return sequence.isEmpty ? .status(404) : sequence[min(call, sequence.count - 1)]
        }
    }
}

// MARK: - Log

extension TestServer {
    /// All requests so far, in the order they arrived.
    public var requests: [TestRequest] { state.withLock { $0.requests } }

    /// How many connections have been opened so far.
    public var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// How many requests for a path have arrived.
    public func count(_ path: String) -> Int { state.withLock { $0.counts[path, default: 0] } }

    /// The latest request for a path.
    public func lastRequest(_ path: String) -> TestRequest? {
        state.withLock { $0.requests.last { $0.path == path } }
    }

    /// Waits until that many requests for a path have arrived.
    public func waitForRequests(_ count: Int = 1, to path: String) async {
        let gate = Gate()
        state.withLock { state in
            if state.counts[path, default: 0] >= count {
                gate.open()
            } else {
                state.waiting.append((path, count, gate))
            }
        }
        await gate.wait()
    }
}

// MARK: - For the handler

extension TestServer {
    /// Records a request and returns its response.
    func received(_ request: TestRequest) -> RouteResponse {
        let path = request.path
        let (response, gates) = state.withLock { state in
            state.requests.append(request)
            let count = state.counts[path, default: 0] + 1
            state.counts[path] = count
            let reached = state.waiting.filter { $0.path == path && $0.count <= count }
            state.waiting.removeAll { $0.path == path && $0.count <= count }
            return (state.routes[path] ?? .fixed(.status(404)), reached.map(\.gate))
        }
        for gate in gates { gate.open() }
        return response
    }

    func opened(_ channel: any Channel) {
        let isStopped = state.withLock { state in
            state.connections[ObjectIdentifier(channel)] = channel
            state.connectionCount += 1
            return state.isStopped
        }
        if isStopped { channel.close(promise: nil) }
    }

    func closed(_ channel: any Channel) {
        state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(channel)) }
    }
}
