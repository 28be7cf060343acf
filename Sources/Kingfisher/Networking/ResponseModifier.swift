// The protocol by which users change the head of a response before the library judges it, and its ready-made forms.

import Foundation
public import FoundationNetworking
import KFSupport

/// Changes the status and the header fields of a response before they are checked. (Not in Kingfisher.)
///
/// Loads share a transfer only if their modifiers are `Hashable` and equal. A download with a modifier that breaks off
/// begins anew the next time.
public protocol ImageDownloadResponseModifier: Sendable {
    /// The response to go on with instead; nil fails the load with
    /// ``KingfisherError/ResponseErrorReason/responseRejected(response:)``.
    ///
    /// Called once a transfer, after redirects, before status and media type are checked and before the downloader's
    /// delegate. All of these are given what it returns, and so is what is kept about caching. The body waits
    /// meanwhile, and the time limits but the one for the whole transfer stand still. Not called with the confirmation
    /// of a cached image (status 304).
    /// - Parameter response: The response as it arrived.
    /// - Returns: The response to go on with, or nil.
    func modified(for response: HTTPURLResponse) async -> HTTPURLResponse?
}

/// A response modifier made from a closure. (Not in Kingfisher.)
///
/// It equals its copies.
public struct AnyResponseModifier: ImageDownloadResponseModifier, Hashable {
    private let identity = CodeIdentity()
    private let modify: @Sendable (HTTPURLResponse) async -> HTTPURLResponse?

    /// Creates a modifier.
    /// - Parameter modify: Gives the response to go on with, or nil to fail the load.
    public init(modify: @escaping @Sendable (HTTPURLResponse) async -> HTTPURLResponse?) { self.modify = modify }

    /// Creates a modifier that changes every response in the same way.
    ///
    /// - Parameters:
    ///   - statusCode: The HTTP status; nil leaves it.
    ///   - headers: Header fields; each replaces those of the same name, in any case.
    public init(statusCode: Int? = nil, headers: [String: String] = [:]) {
        self.init { response in
            guard let url = response.url else { return nil }
            let replaced = Set(headers.keys.map { $0.lowercased() })
            var fields = headers
            for case (let name as String, let value as String) in response.allHeaderFields
            where !replaced.contains(name.lowercased()) {
                fields[name] = value
            }
            return HTTPURLResponse(
                url: url,
                statusCode: statusCode ?? response.statusCode,
                httpVersion: nil,
                headerFields: fields
            )
        }
    }

    /// The closure's result.
    public func modified(for response: HTTPURLResponse) async -> HTTPURLResponse? { await modify(response) }

    /// Whether one is a copy of the other.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.identity == rhs.identity }
    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
