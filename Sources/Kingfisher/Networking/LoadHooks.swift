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

    /// Whether the original of a download is kept on disk, for images of other sizes.
    ///
    /// That of a provider is not: the provider still has it.
    var keepsDownload = false

    /// Fields that make the request conditional: the validators of what is cached.
    var conditionalFields: [String: String] = [:]

    /// Called with the cache metadata of a response of 304, before the load fails with that status: the error has the
    /// response, but not the redirects that led to it.
    var confirmed: (@Sendable (CacheMetadata) -> Void)?

    /// The cache metadata of the response whose bytes are about to be stored; kept with their entry.
    var cacheMetadata: CacheMetadata?
}

extension KingfisherParsedOptionsInfo {
    private enum HooksKey: OptionKey { typealias Value = LoadHooks }

    /// The pipeline's own part, for the manager, the downloader and the cache that carry the load out.
    var hooks: LoadHooks {
        get { self[HooksKey.self] ?? LoadHooks() }
        set { self[HooksKey.self] = newValue }
    }

    /// Whether the request modifier is to be given a handle, so that an async load needs one, too.
    var needsHandle: Bool { requestModifier?.onDownloadTaskStarted != nil }

    /// The options of a download with a handle, which its request modifier is given.
    ///
    /// A load of the manager has a handle of its own: then that is the one to be given.
    func handled(by handle: DownloadTask) -> Self {
        var options = self
        options.hooks.handle = handle
        if hooks.served == nil, let started = requestModifier?.onDownloadTaskStarted {
            options.hooks.served = { _ in started(handle) }
        }
        return options
    }
}
