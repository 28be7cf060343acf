// The head of a response, cheap to make and to read.

public import Foundation
internal import KFSupport

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The head of a response.
///
/// Most downloads need no more of it than its status and length, and making a `URLResponse` of it takes longer than
/// all else the library does about a download; so that is made when it is needed.
public final class TransportResponse: Sendable {
    private enum Head: Sendable { case foundation(URLResponse), http(HTTPHead) }

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

    init(_ head: HTTPHead, url: URL?) {
        self.url = url
        self.head = .http(head)
        made = Locked(nil)
    }

    /// The HTTP status; `nil` when the response is not one of HTTP.
    public var statusCode: Int? {
        switch head {
        case .foundation(let response): (response as? HTTPURLResponse)?.statusCode
        case .http(let head): head.status
        }
    }

    /// How many bytes of body are announced, before decompression; -1 when unknown.
    public var expectedContentLength: Int64 {
        switch head {
        case .foundation(let response): response.expectedContentLength
        case .http(let head): head.value(of: "content-length").flatMap { Int64($0) } ?? -1
        }
    }

    /// The value of a header field.
    ///
    /// - Parameter name: The name, in any case.
    /// - Returns: The value, fields of one name joined by commas; `nil` if there is none.
    public func value(forHTTPHeaderField name: String) -> String? {
        switch head {
        case .foundation(let response): (response as? HTTPURLResponse)?.value(forHTTPHeaderField: name)
        case .http(let head): head.value(of: name)
        }
    }

    /// The same as a Foundation type: an `HTTPURLResponse` if it is one of HTTP.
    public var urlResponse: URLResponse {
        switch head {
        case .foundation(let response): return response
        case .http(let head):
            if let known = made.withLock({ $0 }) { return known }
            let response = makeResponse(head)
            return made.withLock { made in
                let first = made ?? response
                made = first
                return first
            }
        }
    }

    private func makeResponse(_ head: HTTPHead) -> URLResponse {
        var fields: [String: String] = [:]
        for (name, value) in head.fields {
            if let earlier = fields.updateValue(value, forKey: name) { fields[name] = earlier + ", " + value }
        }
        let url = url ?? URL(fileURLWithPath: "/")
        let response = HTTPURLResponse(
            url: url,
            statusCode: head.status,
            httpVersion: head.version,
            headerFields: fields
        )
        return response ?? URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    }
}
