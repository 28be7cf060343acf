// An HTTP server on loopback that follows a script, faults included; for tests and demonstrations.

internal import CKFLinux
public import Foundation
internal import KFSupport

/// An HTTP server on loopback with scripted routes: slow, cut off, redirecting, conditional and so on.
///
/// ```swift
/// let server = try await TestServer.start()
/// let url = server.route("/a.png", .data(bytes, type: "image/png"))
/// server.route("/slow") { request in await gate.wait(); return .status(404) }
/// // … load url, or server.url("/slow") …
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
        /// The connections whose threads are running.
        var connections: [ObjectIdentifier: TestSocket] = [:]
        var connectionCount = 0
        var requestsPerConnection: Int?
        /// Whether the port is still open.
        var isListening = true
        var isStopped = false

        var isOver: Bool { isStopped && !isListening && connections.isEmpty }
    }

    private let state = Locked(State())
    private let listener: TestListener
    private let tls: TestTLS?
    private let ended = Gate()

    private init(certificate: TestCertificate?) throws {
        tls = try certificate.map { try TestTLS($0) }
        listener = try TestListener()
    }

    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// - Parameter usesTLS: Whether to speak HTTPS, with a self-signed certificate for `localhost` that no client
    ///   trusts.
    /// - Returns: The running server.
    /// - Throws: An error of the system when no port is free.
    public static func start(usesTLS: Bool = false) async throws -> TestServer {
        try await start(certificate: usesTLS ? .selfSigned : nil)
    }

    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// - Parameter certificate: The certificate for HTTPS; `nil` is plain HTTP.
    /// - Returns: The running server.
    /// - Throws: An error of the system when no port is free.
    public static func start(certificate: TestCertificate?) async throws -> TestServer {
        let server = try TestServer(certificate: certificate)
        startThread("kf.serve.\(server.listener.port)") { server.acceptConnections() }
        return server
    }

    /// Closes all connections and the port, also while responses wait.
    ///
    /// Returns when all threads have ended. The server cannot be started again.
    public func stop() async {
        let (sockets, isOver) = state.withLock { state in
            state.isStopped = true
            if state.isListening { listener.shutDown() }
            return (Array(state.connections.values), state.isOver)
        }
        for socket in sockets { socket.shutDown() }
        if isOver { ended.open() }
        await ended.wait()
    }
}

// MARK: - Threads

extension TestServer {
    /// Starts a thread, named after the port so that threads left behind can be found.
    private static func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread {
            kf_name_thread(name)
            // No system call is interrupted, and OpenSSL may write to a connection that the client has closed.
            var signals = sigset_t()
            sigfillset(&signals)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            body()
        }
        thread.stackSize = 256 << 10
        thread.start()
    }

    private func acceptConnections() {
        while let descriptor = listener.accept() {
            let socket = TestSocket(descriptor)
            let (isStopped, number) = state.withLock { state in
                if state.isStopped { return (true, 0) }
                state.connections[ObjectIdentifier(socket)] = socket
                state.connectionCount += 1
                return (false, state.connectionCount)
            }
            if isStopped {
                socket.close(resetting: false)
            } else {
                Self.startThread("kf.serve.\(listener.port)") { [self] in serve(socket, number) }
            }
        }
        let isOver = state.withLock { state in
            state.isListening = false
            listener.close()
            return state.isOver
        }
        if isOver { ended.open() }
    }

    private func serve(_ socket: TestSocket, _ number: Int) {
        let ending = (try? TestConnection(self, socket, number: number, tls))?.serve()
        socket.close(resetting: ending == .reset)
        let isOver = state.withLock { state in
            state.connections[ObjectIdentifier(socket)] = nil
            return state.isOver
        }
        if isOver { ended.open() }
    }
}

/// Runs a test with a server, and stops the server however the test ends.
///
/// - Parameters:
///   - certificate: The certificate for HTTPS; `nil` is plain HTTP.
///   - body: The test.
/// - Throws: The error of the test, or one of the system when no port is free.
package func withServer(_ certificate: TestCertificate? = nil, _ body: (TestServer) async throws -> Void) async throws {
    let server = try await TestServer.start(certificate: certificate)
    do { try await body(server) } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}

// MARK: - Script

extension TestServer {
    /// The port on loopback; 0 once stopped.
    public var port: Int { state.withLock { $0.isStopped } ? 0 : listener.port }

    /// The URL of a path, which starts with a slash and is written as in a URL.
    public func url(_ path: String) -> URL {
        URL(string: "\(tls == nil ? "http://127.0.0.1" : "https://localhost"):\(port)\(path)")
            ?? URL(fileURLWithPath: path)
    }

    /// The number of requests a connection serves; when another one arrives it is closed.
    ///
    /// `nil` is any number. The request without a response is in the log, too.
    public var requestsPerConnection: Int? {
        get { state.withLock { $0.requestsPerConnection } }
        set { state.withLock { $0.requestsPerConnection = newValue } }
    }

    /// Responds to a path in the same way every time.
    ///
    /// - Returns: The path's ``url(_:)``.
    @discardableResult
    public func route(_ path: String, _ response: TestResponse) -> URL {
        state.withLock { $0.routes[path] = .fixed(response) }
        return url(path)
    }

    /// Responds to a path with what `respond` returns.
    ///
    /// - Returns: The path's ``url(_:)``.
    @discardableResult
    public func route(_ path: String, respond: @escaping Route) -> URL {
        state.withLock { $0.routes[path] = .computed(respond) }
        return url(path)
    }

    /// Responds to a path with one response after the other; the last one stays.
    ///
    /// - Returns: The path's ``url(_:)``.
    @discardableResult
    public func route(_ path: String, sequence: [TestResponse]) -> URL {
        let calls = Locked(0)
        return route(path) { _ in
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

    /// The number of connections opened so far.
    public var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// The number of requests for a path so far.
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

// MARK: - For connections

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
}
