// A request that arrived at the test server.

public import Foundation
internal import KFSupport

/// A request as it arrived at a ``TestServer``.
public struct TestRequest: Sendable {
    /// The method, such as `GET`.
    public let method: String
    /// The target as it was sent: path and query.
    public let uri: String
    /// All header fields in the order they came.
    public let headers: [(name: String, value: String)]
    /// The body.
    public let body: Data
    /// Opens when the connection the request came through is closed, by whichever side.
    public let disconnected: Gate
    /// The number of the connection the request came through, from 1.
    public let connection: Int
    /// Whether the client wants to send further requests through the connection.
    let keepsConnection: Bool
    let sent = Counter()

    /// The path, without the query.
    public var path: String { String(uri.prefix { $0 != "?" }) }

    /// The part after the question mark, `nil` if there is none.
    public var query: String? { uri.firstIndex(of: "?").map { String(uri[uri.index(after: $0)...]) } }

    /// The number of bytes of the response body that have been handed to the system so far.
    public var bytesSent: Int { sent.value }

    /// The value of a header field, whatever its case; the first if there are several.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// A counter that several threads increase.
final class Counter: Sendable {
    private let count = Locked(0)
    var value: Int { count.withLock { $0 } }
    func add(_ number: Int) { count.withLock { $0 += number } }
}
