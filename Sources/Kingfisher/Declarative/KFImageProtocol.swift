// The descriptions of views: the common part of KFImage and KFAnimatedImage, and how views are made of them.

public import Foundation

/// A description of a view that loads an image and shows it: a value that is changed by chained methods.
///
/// A description loads nothing. ``makeView()`` makes a view of it, and as many as are wanted; each loads for itself.
public protocol KFImageProtocol: KFOptionSetter, Sendable {
    /// The view that shows the image once it is there.
    associatedtype HoldingView: KFCrossPlatformImageView

    /// The contents of the description.
    var context: KFImageContext { get set }
    /// The changes made to each new image view, in this order; see ``configure(_:)``.
    var configurations: [@MainActor (HoldingView) -> Void] { get set }

    /// A description that says this, without configurations.
    init(context: KFImageContext)

    /// Makes an image view, without an image and not configured.
    @MainActor static func makeHoldingView() -> HoldingView
}

extension KFImageProtocol {
    /// The options: at first the manager's, and `loadDiskFileSynchronously`, so that what is on disk appears without
    /// its placeholder.
    public var options: KingfisherParsedOptionsInfo {
        get { context.options }
        set { context.options = newValue }
    }

    /// The handlers that are called while the image is loaded, and at the end.
    public var handlers: KFLoadHandlers {
        get { context.handlers }
        set { context.handlers = newValue }
    }

    /// Makes a view that loads the image when it comes onto a screen, and shows it.
    ///
    /// - Returns: The view, not on a screen.
    @MainActor public func makeView() -> KFImageView { KFImageView(self) }

    /// A configured image view.
    @MainActor func makeConfiguredView() -> HoldingView {
        let view = Self.makeHoldingView()
        for configuration in configurations { configuration(view) }
        return view
    }
}

// MARK: Making descriptions

extension KFImageProtocol {
    /// Describes the image of a source.
    ///
    /// - Parameters:
    ///   - source: Where the image comes from; nil fails with ``KingfisherError/ImageSettingErrorReason/emptySource``.
    ///   - manager: Loads it.
    public init(source: Source?, manager: KingfisherManager = .shared) {
        self.init(context: KFImageContext(source: source, manager: manager))
    }

    /// Describes the image at a URL.
    public init(_ url: URL?, manager: KingfisherManager = .shared) {
        self.init(source: url?.convertToSource(), manager: manager)
    }

    /// Describes the image of a source.
    ///
    /// - Parameters:
    ///   - source: Where the image comes from; nil fails with ``KingfisherError/ImageSettingErrorReason/emptySource``.
    ///   - manager: Loads it.
    /// - Returns: The description.
    public static func source(_ source: Source?, manager: KingfisherManager = .shared) -> Self {
        Self(source: source, manager: manager)
    }

    /// Describes the image of a resource.
    public static func resource(_ resource: (any Resource)?, manager: KingfisherManager = .shared) -> Self {
        source(resource?.convertToSource(), manager: manager)
    }

    /// Describes the image at a URL.
    public static func url(_ url: URL?, cacheKey: String? = nil, manager: KingfisherManager = .shared) -> Self {
        source(url?.convertToSource(overrideCacheKey: cacheKey), manager: manager)
    }

    /// Describes the image of a provider.
    public static func dataProvider(
        _ provider: (any ImageDataProvider)?,
        manager: KingfisherManager = .shared
    ) -> Self {
        source(provider?.convertToSource(), manager: manager)
    }

    /// Describes the image in bytes at hand.
    public static func data(_ data: Data?, cacheKey: String, manager: KingfisherManager = .shared) -> Self {
        dataProvider(data.map { RawImageDataProvider(data: $0, cacheKey: cacheKey) }, manager: manager)
    }
}
