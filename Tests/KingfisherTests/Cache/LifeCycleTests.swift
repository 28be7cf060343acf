// The life cycle of a cache: memory pressure, entering the background, termination.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct LifeCycleTests {
    private let image = SampleImage.gradient()
    private let clock = Box(Date())

    /// A cache whose disk storage reads the time from `clock`.
    private func withCache(_ body: (ImageCache) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: directory)
            let cache = ImageCache(
                memoryStorage: MemoryStorage.Backend(config: .init(totalCostLimit: 0)),
                diskStorage: DiskStorage.Backend(noThrowConfig: config, creatingDirectory: true) { [clock] in
                    clock.value
                }
            )
            try await body(cache)
        }
    }

    // MARK: Memory

    @Test("A memory warning halves what is in memory, and the cache may grow again") func memoryWarning() async throws {
        try await withCache { cache in
            for number in 0..<8 { cache.memoryStorage.store(value: image, forKey: "\(number)") }
            let full = cache.memoryStorageCacheCost
            cache.handleMemoryPressure(.none)
            #expect(cache.memoryStorageCacheCost == full)
            cache.handleMemoryPressure(.warning)
            #expect(cache.memoryStorageCacheCost == full / 2)
            cache.handleMemoryPressure(.warning)
            #expect(cache.memoryStorageCacheCost == full / 4, "A call always acts.")
            #expect(cache.memoryStorage.isCached(forKey: "7"), "What was used last stays.")
            for number in 0..<8 { cache.memoryStorage.store(value: image, forKey: "\(number)") }
            #expect(cache.memoryStorageCacheCost == full)
            #expect(cache.memoryStorage.config.totalCostLimit == 0)
            cache.resetStatistics()
            cache.handleMemoryPressure(.critical)
            #expect(cache.memoryStorageCacheCost == 0)
            #expect(cache.statistics.memory.purged == 8 && cache.statistics.memory.removed == 0)
            cache.handleMemoryPressure(.warning)
            #expect(cache.memoryStorageCacheCost == 0)
        }
    }

    @Test("Entering the background removes images from memory unless they were stored to be kept")
    func backgroundPurgesMemory() async throws {
        try await withCache { cache in
            cache.memoryStorage.store(value: image, forKey: "before")
            cache.memoryStorage.config.keepWhenEnteringBackground = true
            cache.memoryStorage.store(value: image, forKey: "kept")
            cache.memoryStorage.config.keepWhenEnteringBackground = false
            cache.memoryStorage.store(value: image, forKey: "after")
            cache.enteredBackground()
            #expect(
                ["before", "kept", "after"].map { cache.memoryStorage.isCached(forKey: $0) } == [false, true, false]
            )
        }
    }

    // MARK: Disk

    @Test("Entering the background cleans the disk and posts a notification")
    func backgroundCleansDisk() async throws {
        try await withCache { cache in
            try await cache.storeToDisk(Data("x".utf8), forKey: "old", expiration: .seconds(10))
            try await cache.storeToDisk(Data("x".utf8), forKey: "new")
            clock.value += 11
            let removed = await removedNames(of: cache) { cache.enteredBackground() }
            #expect(removed == [cache.hash(forKey: "old")])
            #expect(cache.diskStorage.isCached(forKey: "new"))
        }
    }

    /// The names in the first notification of a cache after `action`.
    private func removedNames(of cache: ImageCache, after action: () async throws -> Void) async rethrows -> [String] {
        let removed = Promise<[String]>()
        let observer = NotificationCenter.default.addObserver(
            forName: .KingfisherDidCleanDiskCache,
            object: cache,
            queue: nil
        ) { removed.fulfil($0.userInfo?[KingfisherDiskCacheCleanedHashKey] as? [String] ?? []) }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await action()
        return await removed.value
    }

    @Test("The disk is swept periodically")
    func periodicSweep() async throws {
        try await withCache { cache in
            let manual = ManualClock()
            let registry = CacheRegistry { _ in FakeWatch() }
            let life = CacheLifeCycle(
                registry: registry,
                janitor: CacheJanitor(interval: 100, clock: manual, chance: { 0 })
            )
            life.begin(cache)
            try await cache.storeToDisk(Data("x".utf8), forKey: "old", expiration: .seconds(10))
            clock.value += 11
            await manual.waitForSleepers()
            let removed = await removedNames(of: cache) { manual.advance(by: .seconds(5)) }
            #expect(removed == [cache.hash(forKey: "old")])
        }
    }

    @Test("The interval between sweeps is an hour by default and can be changed") func sweepInterval() async throws {
        try await withCache { cache in
            #expect(cache.diskCleanInterval == 3600)
            cache.diskCleanInterval = 0
            #expect(cache.diskCleanInterval == 0)
        }
    }

    @Test("Cleaning and termination return in every form, even when the disk does not work")
    func brokenDisk() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("file")
            try Data().write(to: file)
            let config = DiskStorage.Config(name: "test", sizeLimit: 1, directory: file)
            let cache = ImageCache(
                memoryStorage: MemoryStorage.Backend(config: .init(totalCostLimit: 0)),
                diskStorage: DiskStorage.Backend(noThrowConfig: config, creatingDirectory: true)
            )
            await cache.cleanExpiredDiskCache()
            await cache.cleanExpiredCache()
            let done = Promise<Void>()
            cache.cleanExpiredDiskCache { done.fulfil(()) }
            await done.value
            cache.store(image, forKey: "a") { _ in }
            #expect(await cache.willTerminate(within: 1e9))
        }
    }

    // MARK: Ending

    /// Starts a store that waits at a gate on its way to the disk.
    private func startStore(_ cache: ImageCache) async -> GatedWriter {
        let serializer = GatedWriter()
        cache.store(image, forKey: "a", cacheSerializer: serializer) { _ in }
        await serializer.isWriting.wait()
        return serializer
    }

    /// Calls the blocking form on a thread that may be blocked.
    private func terminate(_ cache: ImageCache, within seconds: TimeInterval) async -> Bool {
        await WorkExecutor("test", threads: 1).run { Self.blockingTerminate(cache, seconds) }
    }
    private static func blockingTerminate(_ cache: ImageCache, _ seconds: TimeInterval) -> Bool {
        cache.willTerminate(within: seconds)
    }

    @Test("Terminating waits for pending writes") func terminationWaits() async throws {
        try await withCache { cache in
            let writer = await startStore(cache)
            #expect(await !terminate(cache, within: 0), "There was no time to wait.")
            #expect(await !terminate(cache, within: -1))
            let waiting = Task.immediate { await terminate(cache, within: 1e6) }
            writer.mayGoOn.signal()
            #expect(await waiting.value)
            #expect(cache.diskStorage.isCached(forKey: "a"))
            #expect(await terminate(cache, within: 0), "There is nothing to wait for.")
        }
    }

    @Test("The async form waits no longer than its time limit") func terminationTimeout() async throws {
        try await withCache { cache in
            let manual = ManualClock()
            let writer = await startStore(cache)
            let flush = CacheFlush([cache])
            let waiting = Task.immediate { await flush.wait(atMost: 5, thenCleaning: true, clock: manual) }
            await manual.waitForSleepers()
            manual.advance(by: .seconds(5))
            #expect(await !waiting.value)
            writer.mayGoOn.signal()
            #expect(await cache.willTerminate(within: 1e9))
            #expect(cache.diskStorage.isCached(forKey: "a"))
        }
    }

    @Test("The remaining time is used for cleaning") func cleaningBeforeTermination() async throws {
        try await withCache { cache in
            for form in 0..<2 {
                try await cache.storeToDisk(Data("x".utf8), forKey: "old", expiration: .seconds(10))
                clock.value += 11
                let path = cache.cachePath(forKey: "old")
                #expect(FileManager.default.fileExists(atPath: path))
                let isDone = form == 0 ? await cache.willTerminate(within: 1e6) : await terminate(cache, within: 1e6)
                #expect(isDone && !FileManager.default.fileExists(atPath: path))
            }
        }
    }

    @Test("A process that exits waits for its caches if that is enabled") func flushOnExit() async throws {
        try await withCache { cache in
            let registry = CacheRegistry { _ in FakeWatch() }
            registry.timeLimit = 1e6
            let life = CacheLifeCycle(registry: registry, janitor: CacheJanitor(interval: 0))
            life.begin(cache)
            let executor = WorkExecutor("test", threads: 1)
            let writer = await startStore(cache)
            registry.flushesOnExit = false
            await executor.run { ExitFlush.run(registry) }
            #expect(!cache.diskStorage.isCached(forKey: "a"))

            registry.flushesOnExit = true
            let exiting = Task.immediate { await executor.run { ExitFlush.run(registry) } }
            writer.mayGoOn.signal()
            await exiting.value
            #expect(cache.diskStorage.isCached(forKey: "a"))
            #expect(CacheRegistry { _ in FakeWatch() }.flushesOnExit)
        }
    }
}

/// Signals when it is called for the bytes of an image, and returns them when the test lets it.
private struct GatedWriter: CacheSerializer {
    let isWriting = Gate()
    let mayGoOn = DispatchSemaphore(value: 0)

    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        isWriting.open()
        mayGoOn.wait()
        return Data("bytes".utf8)
    }
    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? { nil }
}
