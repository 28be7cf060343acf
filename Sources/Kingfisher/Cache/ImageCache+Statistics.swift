// How a cache's statistics are put together: from the storages, which count in their own locks, and from the recorder.

import Foundation
import KFStorage
import KFSupport

extension ImageCache {
    /// The operations of the cache so far, and its size. (Not in Kingfisher.)
    ///
    /// The numbers of each part are those of one instant: at any time, look-ups are the sum of hits and misses. The
    /// disk part is taken first, so that an operation counted there is never missing in the memory part. Does not wait
    /// for anything.
    public var statistics: CacheStatistics {
        // The baseline is read before the counts: so no count is below it, even if another thread resets in between.
        let record = core.recorder.record
        let files = diskStorage.files.counts
        let memory = memoryStorage.store.counts
        let baseline = record.baseline

        var statistics = CacheStatistics(since: baseline.since, taken: Date())
        statistics.memory = CacheStatistics.Memory(memory, since: baseline.memory)
        statistics.disk = CacheStatistics.Disk(files, since: baseline.files)
        statistics.disk.bytes = diskStorage.files.knownSize
        statistics.seconds = CacheStatistics.Seconds(
            reading: record[.reading].inSeconds,
            decoding: record[.decoding].inSeconds,
            encoding: record[.encoding].inSeconds,
            writing: record[.writing].inSeconds
        )
        return statistics
    }

    /// Begins counting anew; the content of the cache does not change. (Not in Kingfisher.)
    public func resetStatistics() {
        let (files, memory) = (diskStorage.files.counts, memoryStorage.store.counts)
        core.recorder.reset(to: CacheRecorder.Baseline(since: Date(), memory: memory, files: files))
    }
}

extension CacheStatistics.Memory {
    /// The counts since `start`.
    init(_ counts: MemoryCounts, since start: MemoryCounts) {
        hits = counts.hits - start.hits
        misses = counts.misses - start.misses
        stores = counts.stores - start.stores
        evictedByCost = counts.evictedByCost - start.evictedByCost
        evictedByCount = counts.evictedByCount - start.evictedByCount
        expired = counts.expired - start.expired
        purged = counts.purged - start.purged
        removed = counts.removed - start.removed
        entries = counts.entries
        bytes = counts.cost
    }
}

extension CacheStatistics.Disk {
    /// The counts since `start`.
    init(_ counts: FileCounts, since start: FileCounts) {
        hits = counts.hits - start.hits
        misses = counts.misses - start.misses
        stores = counts.stores - start.stores
        expired = counts.expired - start.expired
        trimmed = counts.trimmed - start.trimmed
        corrupted = counts.corrupted - start.corrupted
        undecodable = counts.discarded - start.discarded
        removed = counts.removed - start.removed
        failures = counts.failures - start.failures
        bytesRead = counts.bytesRead - start.bytesRead
        bytesWritten = counts.bytesWritten - start.bytesWritten
    }
}
