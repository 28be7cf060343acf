// The protocols of objects that `kf.setImage` can give images to.

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
