// The protocols by which users change requests before they are sent, redirections, and finished images.

public import Foundation
public import FoundationNetworking
import KFSupport

/// Changes a request just before it is sent.
public protocol AsyncImageDownloadRequestModifier: Sendable {
    /// The request to send instead; nil refuses the download with
    /// ``KingfisherError/RequestErrorReason/emptyRequest``.
    /// - Parameter request: The request as it would be sent.
    /// - Returns: The request to send, or nil to refuse.
    func modified(for request: URLRequest) async -> URLRequest?

    /// Called with the download's task when its transfer is about to start, also when the load joins one under way.
    var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { get }
}

/// Changes a request just before it is sent, without waiting for anything.
public protocol ImageDownloadRequestModifier: AsyncImageDownloadRequestModifier {
    /// The request to send instead; nil refuses the download with
    /// ``KingfisherError/RequestErrorReason/emptyRequest``.
    /// - Parameter request: The request as it would be sent.
    /// - Returns: The request to send, or nil to refuse.
    func modified(for request: URLRequest) -> URLRequest?
}

extension ImageDownloadRequestModifier {
    /// The result of the synchronous method.
    public func modified(for request: URLRequest) async -> URLRequest? {
        let modify: (URLRequest) -> URLRequest? = modified(for:)
        return modify(request)
    }

    /// Nil: nothing is called.
    public var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { nil }
}

/// Changes a request just before it is sent, or throws the reason why it must not be. (Not in Kingfisher.)
public protocol ThrowingImageDownloadRequestModifier: AsyncImageDownloadRequestModifier {
    /// The request to send instead.
    /// - Parameter request: The request as it would be sent.
    /// - Returns: The request to send.
    /// - Throws: Any error: the load fails with ``KingfisherError/RequestErrorReason/modifierFailed(error:)``.
    func modified(for request: URLRequest) async throws -> URLRequest
}

extension ThrowingImageDownloadRequestModifier {
    /// The result of the throwing method; nil when it throws.
    public func modified(for request: URLRequest) async -> URLRequest? {
        let modify: (URLRequest) async throws -> URLRequest = modified(for:)
        return try? await modify(request)
    }

    /// Nil: nothing is called.
    public var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { nil }
}

/// A request modifier made from a closure.
public struct AnyModifier: ImageDownloadRequestModifier {
    private let modify: @Sendable (URLRequest) -> URLRequest?

    /// Creates a modifier.
    /// - Parameter modify: Gives the request to send, or nil to refuse the download.
    public init(modify: @escaping @Sendable (URLRequest) -> URLRequest?) { self.modify = modify }

    /// Creates a modifier that sets what every request of it has in common. (Not in Kingfisher.)
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - headers: Header fields; each replaces one of the same name, in any case.
    ///   - body: The body; nil sends none.
    public init(method: String = "GET", headers: [String: String] = [:], body: Data? = nil) {
        self.init { request in
            var request = request
            request.httpMethod = method
            for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
            request.httpBody = body
            return request
        }
    }

    /// The closure's result.
    public func modified(for request: URLRequest) -> URLRequest? { modify(request) }
}

/// Changes the bytes of a download before anything is made of them or stored, such as by decrypting them. (Not in
/// Kingfisher.)
///
/// Loads share a transfer only if their modifiers are `Hashable` and equal.
public protocol ImageDownloadDataModifier: Sendable {
    /// The bytes to use instead; nil fails the load with
    /// ``KingfisherError/ResponseErrorReason/dataModifyingFailed(task:)``.
    ///
    /// Called once a transfer, on a thread that may be blocked, before the downloader's delegate.
    /// - Parameters:
    ///   - data: The bytes as they arrived.
    ///   - task: The transfer.
    /// - Returns: The bytes to use, or nil.
    func modified(_ data: Data, for task: SessionDataTask) -> Data?
}

/// A data modifier made from a closure. (Not in Kingfisher.)
///
/// It equals its copies.
public struct AnyDataModifier: ImageDownloadDataModifier, Hashable {
    private let identity = CodeIdentity()
    private let modify: @Sendable (Data, SessionDataTask) -> Data?

    /// Creates a modifier.
    /// - Parameter modify: Gives the bytes to use, or nil to fail the load.
    public init(modify: @escaping @Sendable (Data, SessionDataTask) -> Data?) { self.modify = modify }

    /// The closure's result.
    public func modified(_ data: Data, for task: SessionDataTask) -> Data? { modify(data, task) }

    /// Whether one is a copy of the other.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.identity == rhs.identity }
    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// Decides on the redirections of a download.
///
/// Loads share a transfer only if their handlers are `Hashable` and equal.
public protocol ImageDownloadRedirectHandler: Sendable {
    /// The request to follow a redirection with, changed or not; nil takes the redirection itself as the response.
    /// - Parameters:
    ///   - task: The transfer.
    ///   - response: The 3xx response.
    ///   - newRequest: The request that would be sent, without credentials when it leads to another origin.
    /// - Returns: The request to follow, or nil.
    func handleHTTPRedirection(
        for task: SessionDataTask,
        response: HTTPURLResponse,
        newRequest: URLRequest
    ) async -> URLRequest?
}

/// A redirect handler made from a closure with a callback.
///
/// It equals its copies.
public struct AnyRedirectHandler: ImageDownloadRedirectHandler, Hashable {
    /// The type of a handler's closure.
    public typealias Handle =
        @Sendable (
            SessionDataTask, HTTPURLResponse, URLRequest, @escaping @Sendable (URLRequest?) -> Void
        ) -> Void

    private let identity = CodeIdentity()
    private let handle: Handle

    /// Whether one is a copy of the other.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.identity == rhs.identity }
    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    /// Creates a handler.
    /// - Parameter handle: Calls its last argument with the request to follow or nil. The first call counts; without
    ///   any the download ends in its timeout.
    public init(handle: @escaping Handle) { self.handle = handle }

    /// The request that the closure passed to its callback.
    public func handleHTTPRedirection(
        for task: SessionDataTask,
        response: HTTPURLResponse,
        newRequest: URLRequest
    ) async -> URLRequest? {
        let followed = Promise<URLRequest?>()
        handle(task, response, newRequest) { followed.fulfil($0) }
        return await followed.value { followed.fulfil(nil) }
    }
}
