// Why a transfer failed, in terms of `URLError`. For transports and their callers.

public import Foundation
import KFSupport

/// Why a transfer failed.
///
/// The code is one of `URLError`'s, the same for the same cause whatever the transport, so that retrying and
/// reporting need to look at nothing else.
public struct TransportError: Error, Hashable, Sendable {
    /// The cause: for example `.cancelled` (-999), `.timedOut` (-1001) or `.cannotConnectToHost` (-1004).
    public let code: URLError.Code

    /// The explanation, in one line; URLs in it have lost passwords and signatures.
    public let message: String

    /// The URL that was being loaded, if known, as it was requested: it may hold a password or a signature.
    public let url: URL?

    /// Whether the network was available, but is one to save data on.
    public private(set) var isConstrained = false

    /// An error with a cause and one line of explanation.
    public init(_ code: URLError.Code, _ message: String, url: URL? = nil) {
        self.code = code
        self.message = Redaction.text(message)
        self.url = url
    }

    /// The same error as a `URLError`.
    ///
    /// Its `failingURL` has lost user, password and the values of secret parameters, such as signatures and tokens:
    /// `URLError`'s own description prints it. ``url`` is the whole one.
    public var urlError: URLError {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message]
        if let url = url.flatMap(Redaction.url) { info[NSURLErrorFailingURLErrorKey] = url }
        if isConstrained { info[URLError.unavailableReasonKey] = URLError.constrainedReason }
        return URLError(code, userInfo: info)
    }
}

extension TransportError: CustomStringConvertible {
    /// The message and the code.
    public var description: String { "\(message) (\(code.rawValue))" }
}

extension TransportError {
    /// The network is one to save data on, and the transfer's policy says not to use such
    /// (``TransportPolicy/allowsConstrainedNetworkAccess``).
    ///
    /// The code is `.notConnectedToInternet`, as on Apple's platforms.
    public static func constrained(_ url: URL?) -> TransportError {
        var error = TransportError(.notConnectedToInternet, "The network is one to save data on.", url: url)
        error.isConstrained = true
        return error
    }

    /// The transfer was cancelled.
    package static func cancelled(_ url: URL?) -> TransportError {
        TransportError(.cancelled, "The transfer was cancelled.", url: url)
    }
}

extension URLError {
    // Named and numbered as on Apple's platforms; Foundation on Linux has neither.
    fileprivate static let unavailableReasonKey = "NSURLErrorNetworkUnavailableReasonKey"
    fileprivate static let constrainedReason = 2

    /// Whether the network was available, but is one to save data on.
    package var isConstrained: Bool { errorUserInfo[Self.unavailableReasonKey] as? Int == Self.constrainedReason }
}
