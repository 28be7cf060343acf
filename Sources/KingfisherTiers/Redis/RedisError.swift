// Why a Redis server did not do what it was asked for. For RedisTier and its users' logs.

public import Foundation

/// Why a Redis or Valkey server did not do what it was asked for.
public struct RedisError: Error, Hashable, Sendable {
    /// What went wrong.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Cause: Hashable, Sendable {
        /// The URL of a tier cannot be used.
        case badURL
        /// There is no connection: the server is absent, unknown, not trusted, still loading, or refuses the password.
        case notConnected
        /// The connection ended before the answer came; whether the command was carried out is not known.
        case connectionLost
        /// The server answered with an error.
        case refused
        /// Too many calls, or too many bytes, wait for the server already.
        case overloaded
        /// The value is larger than ``RedisTier/maxValueBytes``.
        case valueTooLarge
    }

    /// What went wrong.
    public let cause: Cause
    /// The explanation in one line, without user, password, keys and values.
    public let message: String

    init(_ cause: Cause, _ message: String) { (self.cause, self.message) = (cause, message) }
}

extension RedisError: CustomStringConvertible, LocalizedError {
    /// The message.
    public var description: String { message }
    /// The message.
    public var errorDescription: String? { message }
}

/// Why a connection cannot be made, or has ended: the end of a sentence.
struct RedisFailure: Error { let reason: String }

extension RedisError {
    /// A server's error text, made fit for a log: one line of plain characters.
    ///
    /// Servers repeat arguments of commands that they do not know, so what they quote is left out.
    static func readable(_ text: String) -> String {
        let plain = String(text.unicodeScalars.prefix(200).map { (" "..."~").contains($0) ? Character($0) : "?" })
        let quotes = [" '", " `", " \""].compactMap { plain.firstRange(of: $0)?.lowerBound }
        return String(plain[..<(quotes.min() ?? plain.endIndex)])
    }
}
