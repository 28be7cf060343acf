// Who finds images: the configuration and the entry points. How they are found is in the files beside this one.

import KFSupport

/// Finds images: in memory, on disk, or by loading and processing them; and stores what it made.
///
/// One manager serves any number of loads from any thread. Loads that want the same thing at the same time share one
/// download and one decoding.
public final class KingfisherManager: Sendable {
    /// The manager everybody uses who does not make one: the default downloader and the default cache.
    public static let shared = KingfisherManager(downloader: .default, cache: .default)

    private struct Configuration: Sendable {
        var downloader: ImageDownloader
        var cache: ImageCache
        var defaultOptions: KingfisherOptionsInfo = []
    }

    private let configuration: Locked<Configuration>
    /// Measures the pauses between previews.
    private let clock: any Clock<Duration>
    let loads = SharedTasks<LoadKey, LoadChannel, Product, KingfisherError>(context: { LoadChannel() })

    /// Creates a manager.
    /// - Parameters:
    ///   - downloader: Downloads what is not cached.
    ///   - cache: Where images are looked up and stored.
    public convenience init(downloader: ImageDownloader, cache: ImageCache) {
        self.init(downloader: downloader, cache: cache, clock: ContinuousClock())
    }

    init(downloader: ImageDownloader, cache: ImageCache, clock: any Clock<Duration>) {
        self.clock = clock
        configuration = Locked(Configuration(downloader: downloader, cache: cache))
    }

    /// Where images are looked up and stored unless the options name another cache.
    public var cache: ImageCache {
        get { configuration.withLock { $0.cache } }
        set { configuration.withLock { $0.cache = newValue } }
    }

    /// Who downloads unless the options name another downloader.
    public var downloader: ImageDownloader {
        get { configuration.withLock { $0.downloader } }
        set { configuration.withLock { $0.downloader = newValue } }
    }

    /// Options of every load; those of the call override them.
    public var defaultOptions: KingfisherOptionsInfo {
        get { configuration.withLock { $0.defaultOptions } }
        set { configuration.withLock { $0.defaultOptions = newValue } }
    }

    /// The manager's own settings, then its default options, then the call's.
    func parsed(_ options: KingfisherOptionsInfo?) -> KingfisherParsedOptionsInfo {
        let configuration = configuration.withLock { $0 }
        var parsed = KingfisherParsedOptionsInfo()
        parsed.downloader = configuration.downloader
        parsed.targetCache = configuration.cache
        for item in configuration.defaultOptions { item.apply(&parsed) }
        for item in options ?? [] { item.apply(&parsed) }
        parsed.originalCache = parsed.originalCache ?? parsed.targetCache
        return parsed
    }

    /// Finds the image of a source.
    ///
    /// Cancelling the calling task cancels the load.
    /// - Parameters:
    ///   - source: Where the image comes from.
    ///   - options: How it is loaded, processed and cached.
    ///   - progressBlock: Told of the download's progress, on the main queue, when its length is known.
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
        parsed options: KingfisherParsedOptionsInfo,
        progressBlock: DownloadProgressBlock? = nil
    ) async throws(KingfisherError) -> RetrieveImageResult {
        try await image(load(source, options.settled, progressBlock))
    }

    /// One caller's request.
    func load(
        _ source: Source,
        _ options: KingfisherParsedOptionsInfo,
        _ progressBlock: DownloadProgressBlock?,
        previewSetter: Previews.Setter? = nil
    ) -> Load {
        Load(
            source: source,
            options: options,
            progress: ProgressRelay(progressBlock),
            previews: Previews(options, setter: previewSetter, clock: clock)
        )
    }

    /// Finds the image of a resource, such as a URL.
    ///
    /// Cancelling the calling task cancels the load.
    /// - Parameters:
    ///   - resource: Where the image is; a file URL is read from disk.
    ///   - options: How it is loaded, processed and cached.
    ///   - progressBlock: Told of the download's progress, on the main queue, when its length is known.
    /// - Returns: The image and where it was found.
    /// - Throws: ``KingfisherError``, also for a cancelled load (see ``KingfisherError/isCancelled``).
    public func retrieveImage(
        with resource: any Resource,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil
    ) async throws(KingfisherError) -> RetrieveImageResult {
        try await retrieveImage(with: resource.convertToSource(), options: options, progressBlock: progressBlock)
    }
}
