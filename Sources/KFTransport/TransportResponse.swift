// The head of a response, cheap to make and to read. Knows nothing of the body.

public import Foundation
internal import KFSupport
internal import NIOHTTP1

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The head of a response.
///
/// Most downloads need no more of it than its status and length, and making a `URLResponse` of it takes longer than
/// all else the library does about a download; so that is made when it is needed.
public final class TransportResponse: Sendable {
    private enum Head: Sendable { case foundation(URLResponse), nio(HTTPResponseHead) }

    /// Where the response came from; after redirects the last place.
    public let url: URL?
    private let head: Head
    private let made: Locked<URLResponse?>

    /// The head of a response of Foundation, of HTTP or not.
    public init(_ response: URLResponse) {
        url = response.url
        head = .foundation(response)
        made = Locked(nil)
    }

    init(_ head: HTTPResponseHead, url: URL?) {
        self.url = url
        self.head = .nio(head)
        made = Locked(nil)
    }

    /// The HTTP status; `nil` when the response is not one of HTTP.
    public var statusCode: Int? {
        switch head {
        case .foundation(let response): (response as? HTTPURLResponse)?.statusCode
        case .nio(let head): Int(head.status.code)
        }
    }

    /// How many bytes of body are announced, before decompression; -1 when unknown.
    public var expectedContentLength: Int64 {
        switch head {
        case .foundation(let response): response.expectedContentLength
        case .nio(let head): head.headers.first(name: "Content-Length").flatMap { Int64($0) } ?? -1
        }
    }

    /// The value of a header field.
    ///
    /// - Parameter name: The name, in any case.
    /// - Returns: The value, fields of one name joined by commas; `nil` if there is none.
    public func value(forHTTPHeaderField name: String) -> String? {
        switch head {
        case .foundation(let response): return (response as? HTTPURLResponse)?.value(forHTTPHeaderField: name)
        case .nio(let head):
            let values = head.headers[name]
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
    }

    /// The same as a Foundation type: an `HTTPURLResponse` if it is one of HTTP.
    public var urlResponse: URLResponse {
        switch head {
        case .foundation(let response): return response
        case .nio(let head):
            if let known = made.withLock({ $0 }) { return known }
            let response = makeResponse(head)
            return made.withLock { made in
                let first = made ?? response
                made = first
                return first
            }
        }
    }

    private func makeResponse(_ head: HTTPResponseHead) -> URLResponse {
        var fields: [String: String] = [:]
        fields.reserveCapacity(head.headers.count)
        for (name, value) in head.headers {
            if let earlier = fields.updateValue(value, forKey: name) { fields[name] = earlier + ", " + value }
        }
        let url = url ?? URL(fileURLWithPath: "/")
        let response = HTTPURLResponse(
            url: url,
            statusCode: Int(head.status.code),
            httpVersion: "HTTP/\(head.version.major).\(head.version.minor)",
            headerFields: fields
        )
        return response ?? URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    }
}
