// What one caller asked for, and what loads in flight have in common. Decides nothing.

import Foundation
import KFStorage
import KFSupport

/// One caller's request.
struct Load: Sendable {
    let source: Source
    var options: KingfisherParsedOptionsInfo
    let progress: ProgressRelay?
    var previews: Previews?
    /// What the look in memory came to that the load began with.
    let look: MemoryLook
    var handle: DownloadTask?
    var updated: DownloadTaskUpdatedBlock?

    /// Whether the caller still wants the image.
    var isWanted: Bool { options.sourceTaskIdentifierChecker?() ?? true }
}

/// What a look in memory came to that has not ended the load.
enum MemoryLook: Sendable {
    /// An animation that was made in another way than the options want: its bytes, and when that was.
    case unfit(Data, MemoryGeneration)
    /// There is none; when that was. Nil if memory was not to be looked at.
    case miss(MemoryGeneration?)
}

/// What a shared load made, before it is fitted to each caller.
struct Product: Sendable {
    let image: KFCrossPlatformImage
    let cacheType: CacheType
    /// The downloaded or provided bytes; nil when the image came from a cache.
    var data: Data?
    var metrics: NetworkMetrics?
    /// Whether a server was asked, and said that what the cache has is as it was.
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

/// How a shared load speaks to its callers while it goes on, and what they want of it together.
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

    /// Whether the load was given up because none of its callers wanted it.
    ///
    /// One that has joined since begins another.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    func abandon() { state.withLock { $0.isAbandoned = true } }

    /// Adds a caller, which is notified at once of what has begun already, and returns what it is removed by.
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

    /// Removes a caller that waits no longer.
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
