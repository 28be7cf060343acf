// The public memory storage: its configuration, expirations, costs and cleaning.

import Foundation
import KFStorage
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct MemoryStorageTests {
    private struct Value: CacheCostCalculable, Sendable, Equatable {
        var number = 0
        var cacheCost = 1
    }

    /// A wall clock that is set by hand.
    private final class WallClock: Sendable {
        private let date = Locked(Date(timeIntervalSince1970: 1_700_000_000))
        var now: Date { date.withLock { $0 } }
        func advance(_ seconds: TimeInterval) { date.withLock { $0 += seconds } }
    }

    private let wallClock = WallClock()

    private func storage(
        _ config: MemoryStorage.Config = .init(totalCostLimit: 3),
        timer: any Clock<Duration> = ContinuousClock()
    ) -> MemoryStorage.Backend<Value> {
        let wallClock = wallClock
        return MemoryStorage.Backend(config: config, clock: { wallClock.now }, timer: timer)
    }

    // MARK: Configuration

    @Test("A configuration has the documented defaults")
    func defaults() {
        let config = MemoryStorage.Config(totalCostLimit: 7)
        #expect(config.totalCostLimit == 7)
        #expect(config.countLimit == .max)
        #expect(config.expiration == .seconds(300))
        #expect(config.cleanInterval == 120)
        #expect(!config.keepWhenEnteringBackground)
    }

    @Test("Limits can be changed while the storage is in use, one by one or all together")
    func changedLimits() {
        let storage = storage()
        for key in ["a", "b", "c"] { storage.store(value: Value(), forKey: key) }
        #expect(storage.totalCacheCost() == 3)
        storage.config.totalCostLimit = 2
        #expect(storage.totalCacheCost() == 2)
        #expect(storage.store.configuration.costLimit == 2)
        storage.config.countLimit = 1
        #expect(storage.totalCacheCost() == 1)
        #expect(storage.store.configuration.countLimit == 1)
        #expect(storage.isCached(forKey: "c"))
        storage.config.expiration = .expired
        storage.store(value: Value(), forKey: "d")
        #expect(storage.value(forKey: "d") == nil)
        storage.config = MemoryStorage.Config(totalCostLimit: 10)
        for key in ["a", "b", "c", "d", "e"] { storage.store(value: Value(), forKey: key) }
        #expect(storage.store.count == 5)
    }

    @Test("Zero means no limit")
    func zeroMeansNoLimit() {
        let storage = storage(.init(totalCostLimit: 0))
        storage.config.countLimit = 0
        for number in 0..<100 { storage.store(value: Value(cacheCost: 1 << 40), forKey: "\(number)") }
        #expect(storage.store.count == 100)
    }

    @Test("When several threads change the configuration, the last one applies in the engine as well")
    func concurrentConfiguration() async {
        let storage = storage()
        await withTaskGroup(of: Void.self) { group in
            for task in 1...4 {
                group.addTask {
                    for step in 1...500 { storage.config = MemoryStorage.Config(totalCostLimit: task * 1_000 + step) }
                }
            }
        }
        #expect(storage.store.configuration.costLimit == storage.config.totalCostLimit)
    }

    // MARK: Storing and reading

    @Test("Values are stored, replaced and expired by argument or configuration")
    func storing() {
        let storage = storage()
        storage.store(value: Value(number: 1), forKey: "a")
        storage.store(value: Value(number: 2), forKey: "a", expiration: .seconds(1_000))
        #expect(storage.value(forKey: "a") == Value(number: 2))
        storage.store(value: Value(), forKey: "b")
        wallClock.advance(300)
        #expect(storage.isCached(forKey: "a"))
        #expect(!storage.isCached(forKey: "b"))
        storage.store(value: Value(), forKey: "a", expiration: .expired)
        #expect(storage.value(forKey: "a") == Value(number: 2))
    }

    @Test("An expired value is not found, and stays in memory until it is removed")
    func expiring() {
        let storage = storage()
        storage.store(value: Value(number: 1), forKey: "a", expiration: .seconds(1))
        storage.store(value: Value(), forKey: "b", expiration: .seconds(1))
        wallClock.advance(1)
        #expect(storage.value(forKey: "a") == nil)
        #expect(storage.store.entry(forKey: "a")?.value == Value(number: 1))
        #expect(storage.totalCacheCost() == 2)
        storage.store.remove(forKey: "b")
        storage.removeExpired()
        #expect(storage.store.count == 0)
        #expect(storage.totalCacheCost() == 0)
    }

    @Test("A read extends the expiration as its argument says, a probe does not, a fixed date stays")
    func extending() throws {
        let storage = storage(.init(totalCostLimit: 10))
        let start = wallClock.now
        func expiry(_ key: String) throws -> Double {
            try #require(storage.store.entry(forKey: key)).expiry.timeIntervalSince(start)
        }
        for key in ["a", "b", "c", "d"] { storage.store(value: Value(), forKey: key, expiration: .seconds(10)) }
        storage.store(value: Value(), forKey: "e", expiration: .date(start + 10))
        storage.store(value: Value(), forKey: "f", expiration: .never)
        wallClock.advance(4)
        _ = storage.value(forKey: "a")
        _ = storage.value(forKey: "b", extendingExpiration: .none)
        _ = storage.value(forKey: "c", extendingExpiration: .expirationTime(.seconds(100)))
        _ = storage.isCached(forKey: "d")
        _ = storage.value(forKey: "e")
        _ = storage.value(forKey: "f")
        #expect(try ["a", "b", "c", "d", "e"].map(expiry) == [14, 10, 104, 10, 10])
        #expect(storage.store.entry(forKey: "f")?.expiry == .distantFuture)
        #expect(storage.store.entry(forKey: "a")?.expiration == .seconds(10))
    }

    @Test("The total cost counts expired entries, but not evicted ones")
    func totalCost() {
        let storage = storage(.init(totalCostLimit: 10))
        storage.store(value: Value(cacheCost: 4), forKey: "a", expiration: .seconds(1))
        wallClock.advance(2)
        #expect(storage.totalCacheCost() == 4)
        storage.store(value: Value(cacheCost: 5), forKey: "b")
        #expect(storage.totalCacheCost() == 9)
        storage.store(value: Value(cacheCost: 5), forKey: "c")
        #expect(storage.totalCacheCost() == 10)
        #expect(storage.store.entry(forKey: "a") == nil)
        // The probes did not extend any expiration.
        wallClock.advance(300)
        #expect(!storage.isCached(forKey: "b"))
    }

    private final class CountedCost: CacheCostCalculable, Sendable {
        let times = Locked(0)
        var cacheCost: Int {
            times.withLock { times in
                times += 1
                return times
            }
        }
    }

    @Test("The cost is read once, when storing")
    func costReads() {
        let storage = MemoryStorage.Backend<CountedCost>(config: .init(totalCostLimit: 100))
        let value = CountedCost()
        storage.store(value: value, forKey: "a")
        _ = storage.value(forKey: "a")
        #expect(storage.totalCacheCost() == 1)
        storage.remove(forKey: "a")
        #expect(value.times.withLock { $0 } == 1)
    }

    @Test("A purge removes the values that were stored before keeping was configured, and no others")
    func purging() {
        let storage = storage(.init(totalCostLimit: 10))
        storage.store(value: Value(), forKey: "before")
        storage.config.keepWhenEnteringBackground = true
        storage.store(value: Value(), forKey: "kept")
        storage.config.keepWhenEnteringBackground = false
        storage.store(value: Value(), forKey: "after")
        storage.store.purge()
        #expect(["before", "kept", "after"].filter { storage.isCached(forKey: $0) } == ["kept"])
        #expect(storage.store.counts.purged == 2)
    }

    @Test("Shrinking and removing update the keys and the cost") func shrinkingAndRemoving() {
        let storage = storage(.init(totalCostLimit: 10))
        for number in 0..<10 { storage.store(value: Value(number: number), forKey: "\(number)") }
        storage.store.shrink(toCost: 4)
        #expect(storage.totalCacheCost() == 4)
        #expect(storage.config.totalCostLimit == 10)
        storage.remove(forKey: "9")
        #expect(storage.store.count == 3)
        storage.removeAll()
        #expect(storage.store.count == 0)
        #expect(storage.store.counts.stores == 10)
    }

    // MARK: Cleaning

    @Test("Expired entries are removed at every interval", .timeLimit(.minutes(5)))
    func automaticCleaning() async {
        let timer = ManualClock()
        let storage = storage(.init(totalCostLimit: 0, cleanInterval: 10), timer: timer)
        for round in 1...3 {
            storage.store(value: Value(), forKey: "a", expiration: .seconds(5))
            await timer.waitForSleepers()
            wallClock.advance(5)
            timer.advance(by: .seconds(9))
            #expect(storage.store.count == 1)
            timer.advance(by: .seconds(1))
            while storage.store.count > 0 { await Task.yield() }
            #expect(storage.store.counts.expired == round)
        }
    }

    @Test("With the real clock, an expired entry is removed from the store and the keys", .timeLimit(.minutes(5)))
    func realClock() async {
        let storage = MemoryStorage.Backend<Value>(config: .init(totalCostLimit: 3, cleanInterval: 0.01))
        storage.store(value: Value(), forKey: "1", expiration: .seconds(0.01))
        while storage.store.entry(forKey: "1") != nil { await Task.yield() }
        #expect(storage.store.count == 0)
    }

    @Test("A new interval restarts the timer, and an interval of zero stops cleaning", .timeLimit(.minutes(5)))
    func intervalChange() async {
        let timer = ManualClock()
        let storage = storage(.init(totalCostLimit: 0, cleanInterval: 1_000), timer: timer)
        storage.store(value: Value(), forKey: "a", expiration: .seconds(1))
        wallClock.advance(1)
        await timer.waitForSleepers()
        storage.config.cleanInterval = 10
        // The old timer has ended or ends soon; the new one waits.
        while timer.sleeperCount != 1 { await Task.yield() }
        timer.advance(by: .seconds(10))
        while storage.store.count > 0 { await Task.yield() }
        storage.config.cleanInterval = 0
        while timer.sleeperCount != 0 { await Task.yield() }
    }

    @Test("Cleaning does not keep the storage alive, and ends with it", .timeLimit(.minutes(5)))
    func cleaningRetention() async {
        let timer = ManualClock()
        weak var storage: MemoryStorage.Backend<Value>?
        do {
            let kept = self.storage(.init(totalCostLimit: 0, cleanInterval: 1_000), timer: timer)
            storage = kept
            await timer.waitForSleepers()
            #expect(storage != nil)
        }
        #expect(storage == nil)
        while timer.sleeperCount != 0 { await Task.yield() }
    }

    @Test("The memory storage throws nothing, and its clock can be set")
    func memory() {
        var config = MemoryStorage.Config(totalCostLimit: 0, cleanInterval: 60)
        config.cleanInterval = 30
        let storage = MemoryStorage.Backend<KFCrossPlatformImage>(config: config)
        #expect(storage.config.cleanInterval == 30)
        storage.store(value: SampleImage.gradient(2, 2), forKey: "a")
        storage.remove(forKey: "a")
        #expect(!storage.isCached(forKey: "a"))
    }
}
