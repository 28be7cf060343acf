// Processors that shape an image's edges: rounded corners, borders and circles. The pixel work is in KFImaging.

public import Foundation
import KFImaging

/// Rounds the corners of images.
///
/// The result has transparent corners, or corners of the background colour. Formats without transparency would fill
/// them with white: combine with ``FormatIndicatedCacheSerializer/png`` when the source is a JPEG.
public struct RoundCornerImageProcessor: ImageProcessor {
    /// Names the radius, the size, the corners and the background.
    public let identifier: String
    /// The radius of the corners; at most half of the shorter side is used.
    public let radius: Radius
    /// Which corners are rounded.
    public let roundingCorners: RectCorner
    /// The size in points the image is stretched to first; nil keeps its own.
    public let targetSize: CGSize?
    /// The colour laid under the image, corners included; nil leaves them transparent.
    public let backgroundColor: KFCrossPlatformColor?
    /// A line along the outline, half of whose width shows; its radius does not count.
    public let border: Border?

    /// Creates a processor with a radius in points.
    public init(
        cornerRadius: CGFloat,
        targetSize: CGSize? = nil,
        roundingCorners corners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil,
        border: Border? = nil
    ) {
        self.init(
            radius: .point(cornerRadius),
            targetSize: targetSize,
            roundingCorners: corners,
            backgroundColor: backgroundColor,
            border: border
        )
    }

    /// Creates a processor.
    public init(
        radius: Radius,
        targetSize: CGSize? = nil,
        roundingCorners corners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil,
        border: Border? = nil
    ) {
        self.radius = radius
        self.targetSize = targetSize
        roundingCorners = corners
        self.backgroundColor = backgroundColor
        self.border = border
        let size = targetSize.map { "_\($0.identifierText)" } ?? ""
        let background = backgroundColor.map { "_\($0.identifierText)" } ?? ""
        identifier =
            "com.onevcat.Kingfisher.RoundCornerImageProcessor(\(radius.identifierText)\(size)\(corners.identifierText))"
            + background + (border.map { "_border(\($0.lineText))" } ?? "")
    }

    /// The image with rounded corners; data is decoded first.
    ///
    /// Nil, too, for sizes that no bitmap can have.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?
            .roundingCorners(
                radius: radius,
                targetSize: targetSize,
                corners: roundingCorners,
                background: backgroundColor,
                border: border
            )
    }
}

/// Draws a line inside the edges of images.
///
/// The part outside a rounded line stays visible: round the corners as well to cut it off.
public struct BorderImageProcessor: ImageProcessor {
    /// Names the line: its colour, width, radius and corners.
    public let identifier: String
    /// The line.
    public let border: Border

    /// Creates a processor.
    public init(border: Border) {
        self.border = border
        identifier = "com.onevcat.Kingfisher.BorderImageProcessor(\(border.identifierText))"
    }

    /// The image with the line; data is decoded first.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?.bordered(border)
    }
}

/// Cuts the middle of images to a circle.
///
/// The part outside is transparent: combine with ``FormatIndicatedCacheSerializer/png`` when the source is a JPEG.
public struct CircleImageProcessor: ImageProcessor {
    /// Names the line, if there is one.
    public let identifier: String
    /// A line along the rim, half of whose width shows; its radius does not count.
    public let border: Border?

    /// Creates a processor.
    public init(border: Border? = nil) {
        self.border = border
        let text = border.map { "(\($0.lineText))" } ?? ""
        identifier = "com.onevcat.Kingfisher.CircleImageProcessor" + text
    }

    /// The circle; data is decoded first.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?.circled(border: border)
    }
}

extension Border {
    /// The line without its shape, in a cache identifier.
    fileprivate var lineText: String { "\(color.identifierText)_\(lineWidth.identifierText)" }
}
