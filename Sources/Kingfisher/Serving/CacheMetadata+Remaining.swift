// What is left of the life of a source, for the response with what was made of it. For servers that send results.

public import Foundation

extension CacheMetadata {
    /// The field `Cache-Control` of a response with what was made of these bytes: it lives as long as they still do.
    ///
    /// What may not be stored, or not by caches that several clients share, says so. Other directives are not handed
    /// on: `stale-while-revalidate` is done by the manager.
    ///
    /// ```swift
    /// let allowed = image.cacheMetadata?.remainingCacheControl() ?? "max-age=3600"
    /// fields[.cacheControl] = image.isDamaged ? "no-store" : allowed
    /// ```
    ///
    /// - Parameters:
    ///   - instant: The time.
    ///   - limit: The most seconds.
    /// - Returns: `max-age=60, public`, or `private, max-age=60`, or `no-store`; nil if the server said nothing of it.
    public func remainingCacheControl(at instant: Date = Date(), atMost limit: TimeInterval = .infinity) -> String? {
        guard !forbidsStoring else { return "no-store" }
        let isPrivate = forbidsStoring(inShared: true)
        guard let end = freshUntil(inShared: !isPrivate) else { return isPrivate ? "private, max-age=0" : nil }
        let seconds = Int(max(0, min(end.timeIntervalSince(instant), limit, 1e9)))
        return isPrivate ? "private, max-age=\(seconds)" : "max-age=\(seconds), public"
    }
}
