// The response of a scripted route, faults included.

public import Foundation

/// The response of a route of a ``TestServer``, including its faults.
public struct TestResponse: Sendable {
    /// The way the end of the body is marked.
    public enum Framing: Hashable, Sendable {
        /// By a `Content-Length`.
        case contentLength
        /// By chunked transfer coding; the length is not announced.
        case chunked
        /// By the closing of the connection.
        case untilClose
        /// By nothing: the body is everything that is sent, including a head if there is one.
        case raw
    }

    /// A fault or a wait while the response is sent.
    ///
    /// Counts are bytes of the body as it is sent: after compression, before chunked coding. A count of 0
    /// is right after the head.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Interruption: Sendable {
        /// The connection is closed instead of a response.
        case cutBeforeHead
        /// The connection is reset instead of a response.
        case resetBeforeHead
        /// The connection is closed after that many bytes.
        case cut(after: Int)
        /// The connection is reset after that many bytes, once they have reached the client's system.
        case reset(after: Int)
        /// Nothing more is sent, and the connection stays open.
        case stall(after: Int)
        /// Nothing more is sent until the gate opens.
        case hold(after: Int, until: Gate)
        /// The same, several times: in the order of the counts, each waiting for a gate of its own.
        case holds([(after: Int, until: Gate)])
        /// The rest of a chunked body follows as a chunk whose size is no number, and the connection stays open.
        case badChunk(after: Int)
        /// The body, or zeros if it is empty, is sent again and again until the client closes the connection.
        ///
        /// A length is announced only by a `Content-Length` of the script.
        case endless
    }

    /// The status code.
    public var status: Int
    /// Further header fields, sent as they are.
    ///
    /// A `Content-Length` among them need not be that of the body: after a body that is shorter the connection is
    /// closed, after a longer one it stays open.
    public var headers: [String: String]
    /// The whole body.
    ///
    /// Ranges and compression are applied by the server.
    public var body: Data
    /// The marking of the body's end.
    public var framing = Framing.contentLength
    /// The number of bytes in a piece, each sent after the one before; `nil` writes everything at once.
    public var pieceSize: Int?
    /// The wait between two pieces.
    public var pause: Duration?
    /// The fault.
    public var interruption: Interruption?
    /// The wait before the head.
    public var delay: Duration?
    /// Holds the head back until it opens.
    public var gate: Gate?
    /// The entity tag, quotes included.
    ///
    /// With it, a matching `If-None-Match` receives a 304.
    public var etag: String?
    /// Whether `Range` is honoured.
    public var acceptsRanges = false
    /// Whether the body is sent gzipped or deflated to clients that accept it.
    public var compresses = false

    /// A response with a status, header fields and a body.
    public init(status: Int = 200, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A 200 with a body of a type.
    public static func data(_ body: Data, type: String = "application/octet-stream") -> TestResponse {
        TestResponse(headers: ["Content-Type": type], body: body)
    }

    /// A redirect to another place, absolute or relative.
    public static func redirect(to location: String, status: Int = 302) -> TestResponse {
        TestResponse(status: status, headers: ["Location": location])
    }

    /// Any bytes that are sent instead of a response: garbage, a head without an end, two responses.
    ///
    /// - Parameters:
    ///   - bytes: All that is sent.
    ///   - closes: Whether the connection is closed behind them; otherwise it serves further requests.
    /// - Returns: A response whose body are these bytes.
    public static func raw(_ bytes: Data, closes: Bool = true) -> TestResponse {
        TestResponse(body: bytes).with { response in
            response.framing = .raw
            if closes { response.interruption = .cut(after: bytes.count) }
        }
    }

    /// A status with a short text as its body.
    public static func status(_ status: Int) -> TestResponse {
        TestResponse(status: status, headers: ["Content-Type": "text/plain"], body: Data("status \(status)".utf8))
    }

    /// The same with changes: `.data(bytes).with { $0.pieceSize = 100 }`.
    public func with(_ change: (inout TestResponse) -> Void) -> TestResponse {
        var copy = self
        change(&copy)
        return copy
    }
}
