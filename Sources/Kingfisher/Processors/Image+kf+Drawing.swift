// `image.kf` for blending, shapes, cropping and rotation. The pixel work is in KFImaging.

public import Foundation
import KFImaging

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// The image laid over a colour, by one of CoreGraphics' blend modes.
    ///
    /// - Parameters:
    ///   - blendMode: How image and background are combined.
    ///   - alpha: The factor the image's opacity is multiplied by first, 0…1.
    ///   - backgroundColor: The colour the image is laid over; nil is no colour.
    /// - Returns: The new image; the image itself when there is not enough memory.
    public func image(
        withBlendMode blendMode: CGBlendMode,
        alpha: CGFloat = 1.0,
        backgroundColor: KFCrossPlatformColor? = nil
    ) -> KFCrossPlatformImage {
        base.blended(blendMode, alpha: alpha, background: backgroundColor) ?? base
    }

    /// The image laid over a colour, by one of AppKit's compositing operations.
    ///
    /// - Parameters:
    ///   - compositingOperation: How image and background are combined.
    ///   - alpha: The factor the image's opacity is multiplied by first, 0…1.
    ///   - backgroundColor: The colour the image is laid over; nil is no colour.
    /// - Returns: The new image; the image itself when there is not enough memory.
    public func image(
        withCompositingOperation compositingOperation: NSCompositingOperation,
        alpha: CGFloat = 1.0,
        backgroundColor: KFCrossPlatformColor? = nil
    ) -> KFCrossPlatformImage {
        base.blended(compositingOperation.blendMode, alpha: alpha, background: backgroundColor) ?? base
    }

    /// The image with a colour over what is visible of it.
    ///
    /// - Parameters:
    ///   - color: The colour.
    ///   - fraction: How much of the image shows: 0 is nothing but the colour, 1 is the image as it was.
    /// - Returns: The new image; the image itself when there is not enough memory.
    public func overlaying(with color: KFCrossPlatformColor, fraction: CGFloat) -> KFCrossPlatformImage {
        base.overlaid(color, fraction: fraction) ?? base
    }

    /// The image with a line inside its edges.
    ///
    /// - Parameter border: The line.
    /// - Returns: The new image; the image itself when there is not enough memory.
    public func addingBorder(_ border: Border) -> KFCrossPlatformImage { base.bordered(border) ?? base }

    /// The middle of the image as a circle.
    ///
    /// - Parameter border: A line along the rim, half of whose width shows; its radius does not count.
    /// - Returns: The new image; the image itself when there is not enough memory.
    public func circle(border: Border? = nil) -> KFCrossPlatformImage { base.circled(border: border) ?? base }

    /// A part of the image; never enlarged.
    ///
    /// - Parameters:
    ///   - size: The size of the part in points.
    ///   - anchor: Where the part is, 0…1 on each axis: 0 is the left or top edge, 1 the right or bottom one.
    /// - Returns: The part; the image itself when nothing would be left, or when there is not enough memory.
    public func crop(to size: CGSize, anchorOn anchor: CGPoint) -> KFCrossPlatformImage {
        base.cropped(toPoints: size, anchor: anchor) ?? base
    }

    /// The part of the image inside a rectangle.
    ///
    /// - Parameter rect: In points, from the top left corner; it grows to whole pixels and is cut at the edges.
    /// - Returns: The part; the image itself when nothing would be left, or when there is not enough memory.
    public func crop(to rect: CGRect) -> KFCrossPlatformImage { base.cropped(toPoints: rect) ?? base }

    /// The most interesting part of the image; never enlarged.
    ///
    /// - Parameter size: The size of the part in points.
    /// - Returns: The part; the image itself when nothing would be left, or when there is not enough memory.
    public func smartCrop(to size: CGSize) -> KFCrossPlatformImage { base.smartCropped(toPoints: size) ?? base }

    /// Where ``smartCrop(to:)`` finds the most interesting part. (Not in Kingfisher.)
    ///
    /// - Parameter size: The size of the part in points.
    /// - Returns: The part in pixels of the displayed image; nil for a size without area, and when there is not enough
    ///   memory to find it.
    public func smartCropRect(to size: CGSize) -> CGRect? {
        base.smartCropRect(ofPoints: size).map { part in
            CGRect(x: part.x, y: part.y, width: part.size.width, height: part.size.height)
        }
    }

    /// The image without edges that are transparent, or of the colour of its upper left corner.
    ///
    /// - Parameter tolerance: By how much each component of a pixel of an empty edge may differ from the edge's colour,
    ///   0…1.
    /// - Returns: The rest; the image itself when it is nothing but edge, or when there is not enough memory.
    public func trimmed(tolerance: CGFloat = 0.04) -> KFCrossPlatformImage {
        base.trimmed(tolerance: tolerance) ?? base
    }

    /// The image on a canvas of exactly the given size.
    ///
    /// - Parameters:
    ///   - size: The size of the canvas in points.
    ///   - scaleMode: Whether the image is stretched, fitted with transparent margins, or fills the canvas and is cut.
    /// - Returns: The new image; the image itself when no bitmap can have that size.
    public func placed(onCanvas size: CGSize, scaleMode: ContentMode = .none) -> KFCrossPlatformImage {
        base.placed(onPoints: size, mode: scaleMode) ?? base
    }

    /// The image rotated around its centre.
    ///
    /// - Parameters:
    ///   - angle: The angle in radians, counter-clockwise.
    ///   - fitSize: Whether the canvas gets as large as the rotated image; it keeps its size otherwise.
    /// - Returns: The new image; the image itself when no bitmap can have the canvas's size.
    public func rotated(by angle: CGFloat, fitSize: Bool = true) -> KFCrossPlatformImage {
        base.rotated(by: angle, fits: fitSize) ?? base
    }

    /// The image, mirrored.
    ///
    /// - Parameters:
    ///   - horizontal: Whether left and right are exchanged.
    ///   - vertical: Whether top and bottom are exchanged.
    /// - Returns: The new image; the image itself when there is not enough memory.
    public func flipped(horizontal: Bool, vertical: Bool) -> KFCrossPlatformImage {
        base.flipped(horizontally: horizontal, vertically: vertical) ?? base
    }

    /// The image with its details more pronounced.
    ///
    /// - Parameters:
    ///   - sigma: How large details are: the standard deviation of a Gaussian, in *pixels*.
    ///   - amount: How much they are enhanced; 1 doubles them.
    /// - Returns: The new image; the image itself when a number is not positive, or when there is not enough memory.
    public func sharpened(sigma: CGFloat, amount: CGFloat = 1) -> KFCrossPlatformImage {
        base.sharpened(sigma: sigma, amount: amount) ?? base
    }
}
