// The descriptions of an image and of an animated image.

/// Describes a view that loads an image and shows it.
///
/// ```swift
/// let view = KFImage(url)
///     .placeholder { SpinnerView() }
///     .resizable(.scaleAspectFill)
///     .fade(duration: 0.25)
///     .makeView()
/// ```
/// With `KingfisherGTK`, `view.widget` is the GTK widget. An image is drawn in its own size unless it is
/// ``resizable(_:)``. Animations are decoded as a whole and played; ``KFAnimatedImage`` needs less memory. SwiftUI's
/// `interpolation`, `antialiased` and `renderingMode` are not there: the toolkit decides how pixels are drawn.
public struct KFImage: KFImageProtocol {
    /// The contents of the description.
    public var context: KFImageContext
    /// The changes made to each new image view, in this order.
    public var configurations: [@MainActor (KFCrossPlatformImageView) -> Void] = []

    /// A description that says this.
    public init(context: KFImageContext) { self.context = context }

    /// Makes a view that shows images in their own size.
    @MainActor public static func makeHoldingView() -> KFCrossPlatformImageView {
        let view = KFCrossPlatformImageView()
        view.contentMode = .center
        return view
    }

    /// Lets the image fill the view.
    ///
    /// - Parameter mode: How, if it is of another shape.
    /// - Returns: The changed copy.
    public func resizable(_ mode: KFCrossPlatformContentMode = .scaleToFill) -> Self {
        configure { $0.contentMode = mode }
    }

    /// Lets the image be as large as possible within the view.
    public func scaledToFit() -> Self { resizable(.scaleAspectFit) }

    /// Lets the image be as small as possible with the view covered.
    public func scaledToFill() -> Self { resizable(.scaleAspectFill) }
}

/// Describes a view that loads an image and, if it is animated, plays it with frames decoded on demand.
///
/// ```swift
/// let view = KFAnimatedImage(url).configure { $0.repeatCount = .once }.makeView()
/// ```
public struct KFAnimatedImage: KFImageProtocol {
    /// The contents of the description.
    public var context: KFImageContext
    /// The changes made to each new image view, in this order.
    public var configurations: [@MainActor (AnimatedImageView) -> Void] = []

    /// A description that says this.
    public init(context: KFImageContext) { self.context = context }

    /// Makes a view that plays animations.
    @MainActor public static func makeHoldingView() -> AnimatedImageView { AnimatedImageView() }

    /// Sets whether all frames but the current one are forgotten while the window is hidden.
    public func purgeFramesOnBackground(_ flag: Bool = true) -> Self {
        configure { $0.purgeFramesOnBackground = flag }
    }
}
