// The pipeline's own part of a load's options, beside what the user chose. Read by managers, downloaders and caches.

import Foundation

/// The callbacks of a load, and whether it has been superseded.
///
/// They are part of the options, since subclasses of downloaders and caches hand these on.
struct LoadHooks: Sendable {
    /// The handle on the load, if it has one.
    var handle: DownloadTask?

    /// Called when the service of the load is known, before it begins; called again for each further attempt.
    var served: (@Sendable (LoadService) -> Void)?

    /// Called with every piece of a download.
    ///
    /// Called in order, on a thread of the transport, never after the load has finished.
    var received: (@Sendable (ReceivedPiece) -> Void)?

    /// Called with the progress of a loader of the user's: the bytes so far and those expected, −1 when unknown.
    var progressed: (@Sendable (_ received: Int64, _ expected: Int64) -> Void)?

    /// Called between the steps of a load, on any thread: false when the load is cancelled or superseded; nil means it
    /// is not.
    ///
    /// Once it has returned false, it always does.
    var isWanted: (@Sendable () -> Bool)?

    /// Whether a view waits for the image: of such downloads the latest runs first.
    var isForView = false

    /// Whether a miss in memory is counted: false where the load has looked in memory before.
    var countsMemoryMiss = true

    /// The manager's options processor, until it has changed the load's options.
    var optionsProcessor: (any OptionsProcessor)?

    /// Called with the cached image of a load that asks the server whether it is still the one.
    var stale: (@Sendable (StaleImage) async -> Void)?

    /// Fields that make the request conditional: the validators of what is cached.
    var conditionalFields: [String: String] = [:]

    /// The cache metadata of the response whose bytes are about to be stored; kept with their entry.
    var cacheMetadata: CacheMetadata?
}

/// A cached image whose server is asked about it.
struct StaleImage: Sendable {
    let image: KFCrossPlatformImage
    let cacheType: CacheType
    let data: Data?
    let metadata: CacheMetadata?
}

/// A piece of a download that has arrived.
struct ReceivedPiece: Sendable {
    /// The transfer, which has the piece already.
    let task: SessionDataTask
    let data: Data
    /// Bytes so far.
    let received: Int64
    /// Bytes expected; −1 when unknown.
    let expected: Int64
}

/// The service that provides an image that is in no cache.
enum LoadService: Sendable {
    /// A transfer, and the load's token in it.
    case transfer(SessionDataTask, SessionDataTask.CancelToken)
    /// A provider, or a loader or downloader of the user's that has no transfer.
    case provider
}
