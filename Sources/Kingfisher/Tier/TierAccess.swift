// The calls to a shared tier: limited in time, left out while it fails, verified and counted. For CacheCore and loads.

import Foundation
import KFSupport

/// A cache's access to its tier.
final class TierAccess: Sendable {
    /// Limits that a program has no reason to change.
    struct Limits: Sendable {
        /// How long a load waits for one call; nil is the tier's own limit.
        var call: Duration?
        /// How long storing or removing a value may take; the limit of reading counts if it is longer.
        var write = Duration.seconds(5)
        /// How long a lease holds unless it is renewed.
        var lease = Duration.milliseconds(500)
        /// How long a load waits for another machine that renews its lease.
        var wait = Duration.seconds(60)
        /// How long a lease is kept for what was made to reach the tier.
        var handOver = Duration.seconds(3)
        /// For how long a miss is remembered, so that a program which looks first and then loads asks once.
        var missLifetime = Duration.milliseconds(100)
        /// How many values are stored or removed at once.
        var concurrentWrites = 4
        /// How many may wait for that, and how many bytes they may have.
        var waitingWrites = 512
        var waitingBytes = 32 << 20
    }

    private struct State: Sendable {
        var breaker = TierBreaker()
        var statistics = SharedTierStatistics()
        var misses = RecentMisses()
    }

    let tier: any SharedTier
    let limits: Limits
    let clock: TierClock
    private let onChange: (@Sendable (SharedTierChange) -> Void)?
    private let state = Locked(State())
    let writes: TierWrites

    init(
        _ tier: any SharedTier,
        limits: Limits = Limits(),
        clock: TierClock = TierClock(ContinuousClock()),
        onChange: (@Sendable (SharedTierChange) -> Void)? = nil
    ) {
        (self.tier, self.limits, self.clock, self.onChange) = (tier, limits, clock, onChange)
        writes = TierWrites(limits)
    }

    /// What became of the calls.
    var statistics: SharedTierStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.isAvailable = state.breaker.isClosed
            return statistics
        }
    }

    func count(_ change: @Sendable (inout SharedTierStatistics) -> Void) {
        state.withLock { change(&$0.statistics) }
    }

    // MARK: Values

    /// The value of an entry; nil if there is none that can be used.
    ///
    /// It may be looked for *again*: it was missed just now, and another machine may have made it since.
    func value(for key: TierKey, isAgain: Bool) async -> TierValue? {
        if !isAgain, isMissing(key) { return nil }
        guard let found = await read(key.name, { [tier] in try await tier.get(key.name) }) else { return nil }
        let value = found.flatMap { TierValue(encoded: $0, for: key) }
        let now = clock.now()
        state.withLock { state in
            switch (found, value) {
            case (_, .some): state.statistics.hits += 1
            case (nil, nil): if !isAgain { state.statistics.misses += 1 }
            case (.some, nil): state.statistics.invalid += 1
            }
            if value == nil, !isAgain { state.misses.add(key, at: now) } else { state.misses.remove(key) }
        }
        return value
    }

    private func isMissing(_ key: TierKey) -> Bool {
        let now = clock.now()
        return state.withLock { state in state.misses.time(of: key).map { now - $0 < limits.missLifetime } ?? false }
    }

    /// Stores a value in the background.
    func put(_ value: TierValue, for key: TierKey) {
        let lifetime = value.expires.timeIntervalSince(value.madeAt)
        guard lifetime > 0 else { return }
        let size = value.bytes.count
        guard size + 4_096 <= tier.maxValueBytes else { return count { $0.dropped += 1 } }
        // More than ten years count as no expiry.
        let expiry: Duration? = lifetime < 315_000_000 ? .seconds(lifetime) : nil
        let isTaken = writes.add(key, bytes: size) { [self] in
            let encoded = value.encoded(for: key)
            let stored: Void? = await call(within: max(limits.write, limit(of: key.name))) { [tier] in
                try await tier.put(encoded, forKey: key.name, expiry: expiry)
            }
            if stored != nil { count { $0.stores += 1 } }
        }
        if !isTaken { count { $0.dropped += 1 } }
    }

    /// Removes a value in the background.
    func remove(_ key: TierKey) {
        let isTaken = writes.add(key, bytes: 0) { [self] in
            let removed: Void? = await call(within: limits.write) { [tier] in try await tier.remove(key.name) }
            if removed != nil { count { $0.removals += 1 } }
        }
        if !isTaken { count { $0.dropped += 1 } }
    }

    // MARK: Calls

    /// Reads; nil when that was not tried, failed, took too long or was cancelled.
    ///
    /// Only readers decide whether the tier works: one that is full can still be read.
    private func read<Value: Sendable>(
        _ key: String,
        _ body: @escaping @Sendable () async throws -> Value
    ) async -> Value? {
        guard state.withLock({ $0.breaker.mayCall(at: clock.now()) }) else { return skipped() }
        let end = await end(of: body, within: limit(of: key))
        let change = state.withLock { state -> TierBreaker.Change in
            switch end {
            case .value: return state.breaker.recordSuccess()
            case .cancelled: state.breaker.recordNothing()
            case .timedOut, .failed:
                return state.breaker.recordFailure(at: clock.now(), jitter: Double.random(in: 0...1))
            }
            return .none
        }
        switch change {
        case .none: break
        case .opened: onChange?(.unavailable(tier: tier.name, reason: end.reason))
        case .closed: onChange?(.available(tier: tier.name))
        }
        return end.value
    }

    /// How long a call about a key may take.
    func limit(of key: String) -> Duration { limits.call ?? tier.readTimeout(forKey: key) }

    /// Makes another call than reading; nil when it was not made, failed, took too long or was cancelled.
    func call<Value: Sendable>(
        within limit: Duration,
        _ body: @escaping @Sendable () async throws -> Value
    ) async -> Value? {
        guard state.withLock({ $0.breaker.isPassing(at: clock.now()) }) else { return skipped() }
        return await end(of: body, within: limit).value
    }

    /// Makes a call even while the tier fails; its outcome says nothing about whether the tier works.
    ///
    /// For coordination, which may be in another store, and for a lease that is held.
    func callAnyway<Value: Sendable>(
        within limit: Duration,
        _ body: @escaping @Sendable () async throws -> Value
    ) async -> Value? {
        await end(of: body, within: limit).value
    }

    private func skipped<Value>() -> Value? {
        count { $0.skipped += 1 }
        return nil
    }

    private func end<Value: Sendable>(
        of body: @escaping @Sendable () async throws -> Value,
        within limit: Duration
    ) async -> TierCallEnd<Value> {
        let end = Promise<TierCallEnd<Value>>()
        let work = Task { end.fulfil(await Result { try await body() }.tierCallEnd) }
        let timer = Task { [clock] in
            guard await clock.sleep(limit) else { return }
            end.fulfil(.timedOut)
        }
        let result = await end.value(onCancel: { end.fulfil(.cancelled) })
        timer.cancel()
        switch result {
        case .value: return result
        case .timedOut: count { $0.timeouts += 1 }
        case .failed: count { $0.failures += 1 }
        case .cancelled: break
        }
        work.cancel()
        return result
    }
}

/// The keys that were missed last, and when; of more than 4,096 the oldest are forgotten.
private struct RecentMisses: Sendable {
    private static let limit = 4_096
    private var times: [TierKey: Duration] = [:]
    /// The misses in the order they came, each in place of the oldest once there are so many.
    private var ring: [(key: TierKey, time: Duration)] = []
    private var oldest = 0

    func time(of key: TierKey) -> Duration? { times[key] }

    mutating func add(_ key: TierKey, at time: Duration) {
        if ring.count < Self.limit {
            ring.append((key, time))
        } else {
            let forgotten = exchange(&ring[oldest], with: (key: key, time: time))
            oldest = (oldest + 1) % Self.limit
            // The key may have been missed again since.
            if times[forgotten.key] == forgotten.time { times[forgotten.key] = nil }
        }
        times[key] = time
    }

    mutating func remove(_ key: TierKey) { times[key] = nil }
}

/// How a call ended.
private enum TierCallEnd<Value: Sendable>: Sendable {
    case value(Value)
    case failed(reason: String)
    case timedOut
    case cancelled

    var value: Value? { if case .value(let value) = self { value } else { nil } }

    var reason: String {
        switch self {
        case .value, .cancelled: ""
        case .failed(let reason): reason
        case .timedOut: "It did not answer in time."
        }
    }
}

extension Result where Success: Sendable {
    fileprivate var tierCallEnd: TierCallEnd<Success> {
        switch self {
        case .success(let value): .value(value)
        case .failure(let error) where error is CancellationError: .cancelled
        case .failure(let error): .failed(reason: "\(error)")
        }
    }
}

/// A clock of any type.
struct TierClock: Sendable {
    /// The time since the clock was made.
    let now: @Sendable () -> Duration
    /// Waits, and returns whether it was not cancelled.
    let sleep: @Sendable (Duration) async -> Bool

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { duration in (try? await clock.sleep(for: duration)) != nil }
    }
}
