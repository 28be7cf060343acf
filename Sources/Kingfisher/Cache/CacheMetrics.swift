// The numbers of a cache, reported to swift-metrics. Compiled with the package trait `Metrics` only.

#if Metrics
import KFSupport
public import Metrics

/// Reports the numbers of a cache, those of ``CacheStatistics``, to swift-metrics.
///
/// Every metric has the dimension `cache`, which is the name of the cache.
///
/// | name | kind | other dimensions |
/// |---|---|---|
/// | `kingfisher_cache_lookups` | counter | `layer`: `memory`, `disk`; `result`: `hit`, `miss` |
/// | `kingfisher_cache_stores` | counter | `layer` |
/// | `kingfisher_cache_evictions` | counter | `layer`; `reason`, see below |
/// | `kingfisher_cache_failures` | counter | |
/// | `kingfisher_cache_bytes_read`, `kingfisher_cache_bytes_written` | counter | |
/// | `kingfisher_cache_bytes` | gauge | `layer`; that of the disk once it is known |
/// | `kingfisher_cache_entries` | gauge | `layer`: `memory` |
/// | `kingfisher_cache_tier` | counter | `outcome`: the names of ``SharedTierStatistics/counts`` |
/// | `kingfisher_cache_duration` | timer | `phase`: `reading`, `decoding`, `encoding`, `writing` |
///
/// The reasons are `cost`, `count`, `expired`, `pressure`, `removed`, `corrupted` and `undecodable`.
///
/// Counters and gauges change when ``report()`` is called, timers whenever a piece of work is done. A cache should have
/// one reporter: a second one takes over the timers, and both report the counters.
public final class CacheMetrics: Sendable {
    private let cache: ImageCache
    private let factory: any MetricsFactory
    private let dimensions: [(String, String)]
    private let timers: [CacheRecorder.Step: Timer]
    /// The numbers that were reported last.
    private let reported = Locked<CacheStatistics?>(nil)
    private let reportedOutcomes = Locked<[String: Int]>([:])

    /// Begins to report the numbers of a cache, counted from its creation on.
    /// - Parameters:
    ///   - cache: The cache.
    ///   - factory: The backend's factory of metrics; by default the one that the program has set up.
    public init(_ cache: ImageCache, factory: any MetricsFactory = MetricsSystem.factory) {
        self.cache = cache
        self.factory = factory
        dimensions = [("cache", cache.diskStorage.config.name)]
        let timers = CacheRecorder.Step.allCases.map { [dimensions] step in
            let dimensions = dimensions + [("phase", "\(step)")]
            return (step, Timer(label: "kingfisher_cache_duration", dimensions: dimensions, factory: factory))
        }
        self.timers = Dictionary(uniqueKeysWithValues: timers)
        cache.core.recorder.observe { [weak self] step, duration in self?.timers[step]?.record(duration: duration) }
    }

    /// Reports at once, and again and again until the task is cancelled.
    /// - Parameters:
    ///   - interval: The time between two reports.
    ///   - clock: The clock that measures it.
    public func run(every interval: Duration = .seconds(10), clock: any Clock<Duration> = ContinuousClock()) async {
        repeat { report() } while (try? await clock.sleep(for: interval)) != nil
    }

    /// Reports the changes since the last report, and the size of the cache.
    ///
    /// Does not wait for anything.
    public func report() {
        let now = cache.statistics
        let previous = reported.withLock { reported -> CacheStatistics? in
            // Another thread may have reported later numbers already. After a reset, all numbers are new.
            let previous = reported?.since == now.since ? reported : nil
            if let previous, previous.taken > now.taken { return now }
            reported = now
            return previous ?? CacheStatistics(since: now.since, taken: now.since)
        }
        guard let previous else { return }
        for (label, value, dimensions) in Self.counts(now) {
            let before = Self.counts(previous).first { $0.label == label && $0.dimensions == dimensions }?.value ?? 0
            guard value > before else { continue }
            Counter(label: label, dimensions: all(dimensions), factory: factory).increment(by: value - before)
        }
        for (outcome, value) in cache.sharedTierStatistics?.counts ?? [] {
            let before = reportedOutcomes.withLock { outcomes in
                defer { outcomes[outcome] = value }
                return outcomes[outcome] ?? 0
            }
            guard value > before else { continue }
            Counter(label: "kingfisher_cache_tier", dimensions: all(["outcome": outcome]), factory: factory)
                .increment(by: value - before)
        }
        gauge("kingfisher_cache_bytes", ["layer": "memory"]).record(now.memory.bytes)
        gauge("kingfisher_cache_entries", ["layer": "memory"]).record(now.memory.entries)
        if let bytes = now.disk.bytes { gauge("kingfisher_cache_bytes", ["layer": "disk"]).record(bytes) }
    }

    private func gauge(_ label: String, _ more: [String: String]) -> Gauge {
        Gauge(label: label, dimensions: all(more), factory: factory)
    }

    private func all(_ more: [String: String]) -> [(String, String)] {
        dimensions + more.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private typealias Count = (label: String, value: Int, dimensions: [String: String])

    private static func counts(_ statistics: CacheStatistics) -> [Count] {
        let (memory, disk) = (statistics.memory, statistics.disk)
        let evictions = [
            ("memory", "cost", memory.evictedByCost), ("memory", "count", memory.evictedByCount),
            ("memory", "expired", memory.expired), ("memory", "pressure", memory.purged),
            ("memory", "removed", memory.removed),
            ("disk", "cost", disk.trimmed), ("disk", "expired", disk.expired), ("disk", "removed", disk.removed),
            ("disk", "corrupted", disk.corrupted), ("disk", "undecodable", disk.undecodable),
        ]
        return [
            ("kingfisher_cache_lookups", memory.hits, ["layer": "memory", "result": "hit"]),
            ("kingfisher_cache_lookups", memory.misses, ["layer": "memory", "result": "miss"]),
            ("kingfisher_cache_lookups", disk.hits, ["layer": "disk", "result": "hit"]),
            ("kingfisher_cache_lookups", disk.misses, ["layer": "disk", "result": "miss"]),
            ("kingfisher_cache_stores", memory.stores, ["layer": "memory"]),
            ("kingfisher_cache_stores", disk.stores, ["layer": "disk"]),
            ("kingfisher_cache_failures", disk.failures, [:]),
            ("kingfisher_cache_bytes_read", disk.bytesRead, [:]),
            ("kingfisher_cache_bytes_written", disk.bytesWritten, [:]),
        ] + evictions.map { ("kingfisher_cache_evictions", $0.2, ["layer": $0.0, "reason": $0.1]) }
    }
}
#endif
