// The protocol by which users change a finished image before it is delivered, its form with a closure, and the
// modifiers that only say how an image is to be shown.

public import KFImaging

/// Changes a finished image just before it is delivered.
///
/// The image it returns is never cached.
public protocol ImageModifier: Sendable {
    /// The image to deliver instead. Called on any thread.
    /// - Parameter image: The image as it would be delivered.
    /// - Returns: The image to deliver.
    func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage
}

/// An image modifier made from a closure.
public struct AnyImageModifier: ImageModifier {
    private let block: @Sendable (KFCrossPlatformImage) throws -> KFCrossPlatformImage

    /// Creates a modifier.
    /// - Parameter modify: Gives the image to deliver; when it throws, the image is delivered unchanged.
    public init(modify: @escaping @Sendable (KFCrossPlatformImage) throws -> KFCrossPlatformImage) { block = modify }

    /// The closure's image, or the given one when the closure throws.
    public func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage { (try? block(image)) ?? image }
}

/// Sets the rendering mode of the delivered image, see `Image.renderingMode`.
public struct RenderingModeImageModifier: ImageModifier {
    /// The rendering mode.
    public let renderingMode: KFCrossPlatformImage.RenderingMode

    /// Creates a modifier.
    public init(renderingMode: KFCrossPlatformImage.RenderingMode = .automatic) { self.renderingMode = renderingMode }

    /// The same image with the rendering mode.
    public func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage { image.withRenderingMode(renderingMode) }
}

/// Says of the delivered image that it is flipped where text runs from right to left, see
/// `Image.flipsForRightToLeftLayoutDirection`.
public struct FlipsForRightToLeftLayoutDirectionImageModifier: ImageModifier {
    /// Creates a modifier.
    public init() {}

    /// The same image, to be flipped.
    public func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage {
        image.imageFlippedForRightToLeftLayoutDirection()
    }
}

/// Sets the alignment insets of the delivered image, see `Image.alignmentRectInsets`.
public struct AlignmentRectInsetsImageModifier: ImageModifier {
    /// The insets in points.
    public let alignmentInsets: KFCrossPlatformImage.EdgeInsets

    /// Creates a modifier.
    public init(alignmentInsets: KFCrossPlatformImage.EdgeInsets) { self.alignmentInsets = alignmentInsets }

    /// The same image with the insets.
    public func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage {
        image.withAlignmentRectInsets(alignmentInsets)
    }
}
