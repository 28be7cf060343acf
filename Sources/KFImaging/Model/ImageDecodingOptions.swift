// The options of a decoder (scale, size and limits), and the image that it makes of a file, before that becomes an
// Image.

public import Foundation

/// How data is to be decoded.
public struct ImageDecodingOptions: Sendable, Hashable {
    /// The scale of the image: pixels a point; 1 unless set.
    public var scale: CGFloat
    /// A limit on the longer displayed side in pixels.
    ///
    /// Nil decodes every pixel and keeps the orientation as a label; otherwise the image is never enlarged and comes
    /// with orientation `.up`. 0 limits nothing.
    public var maxPixelSize: Int?
    /// The box that the image is made for, which takes precedence over ``maxPixelSize``.
    package var thumbnail: Thumbnail?
    /// The limits beyond which data is refused.
    public var limits: ImageDecodingLimits

    /// Options of decoding.
    public init(scale: CGFloat = 1, maxPixelSize: Int? = nil, limits: ImageDecodingLimits = .default) {
        self.scale = scale
        self.maxPixelSize = maxPixelSize
        self.limits = limits
    }

    /// Options of decoding for a box: a thumbnail, decoded at a reduced size wherever the format allows that.
    ///
    /// The orientation in the file is applied first, so the box is that of the image as it is displayed.
    ///
    /// - Parameters:
    ///   - width: The width of the box in pixels; 0 or less leaves it free: it follows from the height.
    ///   - height: The height of the box in pixels; 0 or less leaves it free: it follows from the width.
    ///   - mode: How the image is fitted to the box.
    ///   - anchor: The part that ``ThumbnailMode/fill`` keeps.
    ///   - enlarges: Whether smaller images are enlarged; with ``ThumbnailMode/exact`` they always are.
    ///   - space: The numbers that become a mean: amounts of light, or those that files hold.
    ///   - limits: The limits beyond which data is refused.
    /// - Returns: The options, of scale 1.
    public static func thumbnail(
        width: Int,
        height: Int,
        mode: ThumbnailMode = .fit,
        anchor: ThumbnailAnchor = .center,
        enlarges: Bool = false,
        space: WorkingSpace = .linear,
        limits: ImageDecodingLimits = .default
    ) -> Self {
        func side(_ length: Int) -> Int { min(max(length, 0), Int(Int32.max)) }
        let (width, height) = (side(width), side(height))
        var box = Thumbnail(width: width, height: height, mode: mode, anchor: anchor, enlarges: enlarges)
        box.space = space
        var options = Self(limits: limits)
        options.thumbnail = box
        return options
    }

    /// Whether the image is to be upright and perhaps smaller than the one in the data.
    var isReducing: Bool { maxPixelSize != nil || thumbnail != nil }

    /// The size to decode to, for an image that is stored in the given size and still has to be turned.
    func target(for stored: PixelSize, _ orientation: Orientation = .up) -> ScaledSize {
        guard let thumbnail else { return ScaledSize(Geometry.thumbnail(of: stored, limit: maxPixelSize ?? 0)) }
        guard orientation.isTransposing else {
            return ScaledSize(thumbnail.scaled(stored), coverage: thumbnail.coverage, in: thumbnail.space)
        }
        let size = thumbnail.scaled(stored.transposed).transposed
        return ScaledSize(size, coverage: thumbnail.coverage?.transposed, in: thumbnail.space)
    }
}

/// The same, under the name that the codecs use.
package typealias DecodingOptions = ImageDecodingOptions

/// The result of decoding.
struct DecodedImage {
    var bitmap: Bitmap
    var orientation = Orientation.up
    /// Nil for stills.
    var frameCount: Int?
    /// Whether a part of the image, or of the frames after it, is missing or could not be decoded.
    var isDamaged = false
}
