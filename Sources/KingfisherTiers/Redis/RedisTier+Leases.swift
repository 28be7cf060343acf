// The leases of the tier in Redis: keys with a time to live, whose value is the owner. For those who make values.

public import protocol Kingfisher.SharedLeases

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
