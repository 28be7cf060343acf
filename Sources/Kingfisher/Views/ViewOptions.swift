// The options of views: how they show an image, and what before and instead of it.

extension KingfisherParsedOptionsInfo {
    private enum TransitionKey: OptionKey { typealias Value = ImageTransition }

    /// How a view shows the image when it was not in a cache.
    public var transition: ImageTransition {
        get { self[TransitionKey.self] ?? .none }
        set { self[TransitionKey.self] = newValue }
    }

    private enum ForceTransitionKey: OptionKey { typealias Value = Bool }

    /// Use ``transition`` for images from a cache, too.
    public var forceTransition: Bool {
        get { self[ForceTransitionKey.self] ?? false }
        set { self[ForceTransitionKey.self] = newValue }
    }

    private enum KeepCurrentImageWhileLoadingKey: OptionKey { typealias Value = Bool }

    /// Keep the image that a view shows until the new one is there, instead of showing the placeholder.
    public var keepCurrentImageWhileLoading: Bool {
        get { self[KeepCurrentImageWhileLoadingKey.self] ?? false }
        set { self[KeepCurrentImageWhileLoadingKey.self] = newValue }
    }

    private enum SizedToViewKey: OptionKey { typealias Value = Bool }

    /// Decode the image at the size of the view it is loaded into, in pixels, instead of its own. (Not in Kingfisher.)
    ///
    /// For image views and ``KFImage``; without effect elsewhere, and for views whose content mode is
    /// ``KFCrossPlatformContentMode/center``, as that of a ``KFImage`` is unless it is
    /// ``KFImage/resizable(_:)``. The load waits for the first layout if the view has no size yet. Each side
    /// is rounded up to one of four sizes in each power of two, and the image is never larger than the original. When
    /// the view grows beyond what it shows, or moves to a screen with another scale, the image is loaded again and the
    /// present one stays until then; the handlers are not called once more. A view that shrinks keeps its image.
    ///
    /// The image is made by a ``ThumbnailImageProcessor`` of that size before ``processor`` runs, and its identifier is
    /// part of the key. The original of a download is kept on disk, as with ``cacheOriginalImage``, so that another
    /// size is made of that. A larger image of the same source in memory is shown until the right one is there.
    public var sizedToView: Bool {
        get { self[SizedToViewKey.self] ?? false }
        set { self[SizedToViewKey.self] = newValue }
    }

    private enum OnFailureImageKey: OptionKey { typealias Value = KFCrossPlatformImage? }

    /// The image that a view shows when loading fails, none with `.some(nil)`; nil leaves the placeholder.
    public var onFailureImage: KFCrossPlatformImage?? {
        get { self[OnFailureImageKey.self] }
        set { self[OnFailureImageKey.self] = newValue }
    }
}
