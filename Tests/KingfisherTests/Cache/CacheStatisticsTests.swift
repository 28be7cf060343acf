// The statistics of a cache: their counts, their consistency, and their description.

import Foundation
import KFStorage
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct CacheStatisticsTests {
    private let image = SampleImage.gradient()

    @Test("Every look-up counts as a hit or a miss of its layer") func hitsAndMisses() async throws {
        try await withCache { cache in
            let png = try SampleImage.png()
            _ = try await cache.retrieveImage(forKey: "a")
            try await cache.store(image, forKey: "a")
            _ = try await cache.retrieveImage(forKey: "a")
            cache.clearMemoryCache()
            _ = try await cache.retrieveImage(forKey: "a")
            _ = cache.isCached(forKey: "a")

            let statistics = cache.statistics
            #expect(statistics.memory.hits == 1 && statistics.memory.misses == 2)
            #expect(statistics.memory.lookups == 3)
            #expect(statistics.memory.stores == 2 && statistics.memory.removed == 1)
            #expect(statistics.memory.entries == 1 && statistics.memory.bytes == 64 * 64 * 4)
            #expect(statistics.disk.hits == 1 && statistics.disk.misses == 1)
            #expect(statistics.disk.stores == 1)
            #expect(statistics.disk.bytesWritten == png.count && statistics.disk.bytesRead == png.count)
            #expect(statistics.disk.hitRatio == 0.5)
            #expect(statistics.disk.failures == 0 && statistics.disk.corrupted == 0)
        }
    }

    @Test("The duration of each kind of work is added up") func durations() async throws {
        try await withCache { cache in
            #expect(cache.statistics.seconds == CacheStatistics.Seconds())
            try await cache.store(image, forKey: "a")
            let stored = cache.statistics
            #expect(stored.seconds.encoding > 0 && stored.seconds.writing > 0)
            #expect(stored.seconds.reading == 0 && stored.seconds.decoding == 0)
            cache.clearMemoryCache()
            for options in [KingfisherOptionsInfo(), [.loadDiskFileSynchronously]] {
                let before = cache.statistics.seconds
                cache.clearMemoryCache()
                _ = try await cache.retrieveImage(forKey: "a", options: options)
                let after = cache.statistics.seconds
                #expect(after.reading > before.reading && after.decoding > before.decoding)
                #expect(after.encoding == before.encoding && after.writing == before.writing)
            }
            #expect(stored.since <= stored.taken)
        }
    }

    @Test("An entry that is not an image counts as undecodable") func undecodableEntries() async throws {
        try await withCache { cache in
            try await cache.storeToDisk(Data("no image".utf8), forKey: "a")
            _ = try await cache.retrieveImage(forKey: "a")
            let disk = cache.statistics.disk
            #expect(disk.undecodable == 1 && disk.hits == 1)
            #expect(disk.corrupted == 0, "The bytes are those that were stored.")
            #expect(disk.evictions == 1)
            cache.resetStatistics()
            #expect(cache.statistics.disk.undecodable == 0 && cache.statistics.disk.corrupted == 0)
        }
    }

    /// Replaces bytes that are not an image while they are decoded.
    private struct ReplacingSerializer: CacheSerializer {
        let cache: ImageCache

        func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { nil }

        func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
            try? cache.diskStorage.store(value: Data("other".utf8), forKey: "a")
            return nil
        }
    }

    @Test("An undecodable entry is never counted as corrupted, not even for a moment")
    func undecodableEntry() async throws {
        try await withCache { cache in
            await cache.diskStorage.waitUntilIdle()
            try await damage("a", of: cache)
            #expect(try await cache.retrieveImage(forKey: "a").cacheType == .none)
            #expect(cache.statistics.disk.corrupted == 1 && cache.statistics.disk.undecodable == 0)
            try await cache.storeToDisk(Data("no image".utf8), forKey: "a")
            let options: KingfisherOptionsInfo = [.cacheSerializer(ReplacingSerializer(cache: cache))]
            #expect(try await cache.retrieveImage(forKey: "a", options: options).cacheType == .none)
            #expect(cache.statistics.disk.corrupted == 1)
            #expect(cache.statistics.disk.undecodable == 0, "It was replaced, not removed.")
            _ = try await cache.retrieveImage(forKey: "a")
            #expect(cache.statistics.disk.corrupted == 1 && cache.statistics.disk.undecodable == 1)
        }
    }

    /// Stores an image and truncates its file.
    private func damage(_ key: String, of cache: ImageCache) async throws {
        try await cache.store(image, forKey: key)
        cache.clearMemoryCache()
        let path = cache.cachePath(forKey: key)
        let times = try FileManager.default.attributesOfItem(atPath: path)
        let expiry = try #require(times[.modificationDate] as? Date)
        try #require(truncate(path, 100) == 0)
        try FileManager.default.setAttributes([.modificationDate: expiry], ofItemAtPath: path)
    }

    @Test(
        "A load counts one miss in memory, and one on disk for each look-up: the shared one and a synchronous one",
        arguments: [false, true]
    )
    func misses(synchronously: Bool) async throws {
        try await withCache { cache in
            let manager = KingfisherManager(downloader: ImageDownloader(name: "test"), cache: cache)
            let provider = RawImageDataProvider(data: try SampleImage.png(), cacheKey: "raw")
            let options: KingfisherOptionsInfo = synchronously ? [.loadDiskFileSynchronously] : []
            _ = try await manager.retrieveImage(with: .provider(provider), options: options)
            #expect(cache.statistics.memory.misses == 1 && cache.statistics.memory.hits == 0)
            #expect(cache.statistics.disk.misses == (synchronously ? 2 : 1) && cache.statistics.disk.hits == 0)
        }
    }

    @Test("A load whose synchronous look-up came before a pending store finds its entry afterwards")
    func earlySynchronousLookUp() async throws {
        try await withCache { cache in
            let manager = KingfisherManager(downloader: ImageDownloader(name: "test"), cache: cache)
            let provider = RawImageDataProvider(data: try SampleImage.png(tint: 0), cacheKey: "a")
            // The store waits behind a slow operation.
            let (ticket, mayEnd) = (cache.operations.ticket(forKey: "a"), Promise<Void>())
            let slow = Task { await ticket.run { await mayEnd.value } }
            cache.storeToDisk(try SampleImage.png(), forKey: "a", completionHandler: nil)
            let loading = Task.immediate {
                try await manager.retrieveImage(with: .provider(provider), options: [.loadDiskFileSynchronously])
            }
            #expect(cache.statistics.disk.misses == 1)
            mayEnd.fulfil(())
            await slow.value
            #expect(try await loading.value.cacheType == .disk)
        }
    }

    /// Stores bytes on disk right after a look-up there.
    private final class LateCache: ImageCache, @unchecked Sendable {
        let bytes = Box<Data?>(nil)

        override func retrieveImage(
            forKey key: String,
            options: KingfisherParsedOptionsInfo,
            callbackQueue: CallbackQueue = .mainCurrentOrAsync,
            completionHandler: (@Sendable (Result<ImageCacheResult, KingfisherError>) -> Void)?
        ) {
            super.retrieveImage(
                forKey: key,
                options: options,
                callbackQueue: callbackQueue,
                completionHandler: completionHandler
            )
            guard let late = bytes.value else { return }
            bytes.value = nil
            storeToDisk(late, forKey: key) { _ in }
        }
    }

    @Test("An entry that is stored between a load's synchronous look-up and its next step is found")
    func storeAfterLookUp() async throws {
        try await withTemporaryDirectory { directory in
            let cache = LateCache(
                memoryStorage: MemoryStorage.Backend(config: .init(totalCostLimit: 0)),
                diskStorage: try DiskStorage.Backend(config: .init(name: "test", sizeLimit: 0, directory: directory))
            )
            let manager = KingfisherManager(downloader: ImageDownloader(name: "test"), cache: cache)
            let source = Source.provider(RawImageDataProvider(data: try SampleImage.png(tint: 0), cacheKey: "a"))
            cache.bytes.value = try SampleImage.png()
            let options: KingfisherOptionsInfo = [.loadDiskFileSynchronously]
            #expect(try await manager.retrieveImage(with: source, options: options).cacheType == .disk)
            #expect(cache.statistics.disk.hits == 1 && cache.statistics.disk.misses == 1)
        }
    }

    @Test("Evictions are counted by their reason") func evictionReasons() async throws {
        try await withCache { cache in
            cache.memoryStorage.config.countLimit = 1
            for key in ["a", "b"] { try await cache.store(image, forKey: key, toDisk: false) }
            cache.memoryStorage.config.countLimit = 0
            cache.memoryStorage.config.totalCostLimit = image.cacheCost
            try await cache.store(image, forKey: "c", toDisk: false)
            try await cache.removeImage(forKey: "c")
            let memory = cache.statistics.memory
            #expect(memory.evictedByCount == 1 && memory.evictedByCost == 1 && memory.removed == 1)
            #expect(memory.evictions == 2 && memory.entries == 0)
        }
    }

    @Test("Corrupted entries are counted") func corruptedEntries() async throws {
        try await withCache { cache in
            try await damage("a", of: cache)
            #expect(try await cache.retrieveImage(forKey: "a").cacheType == .none)
            let disk = cache.statistics.disk
            #expect(disk.corrupted == 1 && disk.hits == 0 && disk.misses == 1)
        }
    }

    @Test("A reset sets the counts to zero and keeps the sizes") func reset() async throws {
        try await withCache { cache in
            try await cache.store(image, forKey: "a")
            _ = try await cache.retrieveImage(forKey: "a")
            let before = cache.statistics
            cache.resetStatistics()
            let after = cache.statistics
            #expect(after.memory.lookups == 0 && after.memory.stores == 0 && after.disk.stores == 0)
            #expect(after.seconds == CacheStatistics.Seconds() && after.since >= before.taken)
            #expect(after.memory.entries == 1 && after.memory.bytes == before.memory.bytes)
            _ = try await cache.retrieveImage(forKey: "a")
            #expect(cache.statistics.memory.hits == 1)
        }
    }

    @Test("A snapshot is consistent: look-ups equal hits plus misses, also during concurrent look-ups")
    func snapshotConsistency() async throws {
        try await withCache { cache in
            for key in 0..<8 { try await cache.store(image, forKey: "\(key)", toDisk: key % 2 == 0) }
            let rounds = 500
            let counting = Task { @concurrent in
                var last = cache.statistics
                while !Task.isCancelled {
                    let next = cache.statistics
                    #expect(next.memory.hits >= last.memory.hits && next.memory.misses >= last.memory.misses)
                    #expect(next.memory.lookups <= 4 * rounds)
                    // Every look-up on disk follows a miss in memory.
                    #expect(next.disk.lookups <= next.memory.misses)
                    last = next
                    await Task.yield()
                }
            }
            await withTaskGroup(of: Void.self) { group in
                for thread in 0..<4 {
                    group.addTask { @concurrent in
                        for round in 0..<rounds {
                            let key = "\((round &* 7 &+ thread) % 16)"
                            _ = try? await cache.retrieveImage(forKey: key)
                            if round % 50 == 0 { cache.clearMemoryCache() }
                        }
                    }
                }
            }
            counting.cancel()
            await counting.value
            let statistics = cache.statistics
            #expect(statistics.memory.lookups == 4 * rounds)
            // Several concurrent misses of one key share one look-up on disk.
            #expect(statistics.disk.lookups <= statistics.memory.misses)
            // An image that was read while memory was cleared is not promoted.
            #expect((8...8 + statistics.disk.hits).contains(statistics.memory.stores))
        }
    }

    @Test("The description lists all counts in a few lines") func statisticsDescription() {
        var statistics = CacheStatistics(since: Date(timeIntervalSince1970: 0), taken: Date(timeIntervalSince1970: 90))
        statistics.memory.hits = 3
        statistics.memory.misses = 1
        statistics.memory.entries = 2
        statistics.memory.bytes = 2_500_000
        statistics.disk.misses = 1
        statistics.seconds.reading = 0.0042
        #expect(
            statistics.description == """
                memory: 3 of 4 look-ups (75 %), 0 stored; 2 there, 2.5 MB
                memory lost: 0 by size, 0 by count, 0 expired, 0 under pressure, 0 removed
                disk: 0 of 1 look-ups (0 %), 0 stored; size not known yet
                disk lost: 0 by size, 0 expired, 0 corrupted, 0 undecodable, 0 removed; 0 failures
                moved: 0 bytes read, 0 bytes written
                spent: 4.2 ms reading, 0.0 ms decoding, 0.0 ms encoding, 0.0 ms writing
                counted for 90.0 s
                """
        )
    }
}
