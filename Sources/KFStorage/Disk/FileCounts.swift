// The counts of a file store. For the statistics of caches.

/// Counts of the operations of a file store since it was made, at one instant.
package struct FileCounts: Sendable, Equatable {
    /// Reads that found an entry.
    package var hits = 0
    /// Reads that found none, or an expired one.
    package var misses = 0
    /// Entries written.
    package var stores = 0
    /// Entries removed because they had expired.
    package var expired = 0
    /// Entries removed to make room, and those not stored because they alone exceed the limit.
    package var trimmed = 0
    /// Entries removed because they were damaged.
    package var corrupted = 0
    /// Entries removed because the caller that read them could not use them, although they were what had been written.
    package var discarded = 0
    /// Entries removed because a caller removed them.
    package var removed = 0
    /// Bytes of the entries read.
    package var bytesRead = 0
    /// Bytes of the entries written.
    package var bytesWritten = 0
    /// Operations that failed.
    package var failures = 0

    /// No counts.
    package init() {}
}
