// The image modifiers that only say how an image is to be shown, for `.imageModifier(…)`.

public import KFImaging

/// Sets the rendering mode of the delivered image, see `Image.renderingMode`.
public struct RenderingModeImageModifier: ImageModifier {
    /// The rendering mode.
    public let renderingMode: KFCrossPlatformImage.RenderingMode

    /// Creates a modifier.
    /// - Parameter renderingMode: The rendering mode.
    public init(renderingMode: KFCrossPlatformImage.RenderingMode = .automatic) { self.renderingMode = renderingMode }

    /// The same image with the rendering mode.
    /// - Parameter image: The image as it would be delivered.
    /// - Returns: The image to deliver.
    public func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage { image.withRenderingMode(renderingMode) }
}

/// Says of the delivered image that it is flipped where text runs from right to left, see
/// `Image.flipsForRightToLeftLayoutDirection`.
public struct FlipsForRightToLeftLayoutDirectionImageModifier: ImageModifier {
    /// Creates a modifier.
    public init() {}

    /// The same image, to be flipped.
    /// - Parameter image: The image as it would be delivered.
    /// - Returns: The image to deliver.
    public func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage {
        image.imageFlippedForRightToLeftLayoutDirection()
    }
}

/// Sets the alignment insets of the delivered image, see `Image.alignmentRectInsets`.
public struct AlignmentRectInsetsImageModifier: ImageModifier {
    /// The insets in points.
    public let alignmentInsets: KFCrossPlatformImage.EdgeInsets

    /// Creates a modifier.
    /// - Parameter alignmentInsets: The insets in points.
    public init(alignmentInsets: KFCrossPlatformImage.EdgeInsets) { self.alignmentInsets = alignmentInsets }

    /// The same image with the insets.
    /// - Parameter image: The image as it would be delivered.
    /// - Returns: The image to deliver.
    public func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage {
        image.withAlignmentRectInsets(alignmentInsets)
    }
}
