// The default transport: libcurl on one thread, and a queue in front of it. For downloaders.
//
// libcurl comes with the system and its security updates, and knows proxies, HTTP/2, private roots and their variables
// as other programs of the system do. SwiftNIO's client would bring a TLS library of its own into every build.

public import Foundation
public import FoundationNetworking
internal import KFSupport

/// The default transport: HTTP/1.1, HTTP/2 and, where the system's libcurl has it, HTTP/3.
///
/// A transfer waits in a queue until it gets a slot: by priority, then by its policy's ``TransportPolicy/order``. One
/// thread of the transport's own runs all transfers that have one, and calls their events. Connections are kept for
/// reuse, cookies in memory, and closed when the transport and the last of its transfers are gone, or on
/// ``invalidate()``.
///
/// Proxies come from the environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`), as libcurl reads it, and
/// trusted roots from `SSL_CERT_FILE` and `SSL_CERT_DIR`, unless the configuration says otherwise.
public final class CurlTransport: Transport {
    /// The settings of all transfers of a transport.
    public struct Configuration: Hashable, Sendable {
        /// How many transfers run at once; further ones wait.
        public var maxConcurrentTransfers = 128
        /// How many HTTP/1.1 connections one host gets.
        ///
        /// A host that speaks HTTP/2 gets 100 transfers.
        public var connectionsPerHost = 16
        /// How many seconds a connection may have been unused and be used again.
        ///
        /// It is closed by the next transfer that would use it, or when there are too many.
        public var idleConnectionTimeout: TimeInterval = 60
        /// Sent as `User-Agent` by requests that do not set it.
        public var userAgent = "Kingfisher/\(LibraryVersion.text)"
        /// The URL of a proxy for all transfers; an empty one means none.
        ///
        /// `nil` follows the environment.
        public var proxy: String?
        /// A file of certificates (PEM) that are trusted instead of the system's.
        ///
        /// `nil` follows the environment, or the system.
        public var certificateFile: String?
        /// The path of a Unix socket that all transfers connect to, whatever the host of their URL.
        public var unixSocketPath: String?
        /// Whether no transfer begins; those that have begun go on, their redirects too.
        public var isSuspended = false
        /// Whether HTTP/3 is tried with `https`; without effect where the system's libcurl does not have it.
        public var usesHTTP3 = false

        /// The defaults.
        public init() {}
    }

    /// How long the queue of a transport is.
    public struct QueueStatus: Hashable, Sendable {
        /// How many transfers wait for a slot.
        public var waiting = 0
        /// How many transfers have one.
        public var running = 0

        /// An empty queue.
        public init() {}

        init(waiting: Int, running: Int) { (self.waiting, self.running) = (waiting, running) }
    }

    /// A transport with the default configuration.
    ///
    /// It lives as long as the process; do not invalidate it.
    public static let shared = CurlTransport()

    private let inbox: CurlInbox

    /// A transport with connections of its own.
    public init(configuration: Configuration = Configuration()) { inbox = CurlInbox(configuration) }

    deinit { inbox.send(.end) }

    /// The configuration.
    ///
    /// A change holds from the next transfer that gets a slot on; a request that was given one before keeps what it
    /// has.
    public var configuration: Configuration {
        get { inbox.configuration }
        set { configure { $0 = newValue } }
    }

    /// Changes some of the configuration, at once with respect to other threads.
    package func configure(_ change: (inout Configuration) -> Void) { inbox.configure(change) }

    /// How long the queue is.
    public var queueStatus: QueueStatus { inbox.status }

    /// Starts one transfer; see ``Transport/start(_:policy:events:)``.
    public func start(
        _ request: URLRequest,
        policy: TransportPolicy,
        events: any TransportEvents
    ) -> any TransportTask {
        let task = CurlTask(request, inbox: inbox)
        if !inbox.send(.start(task, policy, events)) { events.didComplete(.cancelled(request.url)) }
        return task
    }

    /// Cancels all transfers and closes all connections.
    ///
    /// Later transfers fail as cancelled.
    public func invalidate() { inbox.send(.invalidate) }
}
