// Completions of a cache: every call completes exactly once, however many are made concurrently.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct CompletionCountTests {
    /// Counts how often each call completed.
    private final class Completions: Sendable {
        private let state: Locked<[UInt8]>
        private let all = Promise<Void>()
        private let left: Locked<Int>

        init(_ count: Int) {
            state = Locked([UInt8](repeating: 0, count: count))
            left = Locked(count)
        }

        func note(_ call: Int) {
            state.withLock { $0[call] += 1 }
            let isLast = left.withLock { left in
                left -= 1
                return left == 0
            }
            if isLast { all.fulfil(()) }
        }

        /// The calls that did not complete exactly once.
        func miscounted() async -> [Int] {
            await all.value
            return state.withLock { completions in completions.indices.filter { completions[$0] != 1 } }
        }
    }

    private static let threads = 8
    private static let rounds = 500

    /// Makes a call of the kind `index`.
    private static func call(_ index: Int, _ cache: ImageCache, _ key: String, _ done: @escaping @Sendable () -> Void) {
        var options = KingfisherParsedOptionsInfo([.callbackQueue(.untouch)])
        switch index {
        case 0: cache.store(image, forKey: key, options: options) { _ in done() }
        case 1: cache.store(image, forKey: key, toDisk: false) { _ in done() }
        case 2: cache.storeToDisk(bytes, forKey: key) { _ in done() }
        case 3: cache.storeToDisk(Data("no image".utf8), forKey: key) { _ in done() }
        case 4: cache.removeImage(forKey: key) { done() }
        case 5: cache.removeImage(forKey: key, fromDisk: false) { done() }
        case 6: cache.retrieveImage(forKey: key, callbackQueue: .untouch) { _ in done() }
        case 7: cache.retrieveImageInDiskCache(forKey: key) { _ in done() }
        case 8:
            options.load.observer = TestObserver(isWanted: { false })
            cache.retrieveImage(forKey: key, options: options, callbackQueue: .untouch) { _ in done() }
        case 9:
            options.loadDiskFileSynchronously = true
            cache.retrieveImage(forKey: key, options: options, callbackQueue: .untouch) { _ in done() }
        case 10: cache.imageCachedTypeAsync(forKey: key, callbackQueue: .untouch) { _ in done() }
        case 11: cache.calculateDiskStorageSize { _ in done() }
        case 12: cache.cleanExpiredDiskCache { done() }
        case 13: cache.clearCache { done() }
        case 14: cache.storeToDisk(bytes, forKey: key, expiration: .expired) { _ in done() }
        default: cache.retrieveImage(forKey: key, callbackQueue: .dispatch(.global())) { _ in done() }
        }
    }
    private static let image = SampleImage.gradient(8, 8)
    private static let bytes = SampleImage.gradient(8, 8).pngData() ?? Data()

    @Test("Each of 4,000 calls of 16 kinds from 8 threads completes exactly once")
    func oneCompletionEach() async throws {
        try await withCache { cache in
            let completions = Completions(Self.threads * Self.rounds)
            for thread in 0..<Self.threads {
                Thread.detachNewThread {
                    var random = UInt64(thread + 1)
                    for round in 0..<Self.rounds {
                        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                        let number = thread * Self.rounds + round
                        // Calls that concern all keys are rarer than the others.
                        let kind = Int(random >> 33) % (round % 16 == 0 ? 16 : 11)
                        Self.call(kind, cache, "key \(random >> 40 & 7)") { completions.note(number) }
                    }
                }
            }
            #expect(await completions.miscounted() == [])
            // An image that is stored afterwards is found.
            await cache.clearCache()
            try await cache.store(Self.image, forKey: "last")
            #expect(try await cache.retrieveImage(forKey: "last").image === Self.image)
            #expect(await completions.miscounted() == [], "some completed again")
        }
    }

    @Test("Each call completes exactly once when the disk fails")
    func oneCompletionOnFailure() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("file")
            try Data().write(to: file)
            let cache = ImageCache(name: "test", directory: file)
            let completions = Completions(16 * 16)
            for number in 0..<256 { Self.call(number % 16, cache, "a") { completions.note(number) } }
            #expect(await completions.miscounted() == [])
        }
    }
}
