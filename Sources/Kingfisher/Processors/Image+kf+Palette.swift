// `image.kf` for an image's colours, and for hashes that stand for it. The pixel work is in KFImaging.

public import Foundation
import KFImaging

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// The mean of all colours, each weighted with its opacity; its own opacity is the mean one.
    ///
    /// Nil for an empty image. Looks at every pixel.
    public var averageColor: KFCrossPlatformColor? { base.averageColor }

    /// The mean of the most frequent colours, where colours are distinguished by the upper five bits of each component.
    ///
    /// Nil for an empty image, and for one that has no pixel at least half opaque. Looks at every pixel.
    public var dominantColor: KFCrossPlatformColor? { base.dominantColor }

    /// The colour at a point of the image as it is shown.
    ///
    /// - Parameter point: In points, from the top left corner.
    /// - Returns: The colour; nil outside of the image.
    public func color(at point: CGPoint) -> KFCrossPlatformColor? { base.color(at: point) }

    /// The colours inside a rectangle of the image as it is shown.
    ///
    /// - Parameter rect: In points, from the top left corner; it grows to whole pixels and is cut at the edges.
    /// - Returns: The colours, row by row; none when the rectangle is outside of the image.
    public func colors(in rect: CGRect) -> [KFCrossPlatformColor] { base.colors(in: rect) }

    /// The image's BlurHash: a short text that holds a very blurred copy, transparent parts laid over white.
    ///
    /// `Image(blurHash:size:punch:)` makes an image of it.
    ///
    /// - Parameter components: How many details are kept on each axis, 1…9.
    /// - Returns: The text; nil for an empty image and for other numbers.
    public func blurHash(components: (Int, Int) = (4, 3)) -> String? {
        base.blurHash(components: (x: components.0, y: components.1))
    }

    /// 64 bits by which images that look alike are found; nil for an empty image, and without memory. (Not in
    /// Kingfisher.)
    public var perceptualHash: PerceptualHash? { base.perceptualHash }

    /// The image's ThumbHash: some 25 bytes that hold a very blurred copy, its proportions and its transparency.
    ///
    /// `Image(thumbHash:)` makes an image of them.
    ///
    /// - Returns: The bytes; nil for an empty image.
    public func thumbHash() -> Data? { base.thumbHash() }
}
