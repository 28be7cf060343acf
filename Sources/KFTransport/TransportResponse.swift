// The head of a response, cheap to make and to read.

public import Foundation
public import FoundationNetworking
internal import KFSupport

/// The head of a response.
///
/// Most downloads need no more of it than its status and length, and making a `URLResponse` of it takes longer than
/// all else the library does about a download; so that is made when it is needed.
public final class TransportResponse: Sendable {
    /// Where the response came from; after redirects the last place.
    public let url: URL?
    /// The responses that redirected to this one, first to last, where the receiver of the events has noted them.
    package let redirects: [HTTPURLResponse]
    /// nil if it came as a `URLResponse`.
    private let head: HTTPHead?
    private let made: Locked<URLResponse?>

    /// The head of a response of Foundation, of HTTP or not.
    public init(_ response: URLResponse) {
        (url, head, redirects) = (response.url, nil, [])
        made = Locked(response)
    }

    init(_ head: HTTPHead, url: URL?) {
        (self.url, self.head, redirects) = (url, head, [])
        made = Locked(nil)
    }

    /// The same response, as one that others have redirected to.
    package init(_ response: TransportResponse, after redirects: [HTTPURLResponse]) {
        (url, head, self.redirects) = (response.url, response.head, redirects)
        made = Locked(response.made.withLock { $0 })
    }

    /// The HTTP status; `nil` when the response is not one of HTTP.
    public var statusCode: Int? { head?.status ?? (urlResponse as? HTTPURLResponse)?.statusCode }

    /// How many bytes of body are announced, before decompression; -1 when unknown.
    public var expectedContentLength: Int64 {
        guard let head else { return urlResponse.expectedContentLength }
        return head.contentLength.map { Int64($0) } ?? -1
    }

    /// The value of a header field.
    ///
    /// - Parameter name: The name, in any case.
    /// - Returns: The value, fields of one name joined by commas; `nil` if there is none.
    public func value(forHTTPHeaderField name: String) -> String? {
        guard let head else { return (urlResponse as? HTTPURLResponse)?.value(forHTTPHeaderField: name) }
        return head.value(of: name)
    }

    /// The same as a Foundation type: an `HTTPURLResponse` if it is one of HTTP.
    public var urlResponse: URLResponse {
        made.withLock { made in
            let response = made ?? makeResponse()
            made = response
            return response
        }
    }

    private func makeResponse() -> URLResponse {
        let fields = Dictionary(head?.fields.map { ($0.name, $0.value) } ?? []) { $0 + ", " + $1 }
        let url = url ?? URL(fileURLWithPath: "/")
        return HTTPURLResponse(
            url: url,
            statusCode: head?.status ?? 0,
            httpVersion: head?.version,
            headerFields: fields
        ) ?? URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    }
}
