// The options of the load itself: other sources, blocked URLs, and what is shown before it ends.

extension KingfisherParsedOptionsInfo {
    private enum AlternativeSourcesKey: OptionKey { typealias Value = [Source] }

    /// Tried one after the other when the source fails.
    public var alternativeSources: [Source]? {
        get { self[AlternativeSourcesKey.self] }
        set { self[AlternativeSourcesKey.self] = newValue }
    }

    private enum LowDataModeSourceKey: OptionKey { typealias Value = Source }

    /// Loaded instead while the downloader's network is one to save data on (``ImageDownloader/isConstrained``).
    ///
    /// Only when there is something to download: images in the caches are delivered as usual.
    public var lowDataModeSource: Source? {
        get { self[LowDataModeSourceKey.self] }
        set { self[LowDataModeSourceKey.self] = newValue }
    }

    private enum OnStaleImageKey: OptionKey { typealias Value = @Sendable (RetrieveImageResult) -> Void }

    /// Called with the cached image when the server is asked about it, on the callback queue, before the completion.
    ///
    /// For views it is called on the main actor, after the view has begun to show the image if ``refreshCached`` is
    /// set. Not called for a load that joins another one of the same after that. (Not in Kingfisher.)
    public var onStaleImage: (@Sendable (RetrieveImageResult) -> Void)? {
        get { self[OnStaleImageKey.self] }
        set { self[OnStaleImageKey.self] = newValue }
    }

    private enum SkipFailedURLsKey: OptionKey { typealias Value = Bool }

    /// Fail at once when the URL has failed for good not long ago: neither the caches nor the server are asked.
    ///
    /// The error is ``KingfisherError/RequestErrorReason/urlBlocked(url:)``. Which failures count is the decision of
    /// ``KingfisherManagerDelegate/manager(_:shouldBlock:after:)``; they are kept in ``KingfisherManager/failedURLs``.
    /// Alternative sources are tried as after any error. Providers and live photos do not count. (Not in Kingfisher.)
    public var skipFailedURLs: Bool {
        get { self[SkipFailedURLsKey.self] ?? false }
        set { self[SkipFailedURLsKey.self] = newValue }
    }

    private enum RetryFailedKey: OptionKey { typealias Value = Bool }

    /// Load the URL even if it has failed for good. (Not in Kingfisher.)
    ///
    /// A success makes it a URL like any other again.
    public var retryFailed: Bool {
        get { self[RetryFailedKey.self] ?? false }
        set { self[RetryFailedKey.self] = newValue }
    }

    private enum ProgressiveJPEGKey: OptionKey { typealias Value = ImageProgressive }

    /// Show a progressive JPEG while it arrives; nil waits for all of it.
    public var progressiveJPEG: ImageProgressive? {
        get { self[ProgressiveJPEGKey.self] }
        set { self[ProgressiveJPEGKey.self] = newValue }
    }

    private enum OptionsProcessorKey: OptionKey { typealias Value = any OptionsProcessor }

    /// The manager's options processor, until it has changed the load's options.
    var optionsProcessor: (any OptionsProcessor)? {
        get { self[OptionsProcessorKey.self] }
        set { self[OptionsProcessorKey.self] = newValue }
    }
}
