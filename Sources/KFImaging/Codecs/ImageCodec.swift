// What a format has to offer. Knows no format.

package import Foundation

/// How data is to be decoded.
package struct DecodingOptions: Sendable, Hashable {
    /// The scale of the image: pixels a point.
    package var scale: CGFloat
    /// A limit on the longer displayed side in pixels.
    ///
    /// Nil decodes every pixel and keeps the orientation as a label; otherwise the image is never enlarged and comes
    /// with orientation `.up`. 0 limits nothing.
    package var maxPixelSize: Int?
    /// What is refused.
    package var limits: ImageDecodingLimits

    package init(scale: CGFloat = 1, maxPixelSize: Int? = nil, limits: ImageDecodingLimits = ImageDecodingLimits()) {
        self.scale = scale
        self.maxPixelSize = maxPixelSize
        self.limits = limits
    }

    /// The size to decode to, for a picture stored in the given one.
    func target(for stored: PixelSize) -> PixelSize {
        Geometry.thumbnail(of: stored, limit: maxPixelSize ?? 0)
    }
}

/// What a codec makes of data.
struct DecodedPicture {
    var bitmap: Bitmap
    var orientation = Orientation.up
    /// Nil for stills.
    var frameCount: Int?
}

/// One format: how its header is read, how it is decoded and encoded.
///
/// The bytes are those of a whole file whose signature has been checked; nothing else about them has.
protocol ImageCodec: SendableMetatype {
    static var contentType: ImageContentType { get }
    /// Reads the header; decodes no pixels.
    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo
    /// Decodes the first picture, to `options.target(for:)`.
    static func decode(_ bytes: UnsafeRawBufferPointer, _ options: DecodingOptions) throws(ImagingError)
        -> DecodedPicture
    /// Encodes an upright bitmap. `quality` is 0…1.
    static func encode(_ bitmap: Bitmap, quality: Double, lossless: Bool) throws(ImagingError) -> Data
}

extension ImageCodec {
    /// Formats that are only read.
    static func encode(_ bitmap: Bitmap, quality: Double, lossless: Bool) throws(ImagingError) -> Data {
        throw .encodingFailed(contentType, detail: "the format can only be read")
    }
}
