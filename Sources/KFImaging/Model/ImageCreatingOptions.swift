// How an image is made of data that may be animated.

public import Foundation

/// How an image is made of data that may hold an animation.
public struct ImageCreatingOptions: Sendable, Hashable {
    /// Pixels a point.
    public var scale: CGFloat
    /// How long a preloaded animation takes once, in seconds; 0 or less takes it from the data.
    public var duration: TimeInterval
    /// Whether all frames are decoded at once, unless they have more pixels together than
    /// ``ImageDecodingLimits/maxAnimationPixelCount`` allows: such an animation is decoded on demand nevertheless.
    public var preloadAll: Bool
    /// Whether only the first frame is needed; this wins over ``preloadAll``.
    public var onlyFirstFrame: Bool

    /// Creates options; by default, frames are decoded on demand.
    public init(
        scale: CGFloat = 1,
        duration: TimeInterval = 0,
        preloadAll: Bool = false,
        onlyFirstFrame: Bool = false
    ) {
        self.scale = scale
        self.duration = duration
        self.preloadAll = preloadAll
        self.onlyFirstFrame = onlyFirstFrame
    }

    /// The options with invalid numbers replaced as images replace them, so that equal options make equal images.
    package var sanitized: Self {
        var options = self
        options.scale = Image.validScale(scale)
        options.duration = duration > 0 ? duration : 0
        return options
    }
}
