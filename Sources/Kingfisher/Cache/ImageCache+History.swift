// What all processes have done with a cache's directory over its life. Knows nothing of where that is written down.

import Foundation
import KFStorage
import KFSupport

/// What has been done with the directory of a cache since it was made, by all processes that have used it. (Not in
/// Kingfisher.)
public struct CacheHistory: Sendable, Equatable {
    /// What happened in the memory of all processes; `entries` and `bytes` are not part of it.
    ///
    /// Processes enter this, and the seconds, now and then, and when they end in an orderly way; one that is killed takes
    /// its latest numbers with it.
    public let memory: CacheStatistics.Memory
    /// What happened on disk; `bytes` is not part of it.
    ///
    /// Entered at least once a second while something happens.
    public let disk: CacheStatistics.Disk
    /// The seconds that were spent.
    public let seconds: CacheStatistics.Seconds
}

extension ImageCache {
    /// What has been done with the cache's directory since it was made, by this process and all others. (Not in
    /// Kingfisher.)
    ///
    /// It lies beside the directory, on the disk of this machine; on network file systems, and where it may not be written,
    /// nothing is kept.
    ///
    /// - Returns: The history; nil if there is none.
    public func history() async -> CacheHistory? {
        recordHistory()
        return await WorkExecutor.io.run { [diskStorage] in
            diskStorage.files.lifetimeCounts().map { counts in
                CacheHistory(counts)
            }
        }
    }

    /// Enters in the history what has happened since the last time; makes no system call.
    func recordHistory() {
        diskStorage.files.recordAbove {
            let memory = memoryStorage.store.counts
            return recorder.unrecorded(CacheHistory.numbers(memory, recorder.total))
        }
    }
}

extension CacheHistory {
    /// The numbers as they are entered: new ones may only follow at the end.
    fileprivate static func numbers(_ memory: MemoryCounts, _ record: CacheRecorder.Record) -> [Int] {
        [
            memory.hits, memory.misses, memory.stores, memory.evictedByCost, memory.evictedByCount, memory.expired,
            memory.purged, memory.removed,
        ]
            + [.reading, .decoding, .encoding, .writing].map { phase in
                Int((record[phase] / .microseconds(1)).rounded())
            }
    }

    fileprivate init(_ counts: LifetimeCounts) {
        let number = counts.above
        var memory = CacheStatistics.Memory()
        (memory.hits, memory.misses, memory.stores) = (number[0], number[1], number[2])
        (memory.evictedByCost, memory.evictedByCount, memory.expired) = (number[3], number[4], number[5])
        (memory.purged, memory.removed) = (number[6], number[7])
        self.memory = memory
        disk = CacheStatistics.Disk(counts.files, since: FileCounts())
        func seconds(_ index: Int) -> TimeInterval { TimeInterval(number[index]) / 1e6 }
        self.seconds = CacheStatistics.Seconds(
            reading: seconds(8),
            decoding: seconds(9),
            encoding: seconds(10),
            writing: seconds(11)
        )
    }
}
