// What the URL of a Redis server says, made into settings. For RedisTier.

internal import Foundation
internal import KFSupport

/// Where a server listens.
struct RedisEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address; one of IPv6 without brackets.
    let host: String
    let port: Int

    /// Nil if this is no place that one can connect to.
    init?(host: String, port: Int) {
        let isPlain = host.utf8.allSatisfy { Self.hostBytes.contains($0) }
        guard !host.isEmpty, host.utf8.count < 256, isPlain, (1...65_535).contains(port) else { return nil }
        (self.host, self.port) = (host, port)
    }

    private static let hostBytes = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:".utf8)

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// How a server is connected to, and spoken with.
struct RedisSettings: Hashable, Sendable {
    var usesTLS = false
    /// Nil: the default user, if there is a password.
    var user: String?
    var password: String?
    var database = 0
    /// Files of certificates that are trusted, of our own certificate, and of its key (PEM).
    var authorityFile: String?
    var certificateFile: String?
    var keyFile: String?
    /// How long connecting may take, with TLS and the password.
    var connectTimeout = Duration.seconds(1)
    /// After which time without any answer to waiting calls a connection is given up.
    var answerTimeout = Duration.seconds(5)
}

/// A URL's meaning.
struct RedisURL {
    let scheme: String
    let endpoint: RedisEndpoint
    private(set) var settings = RedisSettings()

    /// - Throws: An error that says what cannot be understood, without secrets.
    init(_ text: some StringProtocol) throws(RedisError) {
        guard let url = URL(escaping: Array(text.utf8)),
            let parts = URLComponents(url: url, resolvingAgainstBaseURL: false),
            let scheme = parts.scheme?.lowercased(),
            let usesTLS = ["redis": false, "valkey": false, "rediss": true, "valkeys": true][scheme]
        else { throw Self.error("It has to begin with redis://, rediss://, valkey:// or valkeys://, and be escaped.") }
        let host = (parts.host ?? "").trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        guard let endpoint = RedisEndpoint(host: host, port: parts.port ?? 6_379) else {
            throw Self.error("It needs the name or the address of a host: redis://host:6379")
        }
        (self.scheme, self.endpoint) = (scheme, endpoint)
        settings.usesTLS = usesTLS
        try readUser(parts)
        try readDatabase(parts.path)
        for item in parts.queryItems ?? [] { try read(item) }
    }

    private mutating func readUser(_ parts: URLComponents) throws(RedisError) {
        if let user = parts.user, !user.isEmpty { settings.user = user }
        settings.password = parts.password
        if settings.user != nil, settings.password == nil {
            throw Self.error("It has a user without a password; a password alone is written redis://:password@host")
        }
    }

    private mutating func readDatabase(_ path: String) throws(RedisError) {
        let number = path.drop { $0 == "/" }
        guard !number.isEmpty else { return }
        guard let database = Int(number), (0..<1_000_000).contains(database) else {
            throw Self.error("Its path has to be the number of a database, as in redis://host/2")
        }
        settings.database = database
    }

    private mutating func read(_ item: URLQueryItem) throws(RedisError) {
        guard settings.usesTLS, let value = item.value, !value.isEmpty else {
            throw Self.error("Parameters are for rediss:// and valkeys://, and have a value.")
        }
        switch item.name {
        case "cacert": settings.authorityFile = value
        case "cert": settings.certificateFile = value
        case "key": settings.keyFile = value
        default: throw Self.error("Its parameters can be cacert, cert and key, each with the path of a PEM file.")
        }
    }

    static func error(_ reason: String) -> RedisError {
        RedisError(.badURL, "The URL of Redis cannot be used. \(reason)")
    }
}
