// What the pipeline hands down with the options of a load, beside what its user chose. For managers, downloaders, caches.

/// Whom a load notifies, and whether its image is still wanted.
///
/// Part of the options, since subclasses of downloaders and caches hand these on.
struct LoadHooks: Sendable {
    /// The handle on the load, if it has one.
    var handle: DownloadTask?

    /// Called when the service of the load is known, before that begins; again for each further attempt.
    var served: (@Sendable (LoadService) -> Void)?

    /// Called with every piece of a download: bytes so far and bytes expected (−1 when unknown).
    ///
    /// Called in order, on a thread of the transport, never after the load has finished.
    var received: (@Sendable (_ received: Int64, _ expected: Int64) -> Void)?

    /// Called between the steps of a load, on any thread: whether the image is still wanted; nil means it is.
    ///
    /// An image that is not wanted any more never will be.
    var isWanted: (@Sendable () -> Bool)?

    /// Whether a view waits for the image: of such downloads the latest goes first.
    var isForView = false

    /// Whether a miss in memory counts: false where memory has been looked at before.
    var countsMemoryMiss = true

    /// What the response said about the bytes that are about to be stored; kept with their entry.
    var cacheMetadata: CacheMetadata?
}

/// What an image comes from that was in no cache.
enum LoadService: Sendable {
    /// A transfer, and the load's token in it.
    case transfer(SessionDataTask, SessionDataTask.CancelToken)
    /// A provider, or a downloader of the user's that has no transfer.
    case provider
}
