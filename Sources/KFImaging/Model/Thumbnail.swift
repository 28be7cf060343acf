// The box that a thumbnail fits into or fills: sizes and places, in pixels.

public import Foundation

/// How a thumbnail fills its box.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ThumbnailMode: String, Sendable, Hashable, CaseIterable {
    /// All of the image, as large as possible within the box.
    case fit
    /// The box is covered, and parts beyond it are cut off. Of a smaller image that is not enlarged, a part in the
    /// proportions of the box is kept.
    case fill
    /// The box is covered, and nothing is cut off: the other side may be longer than the box's. (Not in Kingfisher.)
    case cover
    /// Stretched to exactly the box, whatever happens to the proportions; smaller images are always enlarged.
    case exact
}

/// Which part of an image a thumbnail that fills its box keeps.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ThumbnailAnchor: Sendable, Hashable {
    /// A relative place, 0…1 on each axis: 0 keeps the left or top edge, 1 the right or bottom one.
    case point(CGPoint)
    /// The part that people look at: detail, saturated colours, skin.
    case smart

    /// The middle.
    public static let center = ThumbnailAnchor.point(CGPoint(x: 0.5, y: 0.5))
}

/// A box in pixels, and how images are fitted into it.
package struct Thumbnail: Sendable, Hashable {
    /// 0 leaves a side free: it follows from the other one and the proportions of the image.
    package var width: Int
    package var height: Int
    package var mode: ThumbnailMode
    package var anchor: ThumbnailAnchor
    package var enlarges: Bool
    /// The shares of the displayed width and height that the scaled image shows, see ``ScaledSize``; nil is all of
    /// both.
    package var coverage: PixelExtent?
    /// Whether pixels are averaged in linear light, or as encoded sRGB.
    package var space = WorkingSpace.encoded

    package init(width: Int, height: Int, mode: ThumbnailMode, anchor: ThumbnailAnchor, enlarges: Bool) {
        self.width = width
        self.height = height
        self.mode = mode
        self.anchor = anchor
        self.enlarges = enlarges || mode == .exact
    }

    /// The size of the whole image as it is displayed, before anything is cut off.
    package func scaled(_ original: PixelSize) -> PixelSize {
        var (x, y) = (scale(width, original.width), scale(height, original.height))
        switch mode {
        case .fit: (x, y) = (min(x, y), min(x, y))
        case .fill where width > 0 && height > 0, .cover where width > 0 && height > 0: (x, y) = (max(x, y), max(x, y))
        case .fill, .cover, .exact: (x, y) = (min(x, width > 0 ? x : y), min(y, height > 0 ? y : x))
        }
        func side(_ length: Int, _ scale: Double) -> Int {
            Int(min((Double(length) * (enlarges ? scale : min(scale, 1))).rounded(), Double(Int32.max)))
        }
        return width > 0 || height > 0 ? PixelSize(side(original.width, x), side(original.height, y)) : original
    }

    private func scale(_ side: Int, _ length: Int) -> Double {
        side > 0 ? Double(side) / Double(length) : .infinity
    }

    /// Whether an image of this size, as it is displayed, is too small for the box, and is not enlarged.
    package func isTooLarge(for original: PixelSize) -> Bool {
        let enlarging = Thumbnail(width: width, height: height, mode: mode, anchor: anchor, enlarges: true)
        return scaled(original) != enlarging.scaled(original)
    }

    /// Throws when an image of this size, as it is displayed, would become larger than is allowed.
    package func check(enlarging original: PixelSize, _ limits: ImageDecodingLimits) throws(ImagingError) {
        let size = scaled(original)
        if enlarges { try limits.check(width: size.width, height: size.height) }
    }

    /// The size of the part that is kept of a scaled image: the box, in its proportions if the image is smaller.
    package func kept(of scaled: PixelSize) -> PixelSize {
        guard mode == .fill, width > 0, height > 0 else { return scaled }
        let scale = min(1, Double(scaled.width) / Double(width), Double(scaled.height) / Double(height))
        func side(_ length: Int, _ limit: Int) -> Int { min(Int((Double(length) * scale).rounded()), limit) }
        return PixelSize(side(width, scaled.width), side(height, scaled.height))
    }
}
