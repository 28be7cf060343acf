// The description of an animated image.

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
