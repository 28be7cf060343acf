// What a store that several machines share has to offer, so that they download and make each image once. For caches;
// KingfisherTiers has one for Redis and one for S3, and programs write others.

public import Foundation

/// A store of values by key that several machines share, such as Redis. (Not in Kingfisher.)
///
/// An ``ImageCache`` that has one looks there after its disk, and hands it what it writes to its disk. It is never in
/// the way: what takes too long or fails is a miss, and what it returns is verified before it is used. So an
/// implementation only moves bytes: it needs no time limits, no retries and no checks of its own.
///
/// Its functions are called from any thread, many at a time, and must not block the thread. A call whose task is
/// cancelled returns or throws soon. The descriptions of errors are logged, so they contain nothing secret.
public protocol SharedTier: Sendable {
    /// For logs and metrics, such as `redis://cache.internal:6379`; without user and password.
    var name: String { get }
    /// The largest value in bytes that it takes; larger ones are not handed to it.
    var maxValueBytes: Int { get }
    /// How machines agree on who makes a value; nil if the store cannot do that.
    var leases: (any SharedLeases)? { get }

    /// After which time the value of a key counts as missing, and the tier as having failed; 250 ms unless said
    /// otherwise.
    ///
    /// A tier whose values may take longer than an answer, because they are large or come from far away, gives them
    /// that time here, and itself throws an error when no answer comes: silence is a failure, slowness is not. Of a
    /// value that it gives up because it comes too slowly it throws `CancellationError`.
    func readTimeout(forKey key: String) -> Duration

    /// The value of a key.
    ///
    /// - Parameter key: Up to 100 small letters, digits and hyphens.
    /// - Returns: The value; nil if there is none.
    /// - Throws: Any error; the value is not looked for again then.
    func get(_ key: String) async throws -> Data?

    /// Stores a value and replaces an earlier value of the key.
    ///
    /// - Parameters:
    ///   - value: The bytes.
    ///   - key: The key.
    ///   - expiry: After which time it may be removed; nil means never.
    /// - Throws: Any error; the value is not stored then.
    func put(_ value: Data, forKey key: String, expiry: Duration?) async throws

    /// Removes the value of a key, if there is one.
    ///
    /// - Throws: Any error.
    func remove(_ key: String) async throws

    /// Stores a value in place of another one, in one step: nothing that another machine stores meanwhile is lost.
    ///
    /// Purges are shared by it. The default looks, compares and stores, which is not one step: of two machines that
    /// purge at one moment, one may lose its purge.
    ///
    /// - Parameters:
    ///   - value: The bytes.
    ///   - key: The key.
    ///   - expected: The value that the key has to have; nil is no value.
    /// - Returns: Whether it had it, and has the new one now.
    /// - Throws: Any error; the value may have been stored nevertheless.
    func put(_ value: Data, forKey key: String, replacing expected: Data?) async throws -> Bool
}

extension SharedTier {
    /// No limit.
    public var maxValueBytes: Int { .max }
    /// None.
    public var leases: (any SharedLeases)? { nil }
    /// A quarter of a second.
    public func readTimeout(forKey key: String) -> Duration { .milliseconds(250) }

    /// Looks, compares and stores.
    public func put(_ value: Data, forKey key: String, replacing expected: Data?) async throws -> Bool {
        guard try await get(key) == expected else { return false }
        try await put(value, forKey: key, expiry: nil)
        return true
    }
}

/// Rights that one of several machines has at a time, and loses unless it renews them. (Not in Kingfisher.)
///
/// A lease has a key and an owner: a text that no other has. Every step is atomic.
public protocol SharedLeases: Sendable {
    /// Acquires a lease unless another owner holds it.
    ///
    /// - Parameters:
    ///   - key: What it is for.
    ///   - owner: Who wants it.
    ///   - duration: After which time it ends unless it is renewed.
    /// - Returns: Whether `owner` has it now.
    /// - Throws: Any error; the value is made without a lease then.
    func lease(_ key: String, owner: String, duration: Duration) async throws -> Bool

    /// Prolongs a lease: it ends `duration` from now.
    ///
    /// - Returns: Whether `owner` still had it.
    /// - Throws: Any error.
    func renew(_ key: String, owner: String, duration: Duration) async throws -> Bool

    /// Ends a lease, if `owner` has it.
    ///
    /// - Throws: Any error.
    func release(_ key: String, owner: String) async throws
}

/// A store for images, and another one by which machines coordinate, such as S3 with Redis. (Not in Kingfisher.)
public struct LeasedTier: SharedTier {
    private let store: any SharedTier
    private let coordinator: any SharedTier & SharedLeases

    /// Keeps images in one store; takes leases, and keeps the little that is looked at often, in another.
    public init(store: any SharedTier, coordinator: any SharedTier & SharedLeases) {
        (self.store, self.coordinator) = (store, coordinator)
    }

    /// The coordinator's.
    public var leases: (any SharedLeases)? { coordinator }
    /// Those of both.
    public var name: String { "\(store.name) with \(coordinator.name)" }
    /// The store's.
    public var maxValueBytes: Int { store.maxValueBytes }

    /// That of the store that keeps the key's value.
    public func readTimeout(forKey key: String) -> Duration { place(of: key).readTimeout(forKey: key) }

    /// The value of a key, from the store that keeps it.
    public func get(_ key: String) async throws -> Data? { try await place(of: key).get(key) }

    /// Stores a value where its key belongs.
    public func put(_ value: Data, forKey key: String, expiry: Duration?) async throws {
        try await place(of: key).put(value, forKey: key, expiry: expiry)
    }

    /// Stores a value in place of another one where its key belongs.
    public func put(_ value: Data, forKey key: String, replacing expected: Data?) async throws -> Bool {
        try await place(of: key).put(value, forKey: key, replacing: expected)
    }

    /// Removes a value from where its key belongs.
    public func remove(_ key: String) async throws { try await place(of: key).remove(key) }

    private func place(of key: String) -> any SharedTier {
        key.hasPrefix("kf1-purge") || key.hasSuffix(TierKey.leaseSuffix) ? coordinator : store
    }
}
