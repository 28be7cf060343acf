// The memory store against the least that a store can be. Uses public API only.

import Foundation
import Kingfisher
import Synchronization

let memoryBenchmarks = [
    Benchmark(name: "memory hit, 10,000 keys, against a dictionary and a lock") {
        // Stored in another order than they are looked up in, under separate strings: the stores access their memory at
        // random, the caller does not.
        let images = CostedValue.manyInDisorder(10_000)
        let ours = MemoryStorage.Backend<CostedValue>.filled(with: images)
        let baseline = LockedDictionary(filledWith: images)
        // Several passes: a single one would mostly measure how one store evicts the other from the processor's caches.
        let queries = CostedValue.many(10_000).map(\.key)
        let keys = (0..<5).flatMap { _ in queries }
        let comparison = try await compare(
            rounds: 61,
            operations: keys.count,
            ours: { try expectHits(keys) { ours.value(forKey: $0) != nil } },
            baseline: { try expectHits(keys) { baseline.value(forKey: $0) != nil } }
        )
        return Figure(comparison, .atMostTimes(1.8))
    },
    Benchmark(name: "memory hits of two threads on different keys, against one thread") {
        let images = CostedValue.manyInDisorder(10_000)
        let store = MemoryStorage.Backend<CostedValue>.filled(with: images)
        let keys = CostedValue.many(10_000).map(\.key)
        let halves = [Array(keys[..<5_000]), Array(keys[5_000...])]
        let work: [@Sendable () throws -> Void] = halves.map { half in
            { try expectHits(half, times: 100) { store.value(forKey: $0) != nil } }
        }
        let pairs = try (0..<41).map { _ in
            let alone = try Threads.seconds([{ for half in work { try half() } }])
            return (ours: try Threads.seconds(work), alone: alone)
        }
        // A round uses both cores. Other load of the machine slows it, so the better rounds show the store's speed.
        let best = pairs.sorted { $0.ours / $0.alone < $1.ours / $1.alone }[pairs.count / 8]
        let hits = Double(keys.count * 100)
        return Figure(.rate(hits / best.ours), baseline: .rate(hits / best.alone), .atLeastTimes(1.5))
    },
]

/// Looks everything up, and throws if anything is missing.
func expectHits<Key>(_ keys: [Key], _ isHit: (Key) -> Bool) throws {
    var hits = 0
    for key in keys where isHit(key) { hits += 1 }
    try BenchmarkError.unless(hits == keys.count, "\(keys.count - hits) of \(keys.count) look-ups missed")
}

private func expectHits(_ keys: [String], times: Int, _ isHit: (String) -> Bool) throws {
    for _ in 0..<times { try expectHits(keys, isHit) }
}

/// The minimum of a memory store: no limits, no order, no expiry.
private final class LockedDictionary: Sendable {
    private let values: Mutex<[String: CostedValue]>

    init(filledWith images: [CostedValue]) {
        values = Mutex(Dictionary(uniqueKeysWithValues: images.map { ($0.key, $0) }))
    }

    func value(forKey key: String) -> CostedValue? { values.withLock { $0[key] } }
}

/// Work on threads of its own.
private enum Threads {
    /// The elapsed time until all of the work is done.
    static func seconds(_ work: [@Sendable () throws -> Void]) throws -> Double {
        let (ready, start, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
        let failures = Mutex<[any Error]>([])
        for work in work {
            done.enter()
            Thread {
                ready.signal()
                start.wait()
                do { try work() } catch { failures.withLock { $0.append(error) } }
                done.leave()
            }
            .start()
        }
        for _ in work { ready.wait() }
        let began = ContinuousClock.now
        for _ in work { start.signal() }
        done.wait()
        let passed = began.duration(to: .now)
        if let failure = failures.withLock({ $0.first }) { throw failure }
        return passed / .seconds(1)
    }
}

/// A value of some cost, like an image without its pixels.
private final class CostedValue: CacheCostCalculable, Sendable {
    let key: String
    let cacheCost: Int

    init(_ number: Int) {
        key = "https://images.example.com/albums/\(number / 100)/picture-\(number).jpg"
        // Thumbnails of all shapes: hardly any two cost the same.
        cacheCost = (100 + number &* 7919 % 211) * (100 + number &* 104_729 % 173) * 4
    }

    static func many(_ count: Int) -> [CostedValue] { (0..<count).map(CostedValue.init) }

    /// The same values, as long as 7,919 does not divide their number.
    static func manyInDisorder(_ count: Int) -> [CostedValue] { (0..<count).map { CostedValue($0 * 7_919 % count) } }
}

extension MemoryStorage.Backend where T == CostedValue {
    fileprivate static func filled(with images: [CostedValue]) -> MemoryStorage.Backend<CostedValue> {
        let store = MemoryStorage.Backend<CostedValue>(config: MemoryStorage.Config(totalCostLimit: 0))
        for image in images { store.store(value: image, forKey: image.key) }
        return store
    }
}
