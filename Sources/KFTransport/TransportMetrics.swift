// When the parts of a transfer happened, and how many bytes they took.

public import Foundation

/// The measurements of one transfer.
///
/// Instants are monotonic; only differences mean something.
public struct TransportMetrics: Sendable {
    /// One request and its response.
    ///
    /// A transfer with redirects has several.
    public struct Exchange: Sendable {
        /// Where the request went.
        public var url: URL?
        /// The status of the response, `nil` if none arrived.
        public var status: Int?
        /// The protocol of the response, such as `HTTP/1.1`; `nil` if none arrived.
        public var httpVersion: String?
        /// When the transport took the request on, before it had a slot or a connection.
        public var start: ContinuousClock.Instant
        /// How long the request waited for a slot; `nil` if the transport has no queue.
        public var waiting: Duration?
        /// How long the name lookup took; `nil` if the transport does not measure it or skipped it.
        public var domainLookup: Duration?
        /// How long connecting took; `nil` if the transport does not measure it or skipped it.
        public var connect: Duration?
        /// How long the TLS handshake took; `nil` if the transport does not measure it or skipped it.
        public var secureConnection: Duration?
        /// When the head of the request was sent.
        public var requestStart: ContinuousClock.Instant?
        /// When the whole request was sent.
        public var requestEnd: ContinuousClock.Instant?
        /// When the head of the response arrived.
        public var responseStart: ContinuousClock.Instant?
        /// When the last byte of the response arrived.
        public var responseEnd: ContinuousClock.Instant?
        /// How many bytes of body were sent.
        public var bytesSent: Int64 = 0
        /// How many bytes of body were received, after decompression.
        public var bytesReceived: Int64 = 0
        /// How many bytes of body came over the wire, before decompression; `nil` if the transport does not know.
        public var bytesOnWire: Int64?
        /// The numeric address of the server or proxy, `nil` if there was no connection or the transport does not know.
        public var remoteAddress: String?
        /// Whether an open connection was reused; `nil` if the transport does not know.
        public var reusedConnection: Bool?

        /// An exchange that has just been started.
        public init(url: URL?, start: ContinuousClock.Instant = .now) {
            self.url = url
            self.start = start
        }
    }

    /// The requests made, first to last.
    public var exchanges: [Exchange]

    /// From the start of the transfer to its end.
    public var interval: Range<ContinuousClock.Instant>

    /// How many redirects were followed.
    public var redirectCount: Int { max(exchanges.count - 1, 0) }

    /// Measurements, for transports and for tests.
    public init(exchanges: [Exchange], interval: Range<ContinuousClock.Instant>) {
        self.exchanges = exchanges
        self.interval = interval
    }
}
