// What one caller asked for, and what loads in flight have in common. Decides nothing.

import Foundation
import KFSupport

/// One caller's request.
struct Load: Sendable {
    let source: Source
    var options: KingfisherParsedOptionsInfo
    let progress: ProgressRelay?
    var previews: Previews?
    var handle: DownloadTask?
    var updated: DownloadTaskUpdatedBlock?
    /// Whether the source has been looked for in memory, in vain.
    var isMissed = false
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
    var storing: Task<CacheStoreResult, Never>?
}

/// What makes two loads the same work.
struct LoadKey: Hashable, Sendable {
    private let source: Source
    private let processor: String
    private let settings: Settings
    /// Set when the options hold code or values that cannot be compared, numbers that are none among them: such loads share
    /// downloads, nothing more, and a key equals itself.
    private let unique: Unique?

    private struct Settings: Equatable, Sendable {
        let scale: CGFloat
        let priority: Float
        let flags: [Bool]
        let objects: [ObjectIdentifier?]
        let expirations: [StorageExpiration?]
        let extensions: [ExpirationExtending]
        let fileExtension: String?
    }

    private final class Unique: Sendable {}

    init(_ source: Source, _ options: KingfisherParsedOptionsInfo) {
        self.source = source
        processor = options.processor.identifier
        settings = Settings(
            scale: options.imageCreatingOptions.scale,
            priority: options.downloadPriority,
            flags: [
                options.forceRefresh, options.fromMemoryCacheOrRefresh, options.cacheMemoryOnly,
                options.onlyFromCache, options.cacheOriginalImage, options.backgroundDecode,
                options.onlyLoadFirstFrame, options.preloadAllAnimationData, options.lowDataModeSource != nil,
            ],
            objects: [
                options.targetCache.map { ObjectIdentifier($0) }, options.originalCache.map { ObjectIdentifier($0) },
                options.downloader.map { ObjectIdentifier($0) },
            ],
            expirations: [options.memoryCacheExpiration, options.diskCacheExpiration],
            extensions: [
                options.memoryCacheAccessExtendingExpiration, options.diskCacheAccessExtendingExpiration,
            ],
            fileExtension: options.forcedExtension
        )
        let isItself = settings == settings
        unique = isItself && Self.isComparable(options) ? nil : Unique()
    }

    private static func isComparable(_ options: KingfisherParsedOptionsInfo) -> Bool {
        options.requestModifier == nil && options.redirectHandler == nil && options.processingQueue == nil
            && options.diskStoreWriteOptions.isEmpty
            && (options.cacheSerializer as? DefaultCacheSerializer) == .default
    }

    static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.unique === rhs.unique && lhs.source == rhs.source && lhs.processor == rhs.processor
            && (lhs.unique != nil || lhs.settings == rhs.settings)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(processor)
    }
}

/// How a shared load speaks to its callers while it goes on.
final class LoadChannel: Sendable {
    /// What serves the load once no cache did.
    enum Start: Sendable {
        case transfer(SessionDataTask, SessionDataTask.CancelToken)
        case provider
    }

    struct Listener: Sendable {
        var progress: @Sendable (Int64, Int64) -> Void
        var started: @Sendable (Start) -> Void
    }

    private struct State: Sendable {
        var listeners: [Listener] = []
        var start: Start?
    }

    private let state = Locked(State())

    /// The transfer under way, if one has begun.
    var transfer: (task: SessionDataTask, token: SessionDataTask.CancelToken)? {
        if case .transfer(let task, let token) = state.withLock({ $0.start }) { (task, token) } else { nil }
    }

    /// Adds someone to tell; what has begun already is told at once.
    func add(_ listener: Listener) {
        let start = state.withLock { state in
            state.listeners.append(listener)
            return state.start
        }
        if let start { listener.started(start) }
    }

    func begin(_ start: Start) {
        let listeners = state.withLock { state in
            state.start = start
            return state.listeners
        }
        for listener in listeners { listener.started(start) }
    }

    func report(_ received: Int64, of expected: Int64) {
        for listener in state.withLock({ $0.listeners }) { listener.progress(received, expected) }
    }
}
