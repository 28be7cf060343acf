// Who asks S3: a key and its secret. For users of S3Tier, and for signatures.

import Foundation

/// An access key of S3 with its secret.
///
/// Its descriptions contain neither.
public struct S3Credentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The name of the key, such as `AKIAIOSFODNN7EXAMPLE`.
    public let accessKeyID: String
    /// The secret of the key.
    public let secretAccessKey: String
    /// What temporary credentials have in addition; nil for those that stay.
    public let sessionToken: String?

    /// Credentials.
    ///
    /// White space around a value, such as the end of a line in a file, is not part of it.
    /// - Parameters:
    ///   - accessKeyID: The name of the key.
    ///   - secretAccessKey: The secret of the key.
    ///   - sessionToken: What temporary credentials have in addition; an empty text is no token.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
        (self.accessKeyID, self.secretAccessKey) = (trimmed(accessKeyID), trimmed(secretAccessKey))
        self.sessionToken = sessionToken.map(trimmed).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The name of the type, and nothing else.
    public var description: String { "S3Credentials" }
    /// The name of the type, and nothing else.
    public var debugDescription: String { description }
    /// A mirror that shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
