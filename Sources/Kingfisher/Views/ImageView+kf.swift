// `imageView.kf`: images, placeholders and indicators of image views.

import Foundation

/// The image of an image view: any placeholder, an indicator and transitions.
private struct ImageViewSlot: ImageSlot {
    let placeholder: (any Placeholder)?

    var place: ImagePlace { .image() }

    func isEmpty(_ view: KFCrossPlatformImageView) -> Bool { view.image == nil && view.placeholder == nil }

    func view(of view: KFCrossPlatformImageView) -> KFCrossPlatformView? { view }

    func isShowing(_ image: KFCrossPlatformImage, _ view: KFCrossPlatformImageView) -> Bool { view.image === image }

    func showPlaceholder(_ view: KFCrossPlatformImageView) { view.replacePlaceholder(by: placeholder) }

    func loadDidBegin(_ view: KFCrossPlatformImageView) -> Bool {
        view.loadCount += 1
        guard let indicator = view.indicator else { return false }
        // The progress of the load before is not that of this one.
        if view.loadCount == 1 { indicator.startAnimatingView() } else { indicator.update(progress: 0) }
        return true
    }

    func loadDidProceed(_ view: KFCrossPlatformImageView, to progress: Double) {
        view.indicator?.update(progress: progress)
    }

    func loadDidEnd(_ view: KFCrossPlatformImageView) {
        view.loadCount -= 1
        if view.loadCount == 0 { view.indicator?.stopAnimatingView() }
    }

    func show(_ image: KFCrossPlatformImage?, _ view: KFCrossPlatformImageView, _: KingfisherParsedOptionsInfo) {
        view.removePlaceholder()
        view.image = image
    }

    func show(
        _ result: RetrieveImageResult,
        _ view: KFCrossPlatformImageView,
        _ options: KingfisherParsedOptionsInfo,
        completion: @escaping @MainActor () -> Void
    ) {
        (view.storedOriginal, view.loadedImage) = (StoredOriginal(of: result.source, options), result.image)
        let transition = options.transition
        guard !transition.isNone, options.forceTransition || result.cacheType == .none else {
            show(result.image, view, options)
            return completion()
        }
        let previous = view.shownImage
        view.removePlaceholder()
        view.show(result.image, by: transition, from: previous) { finished in
            if case .custom(_, _, _, let ended) = transition { ended?(finished) }
            completion()
        }
    }
}

extension KFCrossPlatformImageView {
    fileprivate func replacePlaceholder(by new: (any Placeholder)?) {
        removePlaceholder()
        placeholder = new
        if let new { new.add(to: self) } else { image = nil }
    }

    fileprivate func removePlaceholder() {
        placeholder?.remove(from: self)
        placeholder = nil
    }

    /// Replaces the indicator; while loads are under way, the old one is stopped and the new one started.
    fileprivate func replaceIndicator(by type: IndicatorType) {
        if loadCount > 0 { indicator?.stopAnimatingView() }
        indicator?.view.removeFromSuperview()
        (indicatorType, indicator) = (type, type.makeIndicator())
        guard let indicator else { return }
        indicator.view.isHidden = true
        addSubview(indicator.view, size: indicator.sizeStrategy(in: self), centerOffset: indicator.centerOffset)
        if loadCount > 0 { indicator.startAnimatingView() }
    }
}

// MARK: Setting

extension KingfisherWrapper where Base: KFCrossPlatformImageView {
    /// Loads an image and shows it: the placeholder at once, the image when it is there.
    ///
    /// An image in memory is shown before the call returns. A later call for the same view wins: the image of the
    /// earlier load is not shown, and its handler is called with `notCurrentSourceTask`. If the earlier load has not
    /// begun its download, it ends without one; a download that is under way goes on for the cache.
    ///
    /// - Parameters:
    ///   - source: A URL or another resource, a provider of data, or a `Source`; nil shows the placeholder.
    ///   - placeholder: Shown until then: an image, a view, or something of your own.
    ///   - options: How the image is loaded, processed, cached and shown; they come after those of the manager.
    ///   - manager: Loads it.
    ///   - progressBlock: Called with the download's progress, when its length is known.
    ///   - completionHandler: Called once, on the main actor, when the image is shown or the load has failed.
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    @MainActor @discardableResult
    public func setImage(
        with source: (any SourceConvertible)?,
        placeholder: (any Placeholder)? = nil,
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        progressBlock: DownloadProgressBlock?,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setImage(
            with: source?.convertToSource(),
            placeholder: placeholder,
            parsedOptions: manager.parsed(options),
            manager: manager,
            progressBlock: progressBlock,
            completionHandler: completionHandler
        )
    }

    /// Loads an image and shows it, see `setImage(with:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setImage(
        with source: (any SourceConvertible)?,
        placeholder: (any Placeholder)? = nil,
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setImage(
            with: source,
            placeholder: placeholder,
            options: options,
            manager: manager,
            progressBlock: nil,
            completionHandler: completionHandler
        )
    }

    @MainActor
    func setImage(
        with source: Source?,
        placeholder: (any Placeholder)?,
        parsedOptions options: consuming KingfisherParsedOptionsInfo,
        manager: KingfisherManager,
        progressBlock: DownloadProgressBlock?,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)?
    ) -> DownloadTask? {
        if !base.playsFramesOnDemand { options.preloadAllAnimationData = true }
        if base.sizesImages { options.sizedToView = options.processor.identifier.isEmpty }
        base.disappearingLoad?.supersede()
        let (options, slot) = (options, ImageViewSlot(placeholder: placeholder))
        func load(_ view: KFCrossPlatformImageView, _ completion: DisappearingViewLoad.Completion?) -> DownloadTask? {
            KingfisherWrapper<KFCrossPlatformImageView>(view).load(
                source,
                into: slot,
                parsed: options,
                manager: manager,
                progressBlock,
                completion
            )
        }
        guard base.cancelOnDisappear, let source else { return load(base, completionHandler) }
        let returning = DisappearingViewLoad(of: source, in: base, completion: completionHandler, start: load)
        base.disappearingLoad = returning
        return returning.begin()
    }

    /// Cancels the load that is under way: its handler is called with an error that `isTaskCancelled`.
    @MainActor
    public func cancelDownloadTask() {
        base.disappearingLoad?.cancelForGood()
        cancel()
    }

    /// The identifier of the load that is under way; nil when there is none.
    @MainActor
    public var taskIdentifier: Source.Identifier.Value? { identifier(of: .image()) }

    /// The placeholder that is shown; nil when there is none.
    @MainActor
    public var placeholder: (any Placeholder)? { base.placeholder }

    /// The indicator; nil when there is none.
    @MainActor
    public var indicator: (any Indicator)? { base.indicator }

    /// Which indicator is shown during loads; one that is set while a load is under way is started at once.
    @MainActor
    public var indicatorType: IndicatorType {
        get { base.indicatorType }
        nonmutating set { base.replaceIndicator(by: newValue) }
    }
}

extension IndicatorType {
    @MainActor
    fileprivate func makeIndicator() -> (any Indicator)? {
        switch self {
        case .none: nil
        case .activity: ActivityIndicator()
        case .progress: ProgressIndicator()
        case .image(let data): ImageIndicator(imageData: data)
        case .custom(let indicator): indicator
        }
    }
}
