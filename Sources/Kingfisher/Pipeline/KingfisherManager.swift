// The manager: its configuration and its entry points. How images are found is in the files beside this one.

import Dispatch
import Foundation
import KFSupport

/// Finds images: in memory, on disk, or by loading and processing them; and stores what it made.
///
/// One manager serves any number of loads from any thread. Loads that want the same thing at the same time share one
/// download and one decoding.
public final class KingfisherManager: Sendable {
    /// The shared manager, with the default downloader and the default cache.
    public static let shared = KingfisherManager(downloader: .default, cache: .default)

    private struct Configuration: Sendable {
        var downloader: ImageDownloader { didSet { update() } }
        var cache: ImageCache { didSet { update() } }
        var defaultOptions: KingfisherOptionsInfo = [] { didSet { update() } }
        /// The options that every load begins with, made once: a hit in memory takes hardly longer than making them.
        private(set) var template = KingfisherParsedOptionsInfo()
        /// Whether the default options leave the callback queue to ``CallbackQueue/default``, which may change.
        private(set) var usesDefaultQueue = true
        var allowsFileURLs = true
        var optionsProcessor: (any OptionsProcessor)? { didSet { update() } }
        var cacheKeyFilter: (any CacheKeyFilter)? { didSet { update() } }
        var loaders = ImageLoaderRegistry()
        var failedURLs: FailedURLRegistry?
        /// Whether all loads skip failed URLs.
        var skipsFailedURLs = false { didSet { update() } }
        weak var delegate: (any KingfisherManagerDelegate)?

        init(downloader: ImageDownloader, cache: ImageCache) {
            (self.downloader, self.cache) = (downloader, cache)
            update()
        }

        private mutating func update() {
            template = KingfisherParsedOptionsInfo()
            template.downloader = downloader
            template.targetCache = cache
            template.callbackQueue = .dispatch(Self.unset)
            addRules(to: &template)
            for item in defaultOptions { item.apply(&template) }
            usesDefaultQueue = template.callbackQueue.identity == .queue(ObjectIdentifier(Self.unset))
        }

        /// Adds the options of all loads, also of loads that do not begin with the default options.
        func addRules(to options: inout KingfisherParsedOptionsInfo) {
            options.optionsProcessor = optionsProcessor
            options.cacheKeyFilter = options.cacheKeyFilter ?? cacheKeyFilter
            if skipsFailedURLs { options.skipFailedURLs = true }
        }

        /// Stands for no queue: none was set.
        private static let unset = DispatchQueue(label: "com.onevcat.Kingfisher.unset")
    }

    private let configuration: Locked<Configuration>
    /// Measures the pauses between previews, and how long failed URLs are skipped.
    let clock: any Clock<Duration>
    /// The loads that are under way, of all callers.
    let running = Locked<[ObjectIdentifier: DownloadTask]>([:])
    /// What these share.
    let loads = SharedTasks<LoadPlan.Identity, LoadedImage>()
    let byteLoads = ByteCalls()
    let prefetchSlots = PrefetchSlots(count: PrefetchSlots.countOfManager)

    /// Creates a manager.
    /// - Parameters:
    ///   - downloader: Downloads what is not cached.
    ///   - cache: Where images are looked up and stored.
    ///   - clock: Measures how long failed URLs are skipped, and the pauses between previews; tests set one by hand.
    public init(downloader: ImageDownloader, cache: ImageCache, clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        configuration = Locked(Configuration(downloader: downloader, cache: cache))
    }

    /// Where images are looked up and stored unless the options name another cache.
    public var cache: ImageCache {
        get { configuration.withLock { $0.cache } }
        set { configuration.withLock { $0.cache = newValue } }
    }

    /// The downloader that is used unless the options name another one.
    public var downloader: ImageDownloader {
        get { configuration.withLock { $0.downloader } }
        set { configuration.withLock { $0.downloader = newValue } }
    }

    /// Options of every load; those of the call override them.
    public var defaultOptions: KingfisherOptionsInfo {
        get { configuration.withLock { $0.defaultOptions } }
        set { configuration.withLock { $0.defaultOptions = newValue } }
    }

    /// Whether a URL may lead to a file; true at first. (Not in Kingfisher.)
    ///
    /// A server that loads images from URLs its users name sets it to false: otherwise it reads any file that its
    /// process may read. Then a resource with a `file:` URL, alone or as an alternative, a low data mode source or a
    /// part of a live photo, fails with ``KingfisherError/RequestErrorReason/fileURLNotAllowed(url:)`` before anything
    /// is read, also when its image is cached.
    ///
    /// A ``LocalFileImageDataProvider`` that the program makes itself is allowed, and so is any other provider: the
    /// program has chosen what it reads. Where an address may lead on the network is up to the transport; see
    /// `AddressPolicy`. Read when each source is tried.
    public var allowsFileURLs: Bool {
        get { configuration.withLock { $0.allowsFileURLs } }
        set { configuration.withLock { $0.allowsFileURLs = newValue } }
    }

    /// Changes the options of every load, prefetches among them; nil at first. (Not in Kingfisher.)
    ///
    /// It runs once a load, before anything else is done, and is given the manager's settings and defaults with the
    /// options of the call. Live photos are loaded without it.
    public var optionsProcessor: (any OptionsProcessor)? {
        get { configuration.withLock { $0.optionsProcessor } }
        set { configuration.withLock { $0.optionsProcessor = newValue } }
    }

    /// Makes the cache keys of downloads from their URLs; nil at first, so that a URL is its own key. (Not in
    /// Kingfisher.)
    ///
    /// It counts for prefetches, too, and not for live photos. The options may name another one.
    public var cacheKeyFilter: (any CacheKeyFilter)? {
        get { configuration.withLock { $0.cacheKeyFilter } }
        set { configuration.withLock { $0.cacheKeyFilter = newValue } }
    }

    /// The loaders that get the bytes at URLs in place of the downloader; none at first. (Not in Kingfisher.)
    ///
    /// Asked when bytes are needed: for images that are in no cache, prefetches and live photos. The first that can
    /// load a URL does; the downloader loads what none can. A loader is also asked whether a URL that has failed is
    /// blocked.
    public var loaders: ImageLoaderRegistry {
        get { configuration.withLock { $0.loaders } }
        set { configuration.withLock { $0.loaders = newValue } }
    }

    /// The URLs that failed for good; nil at first. (Not in Kingfisher.)
    ///
    /// Setting a registry makes every load skip the URLs in it, prefetches among them, as if
    /// ``KingfisherParsedOptionsInfo/skipFailedURLs`` was among the options of each. As long as none is set, only loads
    /// with that option do; the manager makes a registry for them when the first one has failed. A load of a URL that
    /// succeeds removes it, with the option or not, unless the image was in memory.
    public var failedURLs: FailedURLRegistry? {
        get { configuration.withLock { $0.failedURLs } }
        set { configuration.withLock { ($0.failedURLs, $0.skipsFailedURLs) = (newValue, newValue != nil) } }
    }

    /// The registry; made if there is none.
    var madeFailedURLs: FailedURLRegistry {
        configuration.withLock { configuration in
            let registry = configuration.failedURLs ?? FailedURLRegistry(clock: clock)
            configuration.failedURLs = registry
            return registry
        }
    }

    /// Decides what is downloaded, and which failures are final; nil at first, and not retained. (Not in Kingfisher.)
    public var delegate: (any KingfisherManagerDelegate)? {
        get { configuration.withLock { $0.delegate } }
        set { configuration.withLock { $0.delegate = newValue } }
    }

    // MARK: Loads that are under way

    /// Whether loads are under way, those of live photos and prefetched images among them. (Not in Kingfisher.)
    ///
    /// Prefetching to disk alone, which makes no images, is not counted: its prefetcher or token ends it.
    ///
    /// A load has ended when its completion handler is called.
    public var isRunning: Bool { !running.withLock { $0.isEmpty } }

    /// Cancels all loads of the manager that are under way. (Not in Kingfisher.)
    ///
    /// Each ends with the same error as if it had been cancelled alone (see ``KingfisherError/isCancelled``). Loads
    /// that begin afterwards are not affected.
    public func cancelAll() {
        for handle in running.withLock({ Array($0.values) }) { handle.cancel() }
        // Async loads run in the caller's task, which is not ours to cancel.
        loads.cancelAll()
    }

    // MARK: How a load begins

    /// The manager's own settings, then its default options, then the call's.
    func parsed(_ options: KingfisherOptionsInfo?) -> KingfisherParsedOptionsInfo {
        var (parsed, usesDefaultQueue) = configuration.withLock { ($0.template, $0.usesDefaultQueue) }
        if usesDefaultQueue { parsed.callbackQueue = .default }
        for item in options ?? [] { item.apply(&parsed) }
        return parsed
    }

    /// Adds what holds for all loads to options that did not begin with the manager's own.
    func addRules(to options: inout KingfisherParsedOptionsInfo) {
        options = configuration.withLock { [options] configuration in
            var options = options
            configuration.addRules(to: &options)
            return options
        }
    }

    /// Finds the image of a source.
    ///
    /// Cancelling the calling task cancels the load.
    /// - Parameters:
    ///   - source: Where the image comes from.
    ///   - options: How it is loaded, processed and cached.
    ///   - progressBlock: Called with the download's progress, on the main queue, when its length is known.
    /// - Returns: The image and where it was found.
    /// - Throws: ``KingfisherError``, also for a cancelled load (see ``KingfisherError/isCancelled``).
    public func retrieveImage(
        with source: Source,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil
    ) async throws(KingfisherError) -> RetrieveImageResult {
        try await retrieveImage(with: source, parsed: parsed(options), progressBlock: progressBlock)
    }

    func retrieveImage(
        with source: Source,
        parsed options: consuming KingfisherParsedOptionsInfo,
        progressBlock: DownloadProgressBlock? = nil
    ) async throws(KingfisherError) -> RetrieveImageResult {
        guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
        switch beginning(of: source, &options) {
        case .hit(let hit): return hit
        case .plan(let plan, let answer):
            let load = LoadRequest(plan, by: self, inMemory: answer, progress: progressBlock.map { .onMain($0) })
            // The wait for a retry is ended by a handle only.
            guard plan.options.needsHandle || plan.options.retryStrategy != nil else { return try await load.image() }
            return try await load.handle.value { () async throws(KingfisherError) in try await load.image() }
        }
    }

    /// Finds the image of a resource, such as a URL, as the form for a source does; a file URL is read from disk.
    public func retrieveImage(
        with resource: any Resource,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil
    ) async throws(KingfisherError) -> RetrieveImageResult {
        try await retrieveImage(with: resource.convertToSource(), options: options, progressBlock: progressBlock)
    }
}
