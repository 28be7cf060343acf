// The description of an image. Loads nothing.

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
    /// What the description says.
    public var context: KFImageContext
    /// What is done with the image view when it has been made, in this order.
    public var configurations: [@MainActor (KFCrossPlatformImageView) -> Void] = []

    /// A description that says this.
    public init(context: KFImageContext) { self.context = context }

    /// Makes a view that shows pictures in their own size.
    @MainActor public static func makeHoldingView() -> KFCrossPlatformImageView {
        let view = KFCrossPlatformImageView()
        view.contentMode = .center
        return view
    }

    /// Lets the picture fill the view.
    ///
    /// - Parameter mode: How, if it is of another shape.
    /// - Returns: The changed copy.
    public func resizable(_ mode: KFCrossPlatformContentMode = .scaleToFill) -> Self {
        configure { $0.contentMode = mode }
    }

    /// Lets the picture be as large as possible within the view.
    public func scaledToFit() -> Self { resizable(.scaleAspectFit) }

    /// Lets the picture be as small as possible with the view covered.
    public func scaledToFill() -> Self { resizable(.scaleAspectFill) }
}
