// `image.kf`, `size.kf` and `data.kf`: the operations of processors, as methods of images, sizes and data; and the
// formats newer than PNG, JPEG and GIF.

public import Foundation
import KFImaging

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// An image that looks the same, with its pixels stored the way they are shown: orientation `.up`.
    public var normalized: KFCrossPlatformImage { base.normalized }

    /// The same pixels under another scale, and the same frames; the image itself when nothing changes.
    ///
    /// - Parameter scale: Pixels a point; 1 in place of anything but a positive number.
    /// - Returns: The new image.
    public func scaled(to scale: CGFloat) -> KFCrossPlatformImage { base.withScale(scale) }

    /// The image as PNG, the way it is shown; nil for an empty image.
    public func pngRepresentation() -> Data? { base.pngData() }

    /// The image as JPEG, the way it is shown, transparent parts on white; nil for an empty image.
    ///
    /// - Parameter compressionQuality: From 0 to 1.
    /// - Returns: The file's bytes.
    public func jpegRepresentation(compressionQuality: CGFloat) -> Data? {
        base.jpegData(compressionQuality: compressionQuality)
    }

    /// How much of this image's quality another one has left, as people judge it: the score of SSIMULACRA 2.
    ///
    /// 100 for equal images; no difference is seen from about 90 on, 70 is good, 50 is fair, and there is no lower end.
    /// It blocks the thread, some 50 ms a megapixel. (Not in Kingfisher.)
    ///
    /// - Parameter other: The image that was made of this one, in the same size as it is displayed.
    /// - Returns: The score; nil for images of different sizes, empty ones, and without memory.
    public func similarity(to other: KFCrossPlatformImage) -> Double? { base.similarity(to: other) }

    /// The image stretched to a size.
    ///
    /// - Parameter size: In points.
    /// - Returns: The new image; the image itself when no bitmap can have that size.
    public func resize(to size: CGSize) -> KFCrossPlatformImage { base.resized(toPoints: size) ?? base }

    /// The image fitted to a size.
    ///
    /// - Parameters:
    ///   - targetSize: In points.
    ///   - contentMode: How the image is fitted.
    ///   - filter: How the new pixels are made out of the old ones.
    /// - Returns: The new image; the image itself when no bitmap can have that size.
    public func resize(
        to targetSize: CGSize,
        for contentMode: ContentMode,
        filter: ResamplingFilter = .automatic
    ) -> KFCrossPlatformImage {
        resized(to: targetSize, for: contentMode, filter: filter) ?? base
    }

    /// The image fitted to a size, or nil when no bitmap can have that size.
    func resized(
        to targetSize: CGSize,
        for contentMode: ContentMode,
        filter: ResamplingFilter,
        in space: WorkingSpace = .encoded
    ) -> KFCrossPlatformImage? {
        base.resized(toPoints: base.size.resized(to: targetSize, for: contentMode), filter: filter, in: space)
    }

    /// The image with rounded corners.
    ///
    /// - Parameters:
    ///   - radius: The radius; at most half of the shorter side is used.
    ///   - size: The size in points the image is stretched to first.
    ///   - corners: Which corners are rounded.
    ///   - backgroundColor: The colour laid under the image; nil leaves the corners transparent.
    /// - Returns: The new image; the image itself when no bitmap can have that size.
    public func image(
        withRadius radius: Radius,
        fit size: CGSize,
        roundingCorners corners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil
    ) -> KFCrossPlatformImage {
        base.roundingCorners(radius: radius, targetSize: size, corners: corners, background: backgroundColor) ?? base
    }

    /// The image with rounded corners.
    ///
    /// - Parameters:
    ///   - radius: The radius in points; at most half of the shorter side is used.
    ///   - size: The size in points the image is stretched to first.
    ///   - corners: Which corners are rounded.
    ///   - backgroundColor: The colour laid under the image; nil leaves the corners transparent.
    /// - Returns: The new image; the image itself when no bitmap can have that size.
    public func image(
        withRoundRadius radius: CGFloat,
        fit size: CGSize,
        roundingCorners corners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil
    ) -> KFCrossPlatformImage {
        image(withRadius: .point(radius), fit: size, roundingCorners: corners, backgroundColor: backgroundColor)
    }

    /// The image that some bytes decode to, at a reduced size.
    ///
    /// - Parameters:
    ///   - data: The bytes of an image file.
    ///   - pointSize: The size in points; only its longer side counts.
    ///   - scale: Pixels a point, also the scale of the result.
    /// - Returns: The image, or nil for bytes that cannot be decoded.
    public static func downsampledImage(data: Data, to pointSize: CGSize, scale: CGFloat) -> KFCrossPlatformImage? {
        .downsampled(data, limit: Geometry.thumbnailLimit(points: pointSize, scale: scale), scale: scale)
    }
}

extension Image {
    /// The still that some bytes decode to, upright and its longer side limited; nil for bytes that cannot be decoded.
    ///
    /// A limit of 0 limits nothing; the result still counts as a thumbnail.
    static func downsampled(
        _ data: Data,
        limit: Int,
        scale: CGFloat,
        limits: ImageDecodingLimits = .default
    ) -> Image? {
        try? Codecs.decode(data, options: DecodingOptions(scale: scale, maxPixelSize: limit, limits: limits))
    }
}

extension KingfisherWrapper where Base == CGSize {
    /// The size an image of this size gets when it is fitted to another.
    ///
    /// - Parameters:
    ///   - size: The other size.
    ///   - contentMode: How it is fitted; `ContentMode/none` gives the other size itself.
    /// - Returns: The resulting size.
    public func resize(to size: CGSize, for contentMode: ContentMode) -> CGSize {
        base.resized(to: size, for: contentMode)
    }

    /// The largest size of the same proportions within another.
    ///
    /// - Parameter size: The other size.
    /// - Returns: The resulting size, no side below 1.
    public func constrained(_ size: CGSize) -> CGSize { base.constrained(size) }

    /// The smallest size of the same proportions that covers another.
    ///
    /// - Parameter size: The other size.
    /// - Returns: The resulting size, no side below 1.
    public func filling(_ size: CGSize) -> CGSize { base.filling(size) }

    /// A rectangle of the given size at a relative position in this size, cut at the edges.
    ///
    /// - Parameters:
    ///   - size: The size of the rectangle.
    ///   - anchor: 0…1 on each axis: 0 is the left or top edge, 1 the right or bottom one.
    /// - Returns: The rectangle.
    public func constrainedRect(for size: CGSize, anchor: CGPoint) -> CGRect {
        base.constrainedRect(for: size, anchor: anchor)
    }
}

extension KingfisherWrapper where Base == Data {
    /// The format that the first bytes show; there must be more than eight of them.
    public var imageFormat: ImageFormat { ImageFormat(sniffing: base) }
}

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// The image as WebP, the way it is shown; an animation becomes an animated WebP.
    ///
    /// An animated WebP that has not been changed is returned as its original bytes.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 1; ignored when `lossless` is true.
    ///   - lossless: Whether to encode without loss.
    /// - Returns: The file's bytes; nil for an empty image, and one with a side of more than 16,383 pixels.
    public func webPRepresentation(quality: CGFloat = 0.85, lossless: Bool = false) -> Data? {
        base.encoded(as: .webp, quality: Double(quality), lossless: lossless)
    }

    /// The image as AVIF, the way it is shown; the first frame of an animation.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 1; ignored when `lossless` is true.
    ///   - lossless: Whether to encode without loss.
    /// - Returns: The file's bytes; nil for an empty image, and where the system's libavif has no encoder.
    public func avifRepresentation(quality: CGFloat = 0.85, lossless: Bool = false) -> Data? {
        base.encoded(as: .avif, quality: Double(quality), lossless: lossless)
    }
}
