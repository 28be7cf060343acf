// Processors that shape an image's corners. The pixels are KFImaging's business.

public import Foundation
import KFImaging

/// Rounds the corners of images.
///
/// The result has transparent corners, or corners of the background colour. Formats without transparency would fill them
/// with white: combine with ``FormatIndicatedCacheSerializer/png`` when the source is a JPEG.
public struct RoundCornerImageProcessor: ImageProcessor {
    /// Names the radius, the size, the corners and the background.
    public let identifier: String
    /// The radius of the corners.
    public let radius: Radius
    /// Which corners are rounded.
    public let roundingCorners: RectCorner
    /// The size in points the image is stretched to first; nil keeps its own.
    public let targetSize: CGSize?
    /// The colour laid under the image, corners included; nil leaves them transparent.
    public let backgroundColor: KFCrossPlatformColor?

    /// Creates a processor.
    ///
    /// - Parameters:
    ///   - cornerRadius: The radius in points; at most half of the shorter side is used.
    ///   - targetSize: The size in points the image is stretched to first; nil keeps its own.
    ///   - corners: Which corners are rounded.
    ///   - backgroundColor: The colour laid under the image; nil leaves the corners transparent.
    public init(
        cornerRadius: CGFloat,
        targetSize: CGSize? = nil,
        roundingCorners corners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil
    ) {
        self.init(
            radius: .point(cornerRadius),
            targetSize: targetSize,
            roundingCorners: corners,
            backgroundColor: backgroundColor
        )
    }

    /// Creates a processor.
    ///
    /// - Parameters:
    ///   - radius: The radius; at most half of the shorter side is used.
    ///   - targetSize: The size in points the image is stretched to first; nil keeps its own.
    ///   - corners: Which corners are rounded.
    ///   - backgroundColor: The colour laid under the image; nil leaves the corners transparent.
    public init(
        radius: Radius,
        targetSize: CGSize? = nil,
        roundingCorners corners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil
    ) {
        self.radius = radius
        self.targetSize = targetSize
        roundingCorners = corners
        self.backgroundColor = backgroundColor
        let size = targetSize.map { "_\($0.identifierText)" } ?? ""
        let background = backgroundColor.map { "_\($0.identifierText)" } ?? ""
        identifier =
            "com.onevcat.Kingfisher.RoundCornerImageProcessor(\(radius.identifierText)\(size)\(corners.identifierText))"
            + background
    }

    /// The image with rounded corners; data is decoded first.
    ///
    /// - Parameters:
    ///   - item: Data to decode or an image.
    ///   - options: Names the scale.
    /// - Returns: The image, or nil for data that cannot be decoded and sizes no bitmap can have.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?
            .roundingCorners(
                radius: radius,
                targetSize: targetSize,
                corners: roundingCorners,
                background: backgroundColor
            )
    }
}
