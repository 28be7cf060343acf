// A tier that fails or hangs is never in the way.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct TierFaultTests {
    @Test("With a tier that fails, images are downloaded as without one; after five failures it is left alone")
    func failingTier() async throws {
        let changes = Locked<[String]>([])
        try await Machines.run(1) { machines in
            let clock = ManualClock()
            let cache = machines.managers[0].cache
            let access = TierAccess(machines.tier, limits: .patient, clock: TierClock(clock)) { change in
                changes.withLock { $0.append("\(change)") }
            }
            cache.core.tier = access
            machines.tier.behaviour = .fails
            for number in 0..<10 {
                machines.server.route("/\(number).png", .data(try SampleImage.png()))
                #expect(try await machines.load("/\(number).png", on: 0).cacheType == .none)
                clock.advance(by: .milliseconds(300))
            }
            let statistics = machines.statistics(0)
            #expect(statistics.failures >= 5 && statistics.skipped > 0 && !statistics.isAvailable)
            #expect(changes.withLock { $0 }.count == 1)
            #expect(changes.withLock { $0 }.first?.contains("The shelf has fallen.") == true)

            // It comes back: one call tries it.
            machines.tier.behaviour = .works
            clock.advance(by: .seconds(7))
            machines.server.route("/again.png", .data(try SampleImage.png()))
            _ = try await machines.load("/again.png", on: 0)
            #expect(machines.statistics(0).isAvailable && machines.statistics(0).stores == 1)
            #expect(changes.withLock { $0 }.count == 2)
        }
    }

    /// The result of something that waits for a clock.
    private func advancing<Value: Sendable>(
        _ clock: ManualClock,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let end = Promise<Void>()
        let work = Task {
            defer { end.fulfil(()) }
            return try await body()
        }
        while end.valueIfFulfilled == nil {
            clock.advance(by: .milliseconds(50))
            await Task.yield()
        }
        return try await work.value
    }

    @Test("A tier that hangs costs a load its time limit, and then nothing") func hangingTier() async throws {
        try await Machines.run(1) { machines in
            let (clock, manager) = (ManualClock(), machines.managers[0])
            let access = TierAccess(machines.tier, clock: TierClock(clock))
            manager.cache.core.tier = access
            machines.tier.behaviour = .hangs
            machines.server.route("/a.png", .data(try SampleImage.png()))
            machines.server.route("/b.png", .data(try SampleImage.png()))
            let (first, second) = (machines.server.url("/a.png"), machines.server.url("/b.png"))
            #expect(try await advancing(clock) { try await manager.retrieveImage(with: first).cacheType } == .none)
            for number in 0..<4 {
                clock.advance(by: .milliseconds(300))
                let value = try await advancing(clock) {
                    await access.value(for: TierKey(name: "\(number)"), isAgain: true)
                }
                #expect(value == nil)
            }
            #expect(!machines.statistics(0).isAvailable && machines.statistics(0).timeouts >= 5)
            // The clock stands still: a call would not end.
            #expect(try await manager.retrieveImage(with: second).cacheType == .none)
        }
    }

    @Test("A coordinator that works does not hide that the store fails, and purges work all the same")
    func coordinator() async throws {
        let (store, redis) = (TestTier(), TestTier())
        try await Machines.run(1, tier: redis) { machines in
            let cache = machines.managers[0].cache
            cache.core.tier = TierAccess(LeasedTier(store: store, coordinator: redis), limits: .patient)
            store.behaviour = .fails
            var number = 0
            while machines.statistics(0).isAvailable {
                number += 1
                machines.server.route("/\(number).png", .data(try SampleImage.png()))
                _ = try await machines.load("/\(number).png", on: 0)
                try await cache.purge(.tag("\(number)"))
            }
            try await cache.purge(.all)
        }
    }

    @Test("Of more misses than are remembered the oldest are forgotten, and only those") func manyMisses() async {
        let tier = TestTier()
        let access = TierAccess(tier, limits: .patient, clock: TierClock(ManualClock()))
        func calls(askingFor numbers: Range<Int>) async -> Int {
            let before = tier.calls.count
            for number in numbers { _ = await access.value(for: TierKey(name: "\(number)"), isAgain: false) }
            return tier.calls.count - before
        }
        #expect(await calls(askingFor: 0..<4_110) == 4_110)
        #expect(await calls(askingFor: 14..<4_110) == 0)
        #expect(await calls(askingFor: 0..<14) == 14)
    }

    @Test("Between five failures in a row and the end of the pause nobody calls; then one does") func breaker() {
        var breaker = TierBreaker()
        for number in 0..<4 {
            let now = Duration.milliseconds(250 * number)
            let mayCall = breaker.mayCall(at: now)
            let change = breaker.recordFailure(at: now, jitter: 0.5)
            #expect(mayCall && change == .none)
            let mayCallAgain = breaker.mayCall(at: now + .milliseconds(249))
            #expect(!mayCallAgain, "There is a pause after each failure.")
        }
        #expect(breaker.recordSuccess() == .none)
        for _ in 0..<4 { _ = breaker.recordFailure(at: .zero, jitter: 0.5) }
        #expect(breaker.isClosed && breaker.recordFailure(at: .zero, jitter: 0.5) == .opened)
        #expect(!breaker.isClosed && !breaker.mayCall(at: .milliseconds(4_900)))
        #expect(breaker.mayCall(at: .milliseconds(5_000)) && !breaker.mayCall(at: .milliseconds(5_000)))
        // Failed again; the pauses of machines differ by up to a fifth.
        #expect(breaker.recordFailure(at: .milliseconds(5_000), jitter: 1) == .none)
        #expect(!breaker.mayCall(at: .milliseconds(10_900)) && breaker.mayCall(at: .milliseconds(11_001)))
        // One that was given up says nothing: the next one tries.
        breaker.recordNothing()
        #expect(breaker.mayCall(at: .milliseconds(11_001)) && breaker.recordSuccess() == .closed)
        #expect(breaker.isClosed && breaker.mayCall(at: .milliseconds(11_001)))
    }

    @Test("Of what waits for one key only the last is written; what is too much is dropped") func boundedWrites() async
    {
        var limits = TierAccess.Limits()
        (limits.concurrentWrites, limits.waitingWrites, limits.waitingBytes) = (1, 3, 100)
        let writes = TierWrites(limits)
        let gate = Gate()
        let done = Locked<[Int]>([])
        func add(_ key: String, _ number: Int, bytes: Int = 10, waits: Bool = false) -> Bool {
            writes.add(TierKey(forKey: key, nil), bytes: bytes) {
                if waits { await gate.wait() }
                done.withLock { $0.append(number) }
            }
        }
        #expect(add("a", 1, waits: true) && add("a", 2) && add("a", 3) && add("b", 4) && add("c", 5))
        #expect(!add("d", 6), "three wait")
        #expect(!add("b", 7, bytes: 1_000), "and neither this one nor the one before it is written")
        gate.open()
        await writes.finishedAll()
        #expect(done.withLock { $0 } == [1, 3, 5])
    }
}
