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
