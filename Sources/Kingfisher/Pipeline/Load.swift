// What one caller requests, and what loads in flight have in common. Decides nothing.

import Foundation
import KFStorage
import KFSupport

/// One caller's request.
struct Load: Sendable {
    let source: Source
    var options: KingfisherParsedOptionsInfo
    let progress: ProgressRelay?
    var previews: Previews?
    /// The result of the look-up in memory that the load began with.
    let look: MemoryLookup
    var handle: DownloadTask?
    var updated: DownloadTaskUpdatedBlock?

    /// Whether the caller still wants the image.
    var isWanted: Bool { options.sourceTaskIdentifierChecker?() ?? true }
}

/// The result of a look-up in memory that has not ended the load.
enum MemoryLookup: Sendable {
    /// An animation that was made with other options: its bytes, and the generation of its key.
    case madeWithOtherOptions(Data, MemoryGeneration)
    /// There is none; the generation of the key, nil if memory was not to be looked at.
    case miss(MemoryGeneration?)
}

/// The result of a shared load, before it is adapted to each caller.
struct LoadResult: Sendable {
    let image: KFCrossPlatformImage
    let cacheType: CacheType
    /// The downloaded or provided bytes; nil when the image came from a cache.
    var data: Data?
    var metrics: NetworkMetrics?
    /// Whether the server confirmed that what the cache has is unchanged.
    var isConfirmed = false
    /// How storing goes; nil when nothing is stored.
    var storing: Promise<CacheStoreResult>?
}

/// What a loaded source becomes in a cache: its source, and the keys, each built once.
struct KeyedSource: Sendable {
    let source: Source
    let query: CacheCore.Query

    init(_ source: Source, _ options: KingfisherParsedOptionsInfo) {
        self.source = source
        query = CacheCore.Query(source.cacheKey, options)
    }

    var options: KingfisherParsedOptionsInfo { query.options }
}

/// How a shared load notifies its callers while it runs, and whether any of them still wants it.
final class LoadChannel: Sendable {
    /// One caller of the load.
    struct Listener: Sendable {
        /// Whether the caller still wants the image.
        var isWanted: (@Sendable () -> Bool)?
        var progress: @Sendable (Int64, Int64) -> Void
        /// The transfer that serves the load is known, but not started.
        var linked: @Sendable (SessionDataTask, SessionDataTask.CancelToken) -> Void
        /// Something serves the load now, and can be cancelled: a provider if there is no transfer.
        var started: @Sendable (_ byProvider: Bool) -> Void
    }

    private struct State: Sendable {
        var listeners: [Int: Listener] = [:]
        var nextListener = 0
        var transfer: (task: SessionDataTask, token: SessionDataTask.CancelToken)?
        /// Set when something serves the load: whether that is a provider.
        var isByProvider: Bool?
        var isAbandoned = false
    }

    private let state = Locked(State())
    /// When the load began.
    let beginning = ContinuousClock.now

    /// The transfer that serves the load, if there is one.
    var transfer: (task: SessionDataTask, token: SessionDataTask.CancelToken)? { state.withLock { $0.transfer } }

    /// Whether one of the callers still wants the image; nothing is begun for callers that do not.
    var isWanted: Bool { state.withLock { $0.listeners.values }.contains { $0.isWanted?() ?? true } }

    /// Whether the load was abandoned because none of its callers wanted it.
    ///
    /// A caller that has joined since begins another one.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    func abandon() { state.withLock { $0.isAbandoned = true } }

    /// Adds a caller, which is notified at once of what has begun already, and returns the number to remove it by.
    func add(_ listener: Listener) -> Int {
        let (number, transfer, isByProvider) = state.withLock { state in
            let number = state.nextListener
            state.nextListener += 1
            state.listeners[number] = listener
            return (number, state.transfer, state.isByProvider)
        }
        if let transfer { listener.linked(transfer.task, transfer.token) }
        if let isByProvider { listener.started(isByProvider) }
        return number
    }

    /// Removes a caller that has stopped waiting.
    func remove(_ listener: Int) { state.withLock { $0.listeners[listener] = nil } }

    func link(_ task: SessionDataTask, _ token: SessionDataTask.CancelToken) {
        let listeners = state.withLock { state in
            state.transfer = (task, token)
            return state.listeners.values
        }
        for listener in listeners { listener.linked(task, token) }
    }

    /// Notifies the callers that something serves the load now; the first call counts.
    func begin(byProvider: Bool = false) {
        let listeners = state.withLock { state in
            guard state.isByProvider == nil else { return [:] as [Int: Listener] }
            state.isByProvider = byProvider
            return state.listeners
        }.values
        for listener in listeners { listener.started(byProvider) }
    }

    func report(_ received: Int64, of expected: Int64) {
        for listener in state.withLock({ $0.listeners.values }) where listener.isWanted?() ?? true {
            listener.progress(received, expected)
        }
    }

    /// The transfer's priority becomes at least that of a caller that has joined.
    func raisePriority(to priority: Float) {
        guard let task = transfer?.task.task, task.priority < priority else { return }
        task.priority = priority
    }
}
