// The response of a scripted route, faults included. Knows nothing of sockets.

public import Foundation

/// The response of a route of a ``TestServer``, including its faults.
public struct TestResponse: Sendable {
    /// How the receiver learns where the body ends.
    public enum Framing: Hashable, Sendable {
        /// By a `Content-Length`.
        case contentLength
        /// By chunked transfer coding; the length is not announced.
        case chunked
        /// By the closing of the connection.
        case untilClose
    }

    /// What happens in the middle of a body, after that many bytes.
    public enum Interruption: Sendable {
        /// The connection is closed.
        case cut(after: Int)
        /// Nothing more is sent, and the connection stays open.
        case stall(after: Int)
        /// Nothing more is sent until the gate opens.
        case hold(after: Int, until: Gate)
        /// The same, several times: in the order of the counts, each waiting for a gate of its own.
        case holds([(after: Int, until: Gate)])
    }

    /// The status code.
    public var status: Int
    /// Further header fields.
    public var headers: [String: String]
    /// The whole body.
    ///
    /// Ranges and compression are applied by the server.
    public var body: Data
    /// How the end of the body is marked.
    public var framing = Framing.contentLength
    /// How many bytes are written at a time, each waiting for the one before; `nil` writes everything at once.
    public var pieceSize: Int?
    /// The fault in the middle of the body.
    public var interruption: Interruption?
    /// How long the head is held back.
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

extension TestResponse {
    /// The response that is sent for `request`: a 304, a part, or all of it.
    func negotiated(for request: TestRequest) -> TestResponse {
        var response = self
        if let etag { response.headers["ETag"] = etag }
        if let etag, let wanted = request.header("If-None-Match"), wanted == "*" || wanted.contains(etag) {
            response.status = 304
            response.body = Data()
            return response
        }
        guard acceptsRanges, status == 200 else { return response }
        response.headers["Accept-Ranges"] = "bytes"
        guard let field = request.header("Range"), isCurrent(request.header("If-Range")) else { return response }
        guard let range = Self.range(field, of: body.count) else {
            response.status = 416
            response.headers["Content-Range"] = "bytes */\(body.count)"
            response.body = Data()
            return response
        }
        response.status = 206
        response.headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"
        response.body = Data(body.dropFirst(range.lowerBound).prefix(range.count))
        return response
    }

    private func isCurrent(_ validator: String?) -> Bool { validator == nil || validator == etag }

    /// `bytes=a-b`, `bytes=a-` or `bytes=-n`; `nil` for anything that cannot be satisfied.
    private static func range(_ field: String, of count: Int) -> Range<Int>? {
        guard field.hasPrefix("bytes=") else { return nil }
        let bounds = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2 else { return nil }
        switch (Int(bounds[0]), Int(bounds[1])) {
        case (let first?, let last?) where first <= last && first < count: return first..<min(last + 1, count)
        case (let first?, nil) where bounds[1].isEmpty && first < count: return first..<count
        case (nil, let length?) where bounds[0].isEmpty && length > 0 && count > 0:
            return max(count - length, 0)..<count
        default: return nil
        }
    }
}
