// The statistics of a cache, as values. They are collected in ImageCache+Statistics.swift.

public import Foundation
import KFStorage

/// The operations of a cache since it was created, or since ``ImageCache/resetStatistics()``, and its size.
///
/// Probes, such as ``ImageCache/isCached(forKey:processorIdentifier:forcedExtension:)``, are not look-ups and are not
/// counted.
public struct CacheStatistics: Sendable, Equatable {
    /// The memory part.
    public struct Memory: Sendable, Equatable {
        /// Look-ups that found an image.
        public internal(set) var hits = 0
        /// Look-ups that found none, or one that had expired.
        public internal(set) var misses = 0
        /// Images that were stored; those promoted from disk are among them.
        public internal(set) var stores = 0
        /// Images that were removed because all together would have taken too many bytes.
        public internal(set) var evictedByCost = 0
        /// Images that were removed because there would have been too many.
        public internal(set) var evictedByCount = 0
        /// Images that were removed because they had expired.
        public internal(set) var expired = 0
        /// Images that were removed because memory was short, or the program went to the background.
        public internal(set) var purged = 0
        /// Images that were removed by a call, one by one or all at once.
        public internal(set) var removed = 0
        /// The number of images in memory, including those that have expired and are not removed yet.
        public internal(set) var entries = 0
        /// The bytes those images take.
        public internal(set) var bytes = 0

        /// The number of look-ups: hits and misses.
        public var lookups: Int { hits + misses }
        /// Images that were removed without a call of `remove`.
        public var evictions: Int { evictedByCost + evictedByCount + expired + purged }
        /// The share of the look-ups that found something, from 0 to 1; nil if there were none.
        public var hitRatio: Double? { lookups == 0 ? nil : Double(hits) / Double(lookups) }
    }

    /// The disk part.
    public struct Disk: Sendable, Equatable {
        /// Look-ups that found an entry and read all of it.
        public internal(set) var hits = 0
        /// Look-ups that found none, or one that had expired or was corrupted; an entry that cannot be read is a
        /// failure.
        public internal(set) var misses = 0
        /// Entries that were written.
        public internal(set) var stores = 0
        /// Entries that were removed because they had expired.
        public internal(set) var expired = 0
        /// Entries that were removed because all together took too many bytes.
        public internal(set) var trimmed = 0
        /// Entries that were removed because they differed from the bytes written: incomplete or damaged ones.
        public internal(set) var corrupted = 0
        /// Entries that were removed because they were intact, but the serializer could not decode them; reading one is
        /// a hit.
        public internal(set) var undecodable = 0
        /// Entries that were removed by a call, one by one or all at once.
        public internal(set) var removed = 0
        /// Operations the file system refused.
        public internal(set) var failures = 0
        /// The bytes of all entries that were read.
        public internal(set) var bytesRead = 0
        /// The bytes of all entries that were written.
        public internal(set) var bytesWritten = 0
        /// The bytes of all files, as far as this process knows; nil until they have been counted after the start.
        ///
        /// Changes by other processes are seen when files are counted anew: when entries are evicted, when a sweep
        /// removes expired files, and when the size is requested.
        public internal(set) var bytes: Int?

        /// The number of look-ups: hits and misses.
        public var lookups: Int { hits + misses }
        /// Entries that were removed without a call of `remove`.
        public var evictions: Int { expired + trimmed + corrupted + undecodable }
        /// The share of the look-ups that found something, from 0 to 1; nil if there were none.
        public var hitRatio: Double? { lookups == 0 ? nil : Double(hits) / Double(lookups) }
    }

    /// The seconds that were spent; simultaneous work is added up, and waiting for other operations is not counted.
    public struct Seconds: Sendable, Equatable {
        /// Looking for entries on disk and reading them.
        public internal(set) var reading: TimeInterval = 0
        /// Making images from the bytes read.
        public internal(set) var decoding: TimeInterval = 0
        /// Making bytes from images.
        public internal(set) var encoding: TimeInterval = 0
        /// Writing those bytes to disk.
        public internal(set) var writing: TimeInterval = 0
    }

    /// The memory part.
    public internal(set) var memory = Memory()
    /// The disk part.
    public internal(set) var disk = Disk()
    /// The seconds that were spent.
    public internal(set) var seconds = Seconds()
    /// When counting began.
    public internal(set) var since: Date
    /// When the numbers were taken.
    public internal(set) var taken: Date
}

// MARK: - In words

extension CacheStatistics: CustomStringConvertible {
    /// The numbers in a few lines, to be read by people.
    public var description: String {
        let (m, d, s) = (memory, disk, seconds)
        return """
            memory: \(Self.lookups(m.hits, m.lookups, m.hitRatio)), \(m.stores) stored; \
            \(m.entries) there, \(Self.size(m.bytes))
            memory lost: \(m.evictedByCost) by size, \(m.evictedByCount) by count, \(m.expired) expired, \
            \(m.purged) under pressure, \(m.removed) removed
            disk: \(Self.lookups(d.hits, d.lookups, d.hitRatio)), \
            \(d.stores) stored; \(d.bytes.map(Self.size) ?? "size not known yet")
            disk lost: \(d.trimmed) by size, \(d.expired) expired, \(d.corrupted) corrupted, \
            \(d.undecodable) undecodable, \(d.removed) removed; \(d.failures) failures
            moved: \(Self.size(d.bytesRead)) read, \(Self.size(d.bytesWritten)) written
            spent: \(Self.time(s.reading)) reading, \(Self.time(s.decoding)) decoding, \
            \(Self.time(s.encoding)) encoding, \(Self.time(s.writing)) writing
            counted for \(Self.time(taken.timeIntervalSince(since)))
            """
    }

    private static func lookups(_ hits: Int, _ lookups: Int, _ ratio: Double?) -> String {
        let share = ratio.map { " (\(Int(($0 * 100).rounded())) %)" } ?? ""
        return "\(hits) of \(lookups) look-ups\(share)"
    }

    private static func size(_ bytes: Int) -> String {
        let units = ["bytes", "KB", "MB", "GB", "TB"]
        var (value, unit) = (Double(bytes), 0)
        while value >= 1_000, unit < units.count - 1 { (value, unit) = (value / 1_000, unit + 1) }
        return unit == 0 ? "\(bytes) bytes" : "\(rounded(value)) \(units[unit])"
    }

    private static func time(_ seconds: TimeInterval) -> String {
        seconds >= 1 ? "\(rounded(seconds)) s" : "\(rounded(seconds * 1_000)) ms"
    }

    private static func rounded(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
