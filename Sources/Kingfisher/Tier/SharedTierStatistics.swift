// What became of the calls to a shared tier. For ImageCache.sharedTierStatistics, logs and metrics.

/// The calls to the ``SharedTier`` of a cache, since it was set. (Not in Kingfisher.)
public struct SharedTierStatistics: Sendable, Equatable {
    /// Look-ups that found a value.
    public internal(set) var hits = 0
    /// Look-ups that found none.
    public internal(set) var misses = 0
    /// Look-ups that found a value which was damaged, of another layout or of another key; they count as misses for
    /// loads.
    public internal(set) var invalid = 0
    /// Calls of any kind that took too long.
    public internal(set) var timeouts = 0
    /// Calls of any kind that failed.
    public internal(set) var failures = 0
    /// Calls of any kind that were not made, because the tier had failed often.
    public internal(set) var skipped = 0
    /// Values that were stored.
    public internal(set) var stores = 0
    /// Values that were removed.
    public internal(set) var removals = 0
    /// Values that were not stored, because they are too large for the tier, or too many were waiting.
    public internal(set) var dropped = 0
    /// Leases that were taken: makings that no other machine did at that time.
    public internal(set) var leases = 0
    /// Loads that waited for the making of another machine.
    public internal(set) var waits = 0
    /// Leases that ended before the making did.
    public internal(set) var lostLeases = 0
    /// Whether the tier is used just now: not while it is left alone after failures.
    public internal(set) var isAvailable = true

    init() {}

    /// The counts by name, for metrics.
    public var counts: [(name: String, value: Int)] {
        [
            ("hit", hits), ("miss", misses), ("invalid", invalid), ("timeout", timeouts), ("failure", failures),
            ("skipped", skipped), ("store", stores), ("removal", removals), ("dropped", dropped), ("lease", leases),
            ("wait", waits), ("lost_lease", lostLeases),
        ]
    }
}

/// A change that is worth a line in a log: whether a tier is used. (Not in Kingfisher.)
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum SharedTierChange: Sendable {
    /// The tier failed five times in a row, the last time for this reason; it is tried again in some five seconds, and
    /// so on.
    case unavailable(tier: String, reason: String)
    /// The tier works again.
    case available(tier: String)
}
