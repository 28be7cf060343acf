// The protocols of objects that `kf.setImage` can give images to, and `kf.setImage` of those that are the user's own.

public import KFImaging

/// An object of your own that can be given an image: a menu item, a tab, a window's icon.
///
/// It gets `kf.setImage(with:)`, as image views have, without indicators and transitions.
@MainActor
public protocol KingfisherImageSettable: KingfisherCompatible, Sendable {
    /// Shows an image.
    ///
    /// - Parameters:
    ///   - image: The image; nil for none.
    ///   - options: The options of the load it comes from.
    func setImage(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo)

    /// The image that is shown.
    ///
    /// - Returns: Nil when there is none.
    func getImage() -> KFCrossPlatformImage?
}

/// An object with a property for its image.
@MainActor
public protocol KingfisherHasImageComponent: KingfisherImageSettable {
    /// The image that is shown; nil for none.
    var image: KFCrossPlatformImage? { get set }
}

extension KingfisherHasImageComponent {
    /// Sets the property.
    public func setImage(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo) { self.image = image }

    /// The value of the property.
    public func getImage() -> KFCrossPlatformImage? { image }
}

extension Image {
    /// Shows the image.
    @MainActor public func add(to base: any KingfisherHasImageComponent) { base.image = self }

    /// Leaves the object without an image.
    @MainActor public func remove(from base: any KingfisherHasImageComponent) { base.image = nil }
}

extension KingfisherWrapper where Base: KingfisherImageSettable {
    /// Loads an image and sets it, see `kf.setImage` of image views; there are no indicators and no transitions.
    ///
    /// - Parameters:
    ///   - source: A URL or another resource, a provider of data, or a `Source`; nil sets the placeholder.
    ///   - placeholder: Set until then.
    ///   - options: How the image is loaded, processed and cached; they come after those of the manager.
    ///   - manager: Loads it.
    ///   - progressBlock: Called with the download's progress, when its length is known.
    ///   - completionHandler: Called once, on the main actor, when the image is set or the load has failed.
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    @MainActor @discardableResult
    public func setImage(
        with source: (any SourceConvertible)?,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        progressBlock: DownloadProgressBlock?,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        load(source, into: settableSlot(placeholder), options, manager, progressBlock, completionHandler)
    }

    /// Loads an image and sets it, see `setImage(with:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setImage(
        with source: (any SourceConvertible)?,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        load(source, into: settableSlot(placeholder), options, manager, nil, completionHandler)
    }

    /// Cancels the load that is under way.
    @MainActor
    public func cancelDownloadTask() { cancel() }

    /// The identifier of the load that is under way; nil when there is none.
    @MainActor
    public var taskIdentifier: Source.Identifier.Value? { identifier(of: .image()) }

    /// The object's image as a place to load into.
    @MainActor
    func settableSlot(_ placeholder: KFCrossPlatformImage?) -> PropertySlot<Base> {
        PropertySlot(
            place: .image(),
            placeholder: placeholder,
            get: { $0.getImage() },
            set: { $0.setImage($1, options: $2) }
        )
    }
}
