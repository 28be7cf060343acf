// The numbers of a cache, reported to swift-metrics. Compiled with the package trait `Metrics` only; knows of no
// backend.

#if Metrics
import KFSupport
public import Metrics

/// Reports to swift-metrics what a cache does: the numbers of ``CacheStatistics``.
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
/// | `kingfisher_cache_duration` | timer | `phase`: `reading`, `decoding`, `encoding`, `writing` |
///
/// The reasons are `cost`, `count`, `expired`, `pressure`, `removed`, `corrupted` and `undecodable`.
///
/// Counters and gauges move when ``report()`` is called, timers whenever something has been done. A cache has one
/// reporter: with another one the timers go over to that, and what has happened is counted by both.
public final class CacheMetrics: Sendable {
    private let cache: ImageCache
    private let factory: any MetricsFactory
    private let dimensions: [(String, String)]
    private let timers: [CacheRecorder.Phase: Timer]
    /// What was reported last.
    private let reported = Locked<CacheStatistics?>(nil)

    /// Begins to report what a cache does, from its creation on.
    /// - Parameters:
    ///   - cache: The cache.
    ///   - factory: Where the metrics go; by default where the program has said.
    public init(_ cache: ImageCache, factory: any MetricsFactory = MetricsSystem.factory) {
        self.cache = cache
        self.factory = factory
        dimensions = [("cache", cache.diskStorage.config.name)]
        let timers = CacheRecorder.Phase.allCases.map { [dimensions] phase in
            let dimensions = dimensions + [("phase", "\(phase)")]
            return (phase, Timer(label: "kingfisher_cache_duration", dimensions: dimensions, factory: factory))
        }
        self.timers = Dictionary(uniqueKeysWithValues: timers)
        cache.core.recorder.observe { [weak self] phase, duration in self?.timers[phase]?.record(duration: duration) }
    }

    /// Reports at once, and again and again until the task is cancelled.
    /// - Parameters:
    ///   - interval: The time between two reports.
    ///   - clock: What measures it.
    public func run(every interval: Duration = .seconds(10), clock: any Clock<Duration> = ContinuousClock()) async {
        repeat { report() } while (try? await clock.sleep(for: interval)) != nil
    }

    /// Reports what has happened since the last report, and what the cache holds.
    ///
    /// Does not wait for anything.
    public func report() {
        let now = cache.statistics
        let previous = reported.withLock { reported -> CacheStatistics? in
            // Another thread may have reported later numbers meanwhile. After a reset, all of them are new.
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
