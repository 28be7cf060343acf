// The tier in Redis or Valkey, with its leases: keys with a time to live, whose value is the owner. For caches and
// servers.

public import Foundation
internal import KFSupport

public import protocol Kingfisher.SharedLeases
public import protocol Kingfisher.SharedTier

/// A shared tier, with leases, in Redis 6 or later, Valkey, or a cluster of these.
///
/// ```swift
/// let tier = try RedisTier("redis://cache.internal:6379")
/// let secured = try RedisTier("rediss://kingfisher:secret@cache.internal:6380/2?cacert=/etc/ssl/redis.pem")
/// let cluster = try RedisTier("redis://node1:6379,redis://node2:6379")
/// ```
///
/// - `redis://` and `valkey://` are plain, `rediss://` and `valkeys://` use TLS. The server's certificate is verified
///   with the authorities of the system, of `SSL_CERT_FILE` and `SSL_CERT_DIR`, or of the file `cacert`; `cert` and
///   `key` are the files of a certificate of our own, for servers that ask for one. All are PEM.
/// - User and password are percent-encoded. `redis://:password@host` has no user.
/// - The path is the number of a database; clusters have only 0.
/// - Whether a node belongs to a cluster is found out. Several URLs, separated by commas or spaces, are nodes of one
///   cluster, of which any is asked at the start; they differ in nothing but host and port. Only primaries are asked
///   for values. Sentinel is not spoken: use the name that follows the primary.
///
/// Each node has one connection, over which calls do not wait for each other's answers, and one thread. As long as it
/// cannot be reached, calls fail at once; connecting is tried again every two seconds at least. A server that is absent
/// at the start is no error. A server that answers nothing for five seconds is taken for gone.
///
/// Two kinds of keys are used: the prefix with the key, and the prefix with `lease:` and the key.
///
/// All functions may be called from any thread. A call whose task is cancelled ends at once; the server may carry it
/// out nevertheless.
public final class RedisTier: SharedTier {
    /// The first URL without user, password and database: `redis://cache.internal:6379`.
    public let name: String
    /// A mebibyte: a longer value would delay the answers behind it.
    public var maxValueBytes: Int { RESPReader.largestValue }
    /// The tier itself.
    public var leases: (any SharedLeases)? { self }

    let router: RedisRouter
    let prefix: String
    private let timeout: Duration

    /// Begins to connect to a server, or to nodes of a cluster.
    ///
    /// - Parameters:
    ///   - urls: One URL or several, separated by commas or spaces.
    ///   - prefix: What all keys begin with, so that several programs can share a server.
    ///   - connectTimeout: How long connecting may take, with TLS and the password.
    ///   - answerTimeout: After which time without any answer to waiting calls a connection is given up and made anew.
    ///   - readTimeout: How long a load waits for a value: by default a quarter of a second, and as much again for a
    ///     mebibyte at 4 MB a second.
    /// - Throws: `RedisError` with the cause `badURL`.
    public init(
        _ urls: String,
        prefix: String = "kf:",
        connectTimeout: Duration = .seconds(1),
        answerTimeout: Duration = .seconds(5),
        readTimeout: Duration = .milliseconds(500)
    ) throws(RedisError) {
        var all: [RedisURL] = []
        for text in urls.split(whereSeparator: { $0 == "," || $0.isWhitespace }) { all.append(try RedisURL(text)) }
        guard let first = all.first else { throw RedisURL.error("There is none.") }
        guard all.allSatisfy({ $0.settings == first.settings }) else {
            throw RedisURL.error("Several URLs may differ only in host and port.")
        }
        var settings = first.settings
        (settings.connectTimeout, settings.answerTimeout) = (connectTimeout, answerTimeout)
        name = "\(first.scheme)://\(first.endpoint)"
        (self.prefix, timeout) = (prefix, readTimeout)
        router = RedisRouter(all.map(\.endpoint), settings)
    }

    /// The time that the tier was made with.
    public func readTimeout(forKey key: String) -> Duration { timeout }

    /// The value of a key.
    ///
    /// - Throws: `RedisError`, or `CancellationError`.
    public func get(_ key: String) async throws -> Data? {
        switch try await router.send(RedisCommand("GET", prefix + key), key: prefix + key) {
        case .bytes(let value): value
        case .null: nil
        default: throw unexpected
        }
    }

    /// Stores a value; an earlier value of the key is replaced.
    ///
    /// - Throws: `RedisError`, or `CancellationError`.
    public func put(_ value: Data, forKey key: String, expiry: Duration?) async throws {
        guard value.count <= maxValueBytes else {
            throw RedisError(.valueTooLarge, "A value of \(value.count) bytes is too large for Redis.")
        }
        let further = expiry.map { ["PX", "\($0.redisMilliseconds)"] } ?? []
        let answer = try await router.send(
            RedisCommand(["SET", prefix + key], values: [value], further),
            key: prefix + key
        )
        guard answer == .text("OK") else { throw unexpected }
    }

    /// Stores a value in place of another one, in one step.
    ///
    /// - Throws: `RedisError`, or `CancellationError`; the value may have been stored nevertheless.
    public func put(_ value: Data, forKey key: String, replacing expected: Data?) async throws -> Bool {
        guard value.count <= maxValueBytes else {
            throw RedisError(.valueTooLarge, "A value of \(value.count) bytes is too large for Redis.")
        }
        // No value is false, and none of ours is empty.
        let script = """
            if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end \
            redis.call('SET', KEYS[1], ARGV[2]) return 1
            """
        let command = RedisCommand(["EVAL", script, "1", prefix + key], values: [expected ?? Data(), value])
        guard case .integer(let count) = try await router.send(command, key: prefix + key) else { throw unexpected }
        return count == 1
    }

    /// Removes the value of a key, if there is one.
    ///
    /// - Throws: `RedisError`, or `CancellationError`.
    public func remove(_ key: String) async throws {
        guard case .integer = try await router.send(RedisCommand("DEL", prefix + key), key: prefix + key) else {
            throw unexpected
        }
    }

    var unexpected: RedisError { RedisError(.refused, "\(name) answers what does not fit the command.") }
}

extension Duration {
    /// Milliseconds as the server takes them: 1 at least, and not so many that they are no date.
    var redisMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds >= 100_000_000_000
            ? 100_000_000_000_000 : max(seconds * 1_000 + attoseconds / 1_000_000_000_000_000, 1)
    }
}

extension RedisTier: SharedLeases {
    /// Takes a lease if nobody has it, not even `owner`.
    ///
    /// - Throws: `RedisError`, or `CancellationError`; the lease may have been taken nevertheless, until it ends.
    public func lease(_ key: String, owner: String, duration: Duration) async throws -> Bool {
        let key = leaseKey(key)
        let command = RedisCommand("SET", key, owner, "NX", "PX", "\(duration.redisMilliseconds)")
        switch try await router.send(command, key: key) {
        case .text("OK"): return true
        case .null: return false
        default: throw unexpected
        }
    }

    /// Prolongs a lease: it ends `duration` from now.
    ///
    /// - Throws: `RedisError`, or `CancellationError`.
    public func renew(_ key: String, owner: String, duration: Duration) async throws -> Bool {
        try await ifOwned(key, owner, "redis.call('PEXPIRE', KEYS[1], ARGV[2])", "\(duration.redisMilliseconds)")
    }

    /// Ends a lease, if `owner` has it.
    ///
    /// - Throws: `RedisError`, or `CancellationError`.
    public func release(_ key: String, owner: String) async throws {
        _ = try await ifOwned(key, owner, "redis.call('DEL', KEYS[1])")
    }

    /// Does something with a lease if it has this owner, in one step; returns whether it has.
    private func ifOwned(_ key: String, _ owner: String, _ action: String, _ argument: String...) async throws -> Bool {
        let key = leaseKey(key)
        let script = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return \(action)"
        let command = RedisCommand(["EVAL", script, "1", key, owner] + argument)
        guard case .integer(let count) = try await router.send(command, key: key) else { throw unexpected }
        return count == 1
    }

    private func leaseKey(_ key: String) -> String { prefix + "lease:" + key }
}
