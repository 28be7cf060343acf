// Who follows a load: what it is notified of, and whether it still wants the outcome; and what else is noted about a
// load. For everything that is loaded.

import Foundation

/// The load that something is done for.
///
/// It is among the options, since subclasses of downloaders and caches hand these on. Its methods are called on any
/// thread; those about progress never after the load has ended.
protocol LoadObserver: AnyObject, Sendable {
    /// Whether the outcome is still wanted; asked between the steps of a load.
    ///
    /// Once it is false, it stays so: the load is superseded, as when its view shows another image. When none of those
    /// who share a task wants it, the next step ends it, and nothing is decoded, loaded, retried or replaced. A load
    /// that joins after that starts another task.
    var isWanted: Bool { get }

    /// Whether the load was cancelled, so that it ends with that error.
    var isCancelled: Bool { get }

    /// Whether the load has a handle of its own, which its request modifier is given.
    var hasHandle: Bool { get }

    /// The load is one of those that share a task now; its priority can be changed there.
    func didSubscribe(_ subscription: any TaskSubscription)

    /// It is known from where the image is loaded, as no cache has it; called again for each further attempt.
    func didStart(from origin: LoadOrigin)

    /// A piece of a download has arrived.
    func didReceive(_ piece: ReceivedPiece)

    /// A loader of the user's reports its progress in bytes; the expected number is −1 when it is unknown.
    func didProgress(_ received: Int64, of expected: Int64)

    /// The server said that what is cached has not changed: the cache metadata of that response.
    ///
    /// The error with which the load then fails has the response, but not the redirects that led to it.
    func didConfirm(_ metadata: CacheMetadata)
}

extension LoadObserver {
    var isWanted: Bool { !isCancelled }
    var isCancelled: Bool { false }
    var hasHandle: Bool { false }
    func didSubscribe(_ subscription: any TaskSubscription) {}
    func didStart(from origin: LoadOrigin) {}
    func didReceive(_ piece: ReceivedPiece) {}
    func didProgress(_ received: Int64, of expected: Int64) {}
    func didConfirm(_ metadata: CacheMetadata) {}
}

/// The place of a load among those that share a task.
protocol TaskSubscription: Sendable {
    /// Changes how urgent this load is, from 0 to 1; the task is as urgent as the most urgent of those that share it.
    func setPriority(_ priority: Float)
}

/// From where an image is loaded that is in no cache.
enum LoadOrigin: Sendable {
    /// A transfer, and the load's token in it.
    case transfer(SessionDataTask, SessionDataTask.CancelToken)
    /// A provider, or a loader or downloader of the user's that has no transfer.
    case provider
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

/// What the library notes about a load, beside the options that users set.
///
/// It is among the options for the reason that the observer is: subclasses of caches and downloaders hand these on.
struct LoadState: Sendable {
    /// Who follows the load.
    var observer: (any LoadObserver)?
    /// Whether a view waits for the image: of such downloads the latest runs first.
    var isForView = false
    /// Whether the load ends without an image where something would have to be made, or its server to be asked.
    var isLookupOnly = false
    /// Whether a miss in memory is counted: false where the load has looked in memory before.
    var countsMemoryMiss = true
    /// How the result is encoded; nil for an image.
    var encoding: ImageEncoding?
    /// Whether the original of a download is kept on disk, for images of other sizes.
    ///
    /// A provider's data is not: the provider still has it.
    var keepsDownload = false
    /// Which purge was the last one when the load began; nil for bytes that are stored without a load.
    var generation: UInt64?
    /// Fields that make the request conditional: the validators of what is cached.
    var conditionalFields: [String: String] = [:]
    /// The cache metadata of the response whose bytes are about to be stored; kept with their entry.
    var cacheMetadata: CacheMetadata?

    /// The state of a load in the background that makes the same image, without a subscriber.
    var unattended: LoadState {
        var state = LoadState()
        (state.encoding, state.keepsDownload) = (encoding, keepsDownload)
        return state
    }
}

extension KingfisherParsedOptionsInfo {
    private enum LoadStateKey: OptionKey { typealias Value = LoadState }

    /// The state of the load that the options are of.
    var load: LoadState {
        get { self[LoadStateKey.self] ?? LoadState() }
        set { self[LoadStateKey.self] = newValue }
    }
}
