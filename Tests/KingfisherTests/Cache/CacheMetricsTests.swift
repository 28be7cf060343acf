// The metrics of a cache that are reported to swift-metrics. Compiled only with the package trait `Metrics`.

#if Metrics
import Foundation
import KFSupport
import KingfisherTestSupport
import Metrics
import MetricsTestKit
import Testing

@testable import Kingfisher

@Suite struct CacheMetricsTests {
    private let image = SampleImage.gradient()

    @Test("Counters increase by the number of events since the last report") func counterIncrements() async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "photos", cacheDirectoryURL: directory)
            let backend = TestMetrics()
            let metrics = CacheMetrics(cache, factory: backend)
            let hits = [("cache", "photos"), ("layer", "memory"), ("result", "hit")]
            try await cache.store(image, forKey: "a")
            for expected in 1...2 {
                _ = try await cache.retrieveImage(forKey: "a")
                metrics.report()
                #expect(backend.counterTotal(label: "kingfisher_cache_lookups", dimensions: hits) == Int64(expected))
            }
            metrics.report()
            cache.resetStatistics()
            _ = try await cache.retrieveImage(forKey: "a")
            metrics.report()
            #expect(backend.counterTotal(label: "kingfisher_cache_lookups", dimensions: hits) == 3)
            #expect(backend.counterTotal(label: "kingfisher_cache_bytes_written") == Int64(try SampleImage.png().count))
        }
    }

    @Test("Gauges report the current contents, timers the time of the work done") func gaugesAndTimers() async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "photos", cacheDirectoryURL: directory)
            let backend = TestMetrics()
            let metrics = CacheMetrics(cache, factory: backend)
            try await cache.store(image, forKey: "a")
            metrics.report()
            let memory = [("cache", "photos"), ("layer", "memory")]
            let bytes = try backend.expectRecorder("kingfisher_cache_bytes", memory)
            #expect(bytes.lastValue == Double(image.cacheCost))
            #expect(try backend.expectRecorder("kingfisher_cache_entries", memory).lastValue == 1)
            for (phase, count) in [("encoding", 1), ("writing", 1), ("reading", 0), ("decoding", 0)] {
                let dimensions = [("cache", "photos"), ("phase", phase)]
                let timer = try backend.expectTimer("kingfisher_cache_duration", dimensions)
                #expect(timer.values.count == count && timer.values.allSatisfy { $0 > 0 })
            }
        }
    }

    @Test("Reports repeat until the task is cancelled") func repeatedReports() async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "photos", cacheDirectoryURL: directory)
            let (backend, clock) = (TestMetrics(), ManualClock())
            let metrics = CacheMetrics(cache, factory: backend)
            let running = Task { await metrics.run(every: .seconds(10), clock: clock) }
            await clock.waitForSleepers()
            clock.advance(by: .seconds(10))
            await clock.waitForSleepers()
            running.cancel()
            await running.value
            let memory = [("cache", "photos"), ("layer", "memory")]
            let entries = backend.recorders(label: "kingfisher_cache_entries", dimensions: memory)
            #expect(entries.map(\.values.count).reduce(0, +) == 2)
        }
    }
}
#endif
