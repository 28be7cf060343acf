// What a file store has done, in numbers. Knows nothing of how it is done.

/// What has happened in a file store since it was made; taken at one instant.
package struct FileCounts: Sendable, Equatable {
    /// Readings that found an entry.
    package var hits = 0
    /// Readings that found none, expired ones included.
    package var misses = 0
    /// Entries written.
    package var stores = 0
    /// Entries removed because they had expired.
    package var expired = 0
    /// Entries removed because there was no room, and those kept out because they alone exceed the limit.
    package var trimmed = 0
    /// Entries removed because they were damaged.
    package var corrupted = 0
    /// Entries removed because they were no good to the caller who read them, although they were what had been written.
    package var discarded = 0
    /// Entries removed because that was asked for.
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
