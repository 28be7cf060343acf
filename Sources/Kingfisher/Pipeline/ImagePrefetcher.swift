// Loads a list of images into the caches before they are needed. How one of them is loaded is in PrefetchWork.

public import Foundation
import KFSupport

/// Loads a list of images into the caches before they are needed.
///
/// What is cached already, under the source's key, the processor and the forced extension, is skipped without a
/// request, unless ``KingfisherParsedOptionsInfo/forceRefresh`` is set, or
/// ``KingfisherParsedOptionsInfo/respectCacheControl`` and the image is not fresh any more. An image whose original is
/// cached is made from that. A source has ended when its image is in memory and on disk; an image that cannot be stored
/// counts as failed.
///
/// The loads are those of a manager: a view or another prefetcher that wants the same of it at the same time shares
/// them. The default options, cache and downloader are the manager's own. Those of ``KingfisherManager/shared`` are
/// **not** used, as in Kingfisher: without others among the options these are `ImageCache.default` and
/// `ImageDownloader.default`. Alternative sources, low data mode sources and image modifiers are ignored. Downloads
/// have a low priority, 0.1, unless ``KingfisherParsedOptionsInfo/downloadPriority`` names another one than 0.5; a load
/// with a higher one that joins raises it.
///
/// All prefetchers of a manager together load at most 100 images at once, or ``maxConcurrentDownloads`` of one of them
/// if that is more. Other images wait, those with a higher priority ahead, and in the order in which they came.
///
/// A prefetcher is for one list and one start, keeps itself alive while it runs, and may be used from any thread.
public final class ImagePrefetcher: CustomStringConvertible, Sendable {
    private let sources: [Source]
    private let work: PrefetchWork
    private let queue: PrefetchQueue
    private let callbackQueue: CallbackQueue
    private let result = Promise<PrefetchResult>()
    private let state: Locked<State>

    private init(
        _ sources: [Source],
        _ options: KingfisherOptionsInfo?,
        _ callbackQueue: CallbackQueue,
        _ manager: KingfisherManager,
        _ handlers: PrefetchHandlers
    ) {
        self.sources = sources
        work = PrefetchWork(options, manager: manager) { $0.waitForCache = true }
        queue = PrefetchQueue(limit: 5, priority: work.priority, slots: manager.prefetchSlots)
        // On the main queue the handlers come one after the other only if none is called at once.
        if case .mainCurrentOrAsync = callbackQueue {
            self.callbackQueue = .mainAsync
        } else {
            self.callbackQueue = callbackQueue
        }
        state = Locked(State(handlers: handlers))
    }

    /// Creates a prefetcher of URLs.
    ///
    /// - Parameters:
    ///   - urls: Where the images are; begun in this order.
    ///   - options: How they are loaded, processed and cached.
    ///   - manager: Loads them.
    ///   - callbackQueue: Where the handlers are called; the options' own does not matter.
    ///   - progressBlock: Called once for each URL that ended; a URL that is in the list twice ends twice.
    ///   - completionHandler: Called once, after all progress.
    public convenience init(
        urls: [URL],
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        callbackQueue: CallbackQueue = .mainAsync,
        progressBlock: PrefetcherProgressBlock? = nil,
        completionHandler: PrefetcherCompletionHandler? = nil
    ) {
        self.init(
            resources: urls,
            options: options,
            manager: manager,
            callbackQueue: callbackQueue,
            progressBlock: progressBlock,
            completionHandler: completionHandler
        )
    }

    /// Creates a prefetcher of resources.
    ///
    /// - Parameters:
    ///   - resources: Where the images are; begun in this order, and handed to the handlers as they are.
    ///   - options: How they are loaded, processed and cached.
    ///   - manager: Loads them.
    ///   - callbackQueue: Where the handlers are called; the options' own does not matter.
    ///   - progressBlock: Called once for each resource that ended; one that is in the list twice ends twice.
    ///   - completionHandler: Called once, after all progress.
    public convenience init(
        resources: [any Resource],
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        callbackQueue: CallbackQueue = .mainAsync,
        progressBlock: PrefetcherProgressBlock? = nil,
        completionHandler: PrefetcherCompletionHandler? = nil
    ) {
        let handlers = PrefetchHandlers(resources, progress: progressBlock, completion: completionHandler)
        self.init(resources.map { $0.convertToSource() }, options, callbackQueue, manager, handlers)
    }

    /// Creates a prefetcher of sources.
    ///
    /// - Parameters:
    ///   - sources: Where the images come from; begun in this order.
    ///   - options: How they are loaded, processed and cached.
    ///   - manager: Loads them.
    ///   - callbackQueue: Where the handlers are called; the options' own does not matter.
    ///   - progressBlock: Called once for each source that ended; one that is in the list twice ends twice.
    ///   - completionHandler: Called once, after all progress.
    public convenience init(
        sources: [Source],
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        callbackQueue: CallbackQueue = .mainAsync,
        progressBlock: PrefetcherSourceProgressBlock? = nil,
        completionHandler: PrefetcherSourceCompletionHandler? = nil
    ) {
        let handlers = PrefetchHandlers(sources, progress: progressBlock, completion: completionHandler)
        self.init(sources, options, callbackQueue, manager, handlers)
    }

    /// The instance: its address.
    public var description: String { "ImagePrefetcher(\(Unmanaged.passUnretained(self).toOpaque()))" }

    /// How many images are loaded at once; 5 at first, at least 1.
    ///
    /// Loads that wait for a retry or an asynchronous request modifier count. May be changed at any time: a higher
    /// limit begins more at once, a lower one ends nothing.
    public var maxConcurrentDownloads: Int {
        get { queue.limit }
        set { queue.limit = newValue }
    }

    /// Starts; returns at once, and does nothing the second time or after ``stop()``.
    public func start() {
        let isFirst = state.withLock { state in
            guard state.phase == .notStarted else { return false }
            state.phase = sources.isEmpty ? .ended : .running
            return true
        }
        guard isFirst else { return }
        // Sources with one key are loaded once.
        let entries = Dictionary(grouping: sources.indices) { sources[$0].cacheKey }.values
        let jobs = entries.sorted { $0[0] < $1[0] }.map { indices in
            PrefetchQueue.Job(id: indices[0]) { [self] in await load(indices) }
        }
        for task in queue.replace(with: jobs).running { task.cancel() }
        report()
    }

    /// Stops for good: nothing further begins, what runs is cancelled, and what has not ended has failed.
    ///
    /// The completion handler follows, without further progress and without waiting for anything; the same before
    /// ``start()``. After the end nothing happens.
    public func stop() {
        state.withLock { state in
            guard state.phase == .notStarted || state.phase == .running else { return }
            let ended = Set(state.ended.map(\.index))
            let stopped = PrefetchWork.Outcome.failed(.requestError(reason: .asyncTaskContextCancelled))
            for index in sources.indices where !ended.contains(index) {
                state.ended.append(PrefetchEnd(index: index, outcome: stopped))
            }
            state.phase = .ended
        }
        queue.stop()
        report()
    }

    /// Starts, and waits for the end. (Not in Kingfisher.)
    ///
    /// Cancelling the calling task is ``stop()``. The handlers are called, too. A prefetcher that runs already is
    /// waited for; one that has ended is not started again.
    /// - Returns: How each source ended.
    public func prefetch() async -> PrefetchResult {
        await withTaskCancellationHandler {
            start()
            return await result.value
        } onCancel: {
            stop()
        }
    }
}

// MARK: - Loading

extension ImagePrefetcher {
    fileprivate enum Phase: Sendable {
        case notStarted
        case running
        /// The completion is to be reported.
        case ended
        case reported
    }

    fileprivate struct State: Sendable {
        var phase = Phase.notStarted
        /// The sources that have ended, in the order of their ends.
        var ended: [PrefetchEnd] = []
        /// The sources whose progress is to be reported; the progress of a stop never is.
        var progress: [PrefetchEnd] = []
        /// Released with the completion.
        var handlers: PrefetchHandlers?
        /// Whether a thread calls the handlers.
        var isReporting = false
    }

    /// What the handlers are to be called with.
    fileprivate enum Report: Sendable {
        /// Further sources have ended.
        case progress([PrefetchEnd])
        /// All have.
        case completion([PrefetchEnd])
    }

    /// Loads one source for all of the list that have its key.
    private func load(_ indices: [Int]) async {
        // A stop may have come between the start and its jobs.
        guard state.withLock({ $0.phase == .running }) else { return }
        let outcome = await work.image(of: sources[indices[0]])
        state.withLock { state in
            guard state.phase == .running else { return }
            let ends = indices.map { PrefetchEnd(index: $0, outcome: outcome) }
            state.ended += ends
            if state.handlers?.progress != nil { state.progress += ends }
            if state.ended.count == sources.count { state.phase = .ended }
        }
        report()
    }

    /// Calls the handlers with the reports, in order; returns at once when another thread calls them.
    private func report() {
        while let (report, handlers) = state.withLock({ $0.takeReport() }) {
            switch report {
            case .progress(let ends):
                guard let progress = handlers?.progress else { break }
                for end in ends { callbackQueue.execute { progress(end) } }
            case .completion(let ends):
                if let completion = handlers?.completion { callbackQueue.execute { completion(ends) } }
                result.fulfil(PrefetchResult(ends, of: sources))
            }
            state.withLock { $0.isReporting = false }
        }
    }
}

extension ImagePrefetcher.State {
    /// The next report, after which others may be taken once `isReporting` is false again; nil when there is none.
    fileprivate mutating func takeReport() -> (ImagePrefetcher.Report, PrefetchHandlers?)? {
        guard !isReporting else { return nil }
        if !progress.isEmpty {
            defer { (isReporting, progress) = (true, []) }
            return (.progress(progress), handlers)
        }
        guard phase == .ended else { return nil }
        defer { (isReporting, phase, handlers) = (true, .reported, nil) }
        return (.completion(ended), handlers)
    }
}
