// Why a transfer failed, in the words of `URLError`. Knows nothing of who was waiting for it.

public import Foundation

/// Why a transfer failed.
///
/// The code is one of `URLError`'s, the same for the same cause whatever the transport, so that retrying and
/// reporting need to look at nothing else.
public struct TransportError: Error, Hashable, Sendable {
    /// The cause: for example `.cancelled` (-999), `.timedOut` (-1001) or `.cannotConnectToHost` (-1004).
    public let code: URLError.Code

    /// What happened, in one line.
    public let message: String

    /// The URL that was being loaded, if known.
    public let url: URL?

    /// An error with a cause and one line of explanation.
    public init(_ code: URLError.Code, _ message: String, url: URL? = nil) {
        self.code = code
        self.message = message
        self.url = url
    }

    /// The same error as Foundation spells it.
    public var urlError: URLError {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message]
        if let url { info[NSURLErrorFailingURLErrorKey] = url }
        return URLError(code, userInfo: info)
    }
}

extension TransportError: CustomStringConvertible {
    /// The message and the code.
    public var description: String { "\(message) (\(code.rawValue))" }
}

extension TransportError {
    /// Somebody asked the transfer to stop.
    package static func cancelled(_ url: URL?) -> TransportError {
        TransportError(.cancelled, "The transfer was cancelled.", url: url)
    }
}
