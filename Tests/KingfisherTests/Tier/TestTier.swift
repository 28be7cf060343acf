// A tier in memory that can misbehave, and several machines that share it. For tests of the shared tier.

import Foundation
import KFSupport
import KingfisherTestSupport

@testable import Kingfisher

/// A tier in memory, whose leases end when their time is over.
final class TestTier: SharedTier, SharedLeases {
    /// What becomes of calls.
    enum Behaviour: Sendable {
        case works, fails, hangs
        /// Each call is of its own: it waits for other machines, fails, or works and fails nevertheless.
        case unreliable
    }

    private enum Fate: CaseIterable { case works, waits, worksLate, fails, losesReply }

    struct Broken: Error, CustomStringConvertible { let description = "The shelf has fallen." }

    private struct State: Sendable {
        var behaviour = Behaviour.works
        var values: [String: Data] = [:]
        var expiries: [String: Duration] = [:]
        var leases: [String: (owner: String, end: ContinuousClock.Instant)] = [:]
        var calls: [String] = []
        var renewals = 0
        var replacing: [@Sendable () async -> Void] = []
    }
    private let state = Locked(State())
    private let hasLeases: Bool
    let maxValueBytes: Int
    let name = "test"

    init(hasLeases: Bool = true, maxValueBytes: Int = .max) {
        (self.hasLeases, self.maxValueBytes) = (hasLeases, maxValueBytes)
    }

    var leases: (any SharedLeases)? { hasLeases ? self : nil }
    var behaviour: Behaviour {
        get { state.withLock { $0.behaviour } }
        set { state.withLock { $0.behaviour = newValue } }
    }
    var values: [String: Data] {
        get { state.withLock { $0.values } }
        set { state.withLock { $0.values = newValue } }
    }
    var expiries: [String: Duration] { state.withLock { $0.expiries } }
    /// The names of the functions that were called.
    var calls: [String] { state.withLock { $0.calls } }
    var renewals: Int { state.withLock { $0.renewals } }
    var heldLeases: Int { state.withLock { $0.leases.count } }

    /// Ends all leases, as if their time were over.
    func endLeases() { state.withLock { $0.leases = [:] } }

    /// Does something before the next value is replaced, as a machine does that is faster.
    func beforeReplacing(_ body: @escaping @Sendable () async -> Void) { state.withLock { $0.replacing.append(body) } }

    /// Returns whether the reply is lost.
    @discardableResult private func begin(_ call: String) async throws -> Bool {
        let behaviour = state.withLock { state in
            state.calls.append(call)
            return state.behaviour
        }
        switch behaviour {
        case .works: break
        case .unreliable:
            // Mostly it works, or no purge would come to its end.
            switch Int.random(in: 0..<3) == 0 ? Fate.allCases.randomElement() : .works {
            case .waits: for _ in 0..<Int.random(in: 1...200) { await Task.yield() }
            case .worksLate: try? await Task.sleep(for: .milliseconds(Int.random(in: 1...30)))
            case .fails: throw Broken()
            case .losesReply: return true
            case .works, nil: break
            }
        case .fails: throw Broken()
        case .hangs: try await Task.sleep(for: .seconds(3_600))
        }
        return false
    }

    /// Does what a call is for, and loses the reply where that is its fate.
    private func reply<Value>(_ isLost: Bool, _ body: (inout State) -> Value) throws -> Value {
        let value = state.withLock { body(&$0) }
        if isLost { throw Broken() }
        return value
    }

    func get(_ key: String) async throws -> Data? {
        try await begin("get")
        return state.withLock { $0.values[key] }
    }

    func put(_ value: Data, forKey key: String, expiry: Duration?) async throws {
        try reply(try await begin("put")) { ($0.values[key], $0.expiries[key]) = (value, expiry) }
    }

    func put(_ value: Data, forKey key: String, replacing expected: Data?) async throws -> Bool {
        let isLost = try await begin("replace")
        await state.withLock { $0.replacing.isEmpty ? nil : $0.replacing.removeFirst() }?()
        return try reply(isLost) { state in
            guard state.values[key] == expected else { return false }
            (state.values[key], state.expiries[key]) = (value, nil)
            return true
        }
    }

    func remove(_ key: String) async throws {
        try await begin("remove")
        state.withLock { $0.values[key] = nil }
    }

    func lease(_ key: String, owner: String, duration: Duration) async throws -> Bool {
        try await begin("lease")
        return state.withLock { state in
            if let held = state.leases[key], held.end > .now { return false }
            state.leases[key] = (owner, .now + duration)
            return true
        }
    }

    func renew(_ key: String, owner: String, duration: Duration) async throws -> Bool {
        try await begin("renew")
        return state.withLock { state in
            guard let held = state.leases[key], held.owner == owner, held.end > .now else { return false }
            state.leases[key] = (owner, .now + duration)
            state.renewals += 1
            return true
        }
    }

    func release(_ key: String, owner: String) async throws {
        try await begin("release")
        state.withLock { if $0.leases[key]?.owner == owner { $0.leases[key] = nil } }
    }
}

/// Machines with caches of their own, which share a tier and load from one server.
struct Machines {
    let server: TestServer
    let managers: [KingfisherManager]
    let tier: TestTier

    static func run(
        _ count: Int = 2,
        tier: TestTier = TestTier(),
        limits: TierAccess.Limits = .patient,
        _ body: (Machines) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let managers = try (0..<count).map { number in
                let cache = try ImageCache(name: "machine\(number)", cacheDirectoryURL: directory)
                cache.core.tier = TierAccess(tier, limits: limits)
                let downloader = ImageDownloader(name: "machine\(number)")
                downloader.downloadTimeout = 300
                let manager = KingfisherManager(downloader: downloader, cache: cache)
                manager.defaultOptions = [.callbackQueue(.untouch), .waitForCache]
                return manager
            }
            try await withServer { server in
                try await body(Machines(server: server, managers: managers, tier: tier))
            }
        }
    }

    /// Loads on one machine, and waits until the tier has what that stored.
    func load(
        _ path: String = "/a.png",
        on number: Int,
        _ options: KingfisherOptionsInfo = []
    ) async throws -> RetrieveImageResult {
        let result = try await managers[number].retrieveImage(with: server.url(path), options: options)
        await managers[number].cache.sharedTierWritesFinished()
        return result
    }

    func statistics(_ number: Int) -> SharedTierStatistics {
        managers[number].cache.sharedTierStatistics ?? SharedTierStatistics()
    }
}

extension TierAccess.Limits {
    /// For machines that are busy with other tests.
    static var patient: Self {
        var limits = Self()
        (limits.call, limits.write, limits.lease) = (.seconds(60), .seconds(60), .seconds(60))
        (limits.wait, limits.handOver) = (.seconds(600), .seconds(60))
        return limits
    }
}
