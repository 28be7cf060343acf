// Concurrent use of a cache, and of its settings, from many threads. `make tsan` runs it too, for a few minutes.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct StressTests {
    /// Threads of this test alone: they block for the cache, which must not hold up other tests.
    private static let threadCount = 8
    private static let executor = WorkExecutor("kf.stress", threads: threadCount)

    /// Calls per thread; `KF_STRESS` sets another number.
    private static var callsPerThread: Int {
        ProcessInfo.processInfo.environment["KF_STRESS"].flatMap { Int($0) } ?? 1_500
    }

    /// Counts how often each call of one thread completed.
    private final class Completions: Sendable {
        private struct State: Sendable {
            var counts: [UInt8]
            var open = 0
        }
        private let state: Locked<State>
        /// Limits the number of pending calls, which would fill memory otherwise.
        private let slots = DispatchSemaphore(value: 64)
        private let isOver = DispatchSemaphore(value: 0)

        init(calls: Int) { state = Locked(State(counts: [UInt8](repeating: 0, count: calls), open: calls)) }

        func begin() { slots.wait() }

        func complete(_ call: Int) {
            let isLast = state.withLock { state in
                state.counts[call] &+= 1
                if state.counts[call] == 1 { state.open -= 1 }
                return state.open == 0 && state.counts[call] == 1
            }
            slots.signal()
            if isLast { isOver.signal() }
        }

        func wait() { isOver.wait() }

        var isExactlyOnePerCall: Bool { state.withLock { $0.counts.allSatisfy { $0 == 1 } } }
    }

    @Test("Calls of mixed operations from eight threads each complete exactly once")
    func oneCompletionEach() async throws {
        try await withCache { cache in
            let bytes = try SampleImage.png(3, 3)
            let image = SampleImage.gradient(3, 3)
            let calls = Self.callsPerThread
            let all = (0..<Self.threadCount).map { _ in Completions(calls: calls) }
            await withTaskGroup { group in
                for (thread, completions) in all.enumerated() {
                    group.addTask(executorPreference: Self.executor) {
                        var random = SystemRandomNumberGenerator()
                        for call in 0..<calls {
                            completions.begin()
                            let key = "https://example.com/\(Int.random(in: 0..<48, using: &random))"
                            Self.call(cache, call &* 31 &+ thread, key, image, bytes) { completions.complete(call) }
                        }
                        completions.wait()
                    }
                }
            }
            // A second completion may come late: this operation follows all others, so it would end after it.
            await cache.cleanExpiredDiskCache()
            for completions in all { #expect(completions.isExactlyOnePerCall) }
        }
    }

    // One line per form.
    private static func call(
        _ cache: ImageCache,
        _ number: Int,
        _ key: String,
        _ image: Image,
        _ bytes: Data,
        _ done: @escaping @Sendable () -> Void
    ) {
        switch number % 101 {
        case 0..<30: cache.retrieveImage(forKey: key, callbackQueue: .untouch) { _ in done() }
        case 30..<50: cache.store(image, forKey: key, toDisk: false) { _ in done() }
        case 50..<55: cache.store(image, original: bytes, forKey: key) { _ in done() }
        case 55..<65: cache.storeToDisk(bytes, forKey: key) { _ in done() }
        case 65..<75: cache.imageCachedTypeAsync(forKey: key, callbackQueue: .untouch) { _ in done() }
        case 75..<83: cache.retrieveImageInDiskCache(forKey: key) { _ in done() }
        case 83..<93: cache.removeImage(forKey: key) { done() }
        case 93: cache.calculateDiskStorageSize { _ in done() }
        case 94: cache.cleanExpiredCache { done() }
        case 95:
            cache.memoryStorage.config.totalCostLimit = 36 * (8 + number % 64)
            done()
        case 96:
            cache.diskStorage.config.sizeLimit = UInt(bytes.count * (8 + number % 64))
            done()
        case 97: cache.clearDiskCache { done() }
        case 98:
            cache.clearMemoryCache()
            done()
        case 99: Task { await wait(cache, key, done) }
        default: cache.cleanExpiredDiskCache { done() }
        }
    }

    /// The async forms, one after the other.
    private static func wait(_ cache: ImageCache, _ key: String, _ done: @Sendable () -> Void) async {
        _ = try? await cache.retrieveImage(forKey: key)
        _ = await cache.imageCachedTypeAsync(forKey: key)
        _ = try? await cache.diskStorageSize
        try? await cache.removeImage(forKey: key)
        done()
    }

    @Test("Options and configurations may be changed while other threads read them")
    func changingSettings() async throws {
        try await Rig.run { rig in
            try await rig.cache.store(SampleImage.gradient(), forKey: "a", options: KingfisherParsedOptionsInfo([]))
            let (manager, cache) = (rig.manager, rig.cache)
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<4 {
                    group.addTask { @concurrent in
                        for round in 0..<200 {
                            manager.defaultOptions = [.scaleFactor(CGFloat(worker + 1))]
                            cache.memoryStorage.config.countLimit = 10 + round
                            #expect(manager.defaultOptions.count == 1)
                            #expect(cache.retrieveImageInMemoryCache(forKey: "a") != nil)
                        }
                    }
                }
            }
            #expect(cache.memoryStorage.config.countLimit == 209)
        }
    }
}
