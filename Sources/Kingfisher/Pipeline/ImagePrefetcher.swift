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
/// The loads are those of ``KingfisherManager/shared``: a view or another prefetcher that wants the same at the same
/// time shares them. The manager's default options, cache and downloader are **not** used: without others among the
/// options these are `ImageCache.default` and `ImageDownloader.default`. Alternative sources, low data mode sources and
/// image modifiers are ignored. Downloads have a low priority, 0.1, unless
/// ``KingfisherParsedOptionsInfo/downloadPriority`` names another one than 0.5; a load with a higher one that joins
/// raises it.
///
/// A prefetcher is for one list and one start, keeps itself alive while it runs, and may be used from any thread.
public final class ImagePrefetcher: CustomStringConvertible, Sendable {
    private let sources: [Source]
    /// The sources by their cache keys, in the order of the list: those with one key are loaded once.
    private let entries: [[Int]]
    private let work: PrefetchWork
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
        // On the main queue the handlers come one after the other only if none is called at once.
        if case .mainCurrentOrAsync = callbackQueue {
            self.callbackQueue = .mainAsync
        } else {
            self.callbackQueue = callbackQueue
        }
        var entries: [[Int]] = []
        var positions: [String: Int] = [:]
        for (index, source) in sources.enumerated() {
            let position = positions[source.cacheKey, default: entries.count]
            if position == entries.count {
                positions[source.cacheKey] = position
                entries.append([])
            }
            entries[position].append(index)
        }
        self.entries = entries
        state = Locked(State(hasEnded: Array(repeating: false, count: sources.count), handlers: handlers))
    }

    /// Creates a prefetcher of URLs.
    ///
    /// - Parameters:
    ///   - urls: Where the images are; begun in this order.
    ///   - options: How they are loaded, processed and cached.
    ///   - callbackQueue: Where the handlers are called; the options' own does not matter.
    ///   - progressBlock: Called once for each URL that ended; a URL that is in the list twice ends twice.
    ///   - completionHandler: Called once, after all progress.
    public convenience init(
        urls: [URL],
        options: KingfisherOptionsInfo? = nil,
        callbackQueue: CallbackQueue = .mainAsync,
        progressBlock: PrefetcherProgressBlock? = nil,
        completionHandler: PrefetcherCompletionHandler? = nil
    ) {
        self.init(
            resources: urls,
            options: options,
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
    ///   - callbackQueue: Where the handlers are called; the options' own does not matter.
    ///   - progressBlock: Called once for each resource that ended; one that is in the list twice ends twice.
    ///   - completionHandler: Called once, after all progress.
    public convenience init(
        resources: [any Resource],
        options: KingfisherOptionsInfo? = nil,
        callbackQueue: CallbackQueue = .mainAsync,
        progressBlock: PrefetcherProgressBlock? = nil,
        completionHandler: PrefetcherCompletionHandler? = nil
    ) {
        let handlers = PrefetchHandlers(resources, progress: progressBlock, completion: completionHandler)
        self.init(resources.map { $0.convertToSource() }, options, callbackQueue, .shared, handlers)
    }

    /// Creates a prefetcher of sources.
    ///
    /// - Parameters:
    ///   - sources: Where the images come from; begun in this order.
    ///   - options: How they are loaded, processed and cached.
    ///   - callbackQueue: Where the handlers are called; the options' own does not matter.
    ///   - progressBlock: Called once for each source that ended; one that is in the list twice ends twice.
    ///   - completionHandler: Called once, after all progress.
    public convenience init(
        sources: [Source],
        options: KingfisherOptionsInfo? = nil,
        callbackQueue: CallbackQueue = .mainAsync,
        progressBlock: PrefetcherSourceProgressBlock? = nil,
        completionHandler: PrefetcherSourceCompletionHandler? = nil
    ) {
        let handlers = PrefetchHandlers(sources, progress: progressBlock, completion: completionHandler)
        self.init(sources, options, callbackQueue, .shared, handlers)
    }

    /// Creates a prefetcher whose loads are those of a manager.
    ///
    /// - Parameters:
    ///   - sources: Where the images come from.
    ///   - options: How they are loaded, processed and cached; the manager's defaults do not apply.
    ///   - manager: Loads them.
    ///   - callbackQueue: Where the handler is called.
    ///   - progressBlock: Called once for each source that ended.
    package convenience init(
        sources: [Source],
        options: KingfisherOptionsInfo?,
        manager: KingfisherManager,
        callbackQueue: CallbackQueue = .untouch,
        progressBlock: PrefetcherSourceProgressBlock? = nil
    ) {
        let handlers = PrefetchHandlers(sources, progress: progressBlock, completion: nil)
        self.init(sources, options, callbackQueue, manager, handlers)
    }

    /// The instance: its address.
    public var description: String { "ImagePrefetcher(\(Unmanaged.passUnretained(self).toOpaque()))" }

    /// How many images are loaded at once; 5 at first, at least 1.
    ///
    /// Loads that wait for a retry or an asynchronous request modifier count. May be changed at any time: a higher
    /// limit begins more at once, a lower one ends nothing.
    public var maxConcurrentDownloads: Int {
        get { state.withLock { $0.limit } }
        set {
            state.withLock { $0.limit = max(1, newValue) }
            startWorkers()
        }
    }

    /// Starts; returns at once, and does nothing the second time or after ``stop()``.
    public func start() {
        state.withLock { state in
            guard case .waiting = state.phase else { return }
            state.phase = .running
            if entries.isEmpty { state.phase = .finished }
        }
        startWorkers()
        report()
    }

    /// Stops for good: nothing further begins, what runs is cancelled, and what has not ended has failed.
    ///
    /// The completion handler follows, without further progress and without waiting for anything; the same before
    /// ``start()``. After the end nothing happens.
    public func stop() {
        let workers = state.withLock { state -> [Task<Void, Never>] in
            if case .finished = state.phase { return [] }
            let stopped = PrefetchWork.Outcome.failed(.requestError(reason: .asyncTaskContextCancelled))
            for index in sources.indices where !state.hasEnded[index] { state.end(index, stopped) }
            state.phase = .finished
            defer { state.workers = [:] }
            return state.workers.values.compactMap(\.self)
        }
        for worker in workers { worker.cancel() }
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
    /// Starts as many tasks as there may be, each with an entry.
    private func startWorkers() {
        while let (number, entry) = state.withLock({ $0.takeForNewWorker(of: entries.count) }) {
            let worker = Task(priority: work.priority) { @concurrent in await load(entry, by: number) }
            let isStopped = state.withLock { state in
                guard state.isRunning else { return true }
                // It may have ended by now.
                if state.workers[number] != nil { state.workers[number] = .some(worker) }
                return false
            }
            if isStopped { worker.cancel() }
        }
    }

    /// Loads one entry after the other.
    private func load(_ first: Int, by worker: Int) async {
        var entry: Int? = first
        while let current = entry {
            let outcome = await work.image(of: sources[entries[current][0]])
            entry = state.withLock { state in
                guard state.isRunning else { return nil }
                for index in entries[current] { state.end(index, outcome) }
                state.announced = state.ended.count
                if state.ended.count == sources.count { state.phase = .finished }
                return state.takeNext(of: entries.count, by: worker)
            }
            report()
        }
    }

    /// Calls the handlers with what is to be reported, in order; returns at once when another thread does.
    private func report() {
        let mayReport = state.withLock { state in
            defer { state.isReporting = true }
            return !state.isReporting
        }
        guard mayReport else { return }
        while let (report, handlers) = state.withLock({ $0.takeReport() }) {
            switch report {
            case .progress(let end):
                if let progress = handlers?.progress { callbackQueue.execute { progress([end]) } }
            case .completion(let ends):
                if let completion = handlers?.completion { callbackQueue.execute { completion(ends) } }
                result.fulfil(PrefetchResult(state.withLock { $0.ended }, of: sources))
            }
        }
    }
}

extension PrefetchResult {
    fileprivate init(_ ends: [PrefetchEnd], of sources: [Source]) {
        var (skipped, completed): ([Source], [Source]) = ([], [])
        var failed: [PropagationError] = []
        for end in ends {
            let source = sources[end.index]
            switch end.outcome {
            case .skipped: skipped.append(source)
            case .completed: completed.append(source)
            case .failed(let error): failed.append(PropagationError(source: source, error: error))
            }
        }
        (self.skipped, self.failed, self.completed) = (skipped, failed, completed)
    }
}
