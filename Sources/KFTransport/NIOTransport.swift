// The default transport: AsyncHTTPClient on SwiftNIO. Knows nothing of what is transferred or why.

internal import AsyncHTTPClient
public import Foundation
internal import KFSupport
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression
internal import NIOSSL

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The default transport: HTTP/1.1 and HTTP/2 through AsyncHTTPClient.
///
/// Its connections are kept for reuse and closed when the transport and the last of its transfers are gone, or on
/// ``invalidate()``. ``shared`` lives as long as the process. Events are called on the transport's one event loop.
public final class NIOTransport: Transport {
    /// What holds for all transfers of a transport.
    public struct Configuration: Hashable, Sendable {
        /// How many HTTP/1.1 connections one host gets; further transfers wait.
        ///
        /// With HTTP/2 one is enough.
        public var connectionsPerHost = 8
        /// How many seconds an unused connection is kept.
        public var idleConnectionTimeout: TimeInterval = 60
        /// How many bytes a compressed body may inflate to; more fails with `.dataLengthExceedsMaximum`.
        public var maximumInflatedSize = 256 << 20
        /// Sent as `User-Agent` by requests that do not set it.
        public var userAgent = "Kingfisher"

        /// The defaults.
        public init() {}
    }

    /// A transport with the default configuration.
    ///
    /// Do not invalidate it.
    public static let shared = NIOTransport()

    /// One for each of a few event loops: many small transfers would wait for a single loop.
    private let clients: [NIOClient]

    /// A transport with connections of its own.
    public init(configuration: Configuration = Configuration()) {
        clients = NIOClient.spread(configuration)
    }

    /// Starts one transfer; see ``Transport/start(_:policy:events:)``.
    ///
    /// Never calls `events` before it returns.
    public func start(
        _ request: URLRequest,
        policy: TransportPolicy,
        events: any TransportEvents
    ) -> any TransportTask {
        // The first of the least busy clients: successive transfers share a connection.
        let client = clients.dropFirst().reduce(clients[0]) { $1.running < $0.running ? $1 : $0 }
        let transfer = NIOTransfer(request, policy: policy, events: events, client: client)
        transfer.start()
        return transfer
    }

    /// Cancels all transfers and closes all connections.
    ///
    /// Later transfers fail as cancelled.
    public func invalidate() { for client in clients { client.shutDown() } }
}

/// The HTTP client, which its owner and every running transfer retain; it is shut down with the last reference.
final class NIOClient: Sendable {
    /// The loop of all callbacks of all its transfers.
    ///
    /// One loop, so that no callback changes threads on its way.
    let loop: any EventLoop
    private let transfers = Locked(0)
    private let client: HTTPClient
    private let userAgent: String

    /// Clients on as many loops as there are, which share the connections a host may get.
    static func spread(_ configuration: NIOTransport.Configuration) -> [NIOClient] {
        let connections = max(configuration.connectionsPerHost, 1)
        let all = Array(HTTPClient.defaultEventLoopGroup.makeIterator())
        let loops = all.prefix(min(connections, 4))
        return loops.enumerated().map { index, loop in
            let share: Int = (connections + loops.count - 1 - index) / loops.count
            return NIOClient(configuration, loop: loop, connectionsPerHost: share)
        }
    }

    /// How many transfers are under way.
    var running: Int { transfers.withLock { $0 } }
    func began() { transfers.withLock { $0 += 1 } }
    func ended() { transfers.withLock { $0 -= 1 } }

    private init(_ configuration: NIOTransport.Configuration, loop: any EventLoop, connectionsPerHost: Int) {
        var settings = HTTPClient.Configuration()
        settings.redirectConfiguration = .disallow
        settings.decompression = .enabled(limit: .size(configuration.maximumInflatedSize))
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        settings.connectionPool.idleTimeout = TimeAmount(.seconds(configuration.idleConnectionTimeout))
        settings.connectionPool.retryConnectionEstablishment = false
        // An upper bound only: the time limits are those of each transfer's policy.
        settings.timeout.connect = .minutes(2)
        // Even the default tracer, which does nothing, takes a twentieth of a small download's time.
        settings.tracing.tracer = nil
        self.loop = loop
        client = HTTPClient(eventLoopGroupProvider: .shared(loop), configuration: settings)
        userAgent = configuration.userAgent
    }

    deinit { shutDown() }

    func shutDown() { client.shutdown { _ in } }

    func execute(
        _ request: URLRequest,
        policy: TransportPolicy,
        delegate: NIOTransfer
    ) throws -> HTTPClient.Task<Void> {
        let url = try Self.usable(request.url)
        var translated = try HTTPClient.Request(
            url: url,
            method: .init(rawValue: request.httpMethod ?? "GET"),
            headers: headers(of: request, policy),
            body: request.httpBody.map { .data($0) }
        )
        if let host = url.host?.lowercased(), policy.trustedHosts.contains(where: { $0.lowercased() == host }) {
            translated.tlsConfiguration = Self.unverified
        }
        return client.execute(request: translated, delegate: delegate, eventLoop: .delegate(on: loop))
    }

    /// A URL this transport can load: of HTTP or HTTPS, with a host and a valid port.
    ///
    /// The client itself would also follow a server's redirect to a local UNIX socket, and traps on an invalid port.
    private static func usable(_ url: URL?) throws(TransportError) -> URL {
        guard let url, let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw TransportError(.unsupportedURL, "Only http and https can be downloaded.", url: url)
        }
        guard let host = url.host, !host.isEmpty, (1...65_535).contains(url.port ?? 80) else {
            throw TransportError(.unsupportedURL, "The URL names no host and port there can be.", url: url)
        }
        return url
    }

    private func headers(of request: URLRequest, _ policy: TransportPolicy) -> HTTPHeaders {
        var headers = HTTPHeaders()
        headers.reserveCapacity(8)
        for (name, value) in request.allHTTPHeaderFields ?? [:] { headers.add(name: name, value: value) }
        func addUnlessSet(_ name: String, _ value: String) {
            if !headers.contains(name: name) { headers.add(name: name, value: value) }
        }
        addUnlessSet("Accept", "*/*")
        addUnlessSet("Accept-Encoding", policy.asksForCompression ? "gzip, deflate" : "identity")
        addUnlessSet("User-Agent", userAgent)
        return headers
    }

    private static let unverified: TLSConfiguration = {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        return configuration
    }()
}
