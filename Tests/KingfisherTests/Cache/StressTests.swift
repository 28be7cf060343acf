// Everything at once, from many threads. `make tsan` does as much of it as takes minutes.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct StressTests {
    /// Threads of the test's own: they wait for the cache, and others' tests must not wait for them.
    private static let threadCount = 8
    private static let executor = WorkExecutor("kf.stress", threads: threadCount)

    /// Calls a thread makes; `KF_STRESS` asks for more.
    private static var callsPerThread: Int {
        ProcessInfo.processInfo.environment["KF_STRESS"].flatMap { Int($0) } ?? 1_500
    }

    /// How often each call of one thread was answered.
    private final class Answers: Sendable {
        private struct State: Sendable {
            var counts: [UInt8]
            var open = 0
        }
        private let state: Locked<State>
        /// Not more calls than this are open at a time, or memory would fill with them.
        private let places = DispatchSemaphore(value: 64)
        private let isOver = DispatchSemaphore(value: 0)

        init(calls: Int) { state = Locked(State(counts: [UInt8](repeating: 0, count: calls), open: calls)) }

        func begin() { places.wait() }

        func answer(_ call: Int) {
            let isLast = state.withLock { state in
                state.counts[call] &+= 1
                if state.counts[call] == 1 { state.open -= 1 }
                return state.open == 0 && state.counts[call] == 1
            }
            places.signal()
            if isLast { isOver.signal() }
        }

        func wait() { isOver.wait() }

        var areExactlyOnePerCall: Bool { state.withLock { $0.counts.allSatisfy { $0 == 1 } } }
    }

    @Test("eight threads of mixed operations: every call is answered exactly once")
    func everyCallIsAnsweredOnce() async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "stress", cacheDirectoryURL: directory)
            let bytes = try Picture.png(3, 3)
            let image = Picture.gradient(3, 3)
            let calls = Self.callsPerThread
            let all = (0..<Self.threadCount).map { _ in Answers(calls: calls) }
            await withTaskGroup { group in
                for (thread, answers) in all.enumerated() {
                    group.addTask(executorPreference: Self.executor) {
                        var random = SystemRandomNumberGenerator()
                        for call in 0..<calls {
                            answers.begin()
                            let key = "https://example.com/\(Int.random(in: 0..<48, using: &random))"
                            Self.call(cache, call &* 31 &+ thread, key, image, bytes) { answers.answer(call) }
                        }
                        answers.wait()
                    }
                }
            }
            // An answer given twice may come late: what is behind everything comes after it.
            await cache.cleanExpiredDiskCache()
            for answers in all { #expect(answers.areExactlyOnePerCall) }
        }
    }

    // One line a form; the switch is the point.
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
}
