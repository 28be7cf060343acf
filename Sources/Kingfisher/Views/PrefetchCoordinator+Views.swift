// Prefetches images the way an image view loads them. For KingfisherGTK's lists.

extension PrefetchCoordinator {
    /// Creates a coordinator whose loads are the same as those of image views like the given one: with the
    /// manager's default options, and with `sizedToView` for its present size.
    ///
    /// Nil when the images depend on a size that the view does not have yet.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - window: How many rows are prefetched beyond the visible ones.
    ///   - options: The options of the views' loads.
    ///   - manager: Loads them.
    ///   - source: Returns the source of a row.
    @MainActor
    package convenience init?(
        like view: KFCrossPlatformImageView,
        window: Int,
        options: KingfisherOptionsInfo?,
        manager: KingfisherManager,
        source: @escaping @Sendable (Int) -> Source?
    ) {
        let (size, scale, isStill) = (view.imageSize(instead: nil), view.contentScaleFactor, !view.playsFramesOnDemand)
        let options = manager.defaultOptions + (options ?? [])
        if KingfisherParsedOptionsInfo(options).sizedToView, size == nil, view.contentMode != .center { return nil }
        self.init(window: window, destination: .memory, options: options, manager: manager) { parsed in
            if isStill { parsed.preloadAllAnimationData = true }
            if parsed.sizedToView, let size { parsed = parsed.sized(for: size, scale: scale) }
        } source: {
            source($0)
        }
    }
}
