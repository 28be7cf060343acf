// The memory store under many threads, and with values that call it.

import Foundation
import KFStorage
import KFSupport
import KingfisherTestSupport
import Testing

@Suite struct MemoryConcurrencyTests {
    @Test("Eight threads may do everything at once; limits hold and counts add up")
    func eightThreads() async {
        let store = MemoryStore<Int>(configuration: .init(costLimit: 300, countLimit: 50))
        let lookups = Locked(0)
        await onThreads(8) { thread in
            var random = SeededGenerator(state: UInt64(thread))
            var looked = 0
            for step in 0..<12_500 {
                let key = "\(random.next() % 100)"
                switch random.next() % 1_000 {
                case 0..<300: store.store(step, forKey: key, cost: step % 20)
                case 300..<400: store.remove(forKey: key)
                case 400..<405: store.removeExpired()
                case 405..<410: store.configure { $0.expiration = .seconds(Double(step % 3)) }
                case 410..<415: store.configure { $0.countLimit = 20 + step % 30 }
                case 415..<420: store.shrink(toCost: step % 300)
                case 420..<422: store.purge()
                case 422..<424: store.removeAll()
                case 424..<430:
                    let counts = store.counts
                    if counts.stores - counts.gone != counts.entries || counts.cost > 300 {
                        Issue.record("\(counts)")
                    }
                default:
                    looked += 1
                    _ = store.value(forKey: key, extending: step % 2 == 0 ? .none : .expirationTime(.seconds(1)))
                }
            }
            lookups.withLock { $0 += looked }
        }
        let counts = store.counts
        #expect(counts.entries <= store.configuration.countLimit)
        #expect(counts.cost <= 300)
        #expect(counts.hits + counts.misses == lookups.withLock { $0 })
        #expect(counts.stores - counts.gone == counts.entries)
        #expect(counts.hits > 0)
    }

    @Test("A read while a value is replaced finds the old one or the new one")
    func replacingLeavesNoGap() async {
        let store = MemoryStore<Int>(configuration: .init(countLimit: 10))
        store.store(0, forKey: "a", cost: 1)
        let misses = Locked(0)
        let isDone = Locked(false)
        await onThreads(3) { thread in
            if thread == 0 {
                for step in 0..<20_000 { store.store(step, forKey: "a", cost: 1) }
                isDone.withLock { $0 = true }
            } else {
                while !isDone.withLock({ $0 }) {
                    if store.value(forKey: "a") == nil { misses.withLock { $0 += 1 } }
                }
            }
        }
        #expect(misses.withLock { $0 } == 0)
    }

    @Test("Values may call the store in their deinitialisers, however they are removed")
    func valuesCallBackOnDeinit() {
        final class Caller: Sendable {
            let store: MemoryStore<Caller>
            let onEnd: @Sendable () -> Void
            init(_ store: MemoryStore<Caller>, onEnd: @escaping @Sendable () -> Void) {
                self.store = store
                self.onEnd = onEnd
            }
            deinit {
                store.remove(forKey: "other")
                _ = store.value(forKey: "a")
                _ = store.counts
                onEnd()
            }
        }
        let clock = TestClock()
        let store = MemoryStore<Caller>(configuration: .init(costLimit: 2), clock: clock.read)
        let gone = Locked(0)
        func put(_ key: String, _ expiration: StorageExpiration? = nil) {
            let caller = Caller(store) { gone.withLock { $0 += 1 } }
            store.store(caller, forKey: key, cost: 1, expiration: expiration)
        }
        put("a")
        put("a")  // replaced
        #expect(gone.withLock { $0 } == 1)
        put("b")
        put("c")  // evicted
        #expect(gone.withLock { $0 } == 2)
        store.configure { $0.countLimit = 1 }
        #expect(gone.withLock { $0 } == 3)
        store.shrink(toCost: 0)
        put("a", .seconds(1))
        clock.advance(1)
        store.removeExpired()
        put("a")
        store.purge()
        put("a")
        store.remove(forKey: "a")
        put("a")
        store.removeAll()
        put("a", .expired)
        #expect(gone.withLock { $0 } == 9)
        #expect(store.count == 0)
    }
}

/// Runs `body` on threads of its own, with their numbers, and returns when all are done.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
    let running = Locked(count)
    await withCheckedContinuation { continuation in
        for number in 0..<count {
            Thread {
                body(number)
                let isLast = running.withLock { running in
                    running -= 1
                    return running == 0
                }
                if isLast { continuation.resume() }
            }
            .start()
        }
    }
}
