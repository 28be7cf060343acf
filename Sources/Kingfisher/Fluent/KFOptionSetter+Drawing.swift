// Chained methods for the processors that blend, shape, crop and rotate.

public import Foundation
import KFImaging

extension KFOptionSetter {
    /// Appends a ``BlendImageProcessor``.
    ///
    /// - Parameters:
    ///   - mode: How image and background are combined.
    ///   - alpha: The factor the image's opacity is multiplied by first, 0…1.
    ///   - backgroundColor: The colour the image is laid over; nil is none.
    /// - Returns: The changed copy.
    public func blend(mode: CGBlendMode, alpha: CGFloat = 1, backgroundColor: KFCrossPlatformColor? = nil) -> Self {
        appendProcessor(BlendImageProcessor(blendMode: mode, alpha: alpha, backgroundColor: backgroundColor))
    }

    /// Appends a ``CompositingImageProcessor``.
    ///
    /// - Parameters:
    ///   - operation: How image and background are combined.
    ///   - alpha: The factor the image's opacity is multiplied by first, 0…1.
    ///   - backgroundColor: The colour the image is laid over; nil is none.
    /// - Returns: The changed copy.
    public func compositing(
        operation: NSCompositingOperation,
        alpha: CGFloat = 1,
        backgroundColor: KFCrossPlatformColor? = nil
    ) -> Self {
        appendProcessor(
            CompositingImageProcessor(compositingOperation: operation, alpha: alpha, backgroundColor: backgroundColor)
        )
    }

    /// Appends an ``OverlayImageProcessor``.
    ///
    /// - Parameters:
    ///   - color: The colour.
    ///   - fraction: How much of the image shows: 0 is nothing but the colour, 1 is the image as it was.
    /// - Returns: The changed copy.
    public func overlay(color: KFCrossPlatformColor, fraction: CGFloat = 0.5) -> Self {
        appendProcessor(OverlayImageProcessor(overlay: color, fraction: fraction))
    }

    /// Appends a ``BorderImageProcessor``.
    ///
    /// - Parameter border: The line.
    /// - Returns: The changed copy.
    public func border(_ border: Border) -> Self { appendProcessor(BorderImageProcessor(border: border)) }

    /// Appends a ``CircleImageProcessor``.
    ///
    /// - Parameter border: A line along the rim, half of whose width shows.
    /// - Returns: The changed copy.
    public func circle(border: Border? = nil) -> Self { appendProcessor(CircleImageProcessor(border: border)) }

    /// Appends a ``CroppingImageProcessor``.
    ///
    /// - Parameters:
    ///   - size: The size of the part in points.
    ///   - anchor: Where the part is, 0…1 on each axis: 0 is the left or top edge, 1 the right or bottom one.
    /// - Returns: The changed copy.
    public func cropping(size: CGSize, anchor: CGPoint = CGPoint(x: 0.5, y: 0.5)) -> Self {
        appendProcessor(CroppingImageProcessor(size: size, anchor: anchor))
    }

    /// Appends a ``RectCroppingImageProcessor``.
    ///
    /// - Parameter rect: The rectangle in points, from the top left corner.
    /// - Returns: The changed copy.
    public func cropping(rect: CGRect) -> Self { appendProcessor(RectCroppingImageProcessor(rect: rect)) }

    /// Appends a ``SmartCroppingImageProcessor``.
    ///
    /// - Parameter size: The size of the part in points.
    /// - Returns: The changed copy.
    public func smartCropping(size: CGSize) -> Self { appendProcessor(SmartCroppingImageProcessor(size: size)) }

    /// Appends a ``TrimmingImageProcessor``.
    ///
    /// - Parameter tolerance: By how much each component of a pixel may differ from emptiness, 0…1.
    /// - Returns: The changed copy.
    public func trimming(tolerance: CGFloat = 0.04) -> Self {
        appendProcessor(TrimmingImageProcessor(tolerance: tolerance))
    }

    /// Appends a ``CanvasResizingImageProcessor``.
    ///
    /// - Parameters:
    ///   - size: The size of the canvas in points.
    ///   - scaleMode: How the image is fitted to it.
    /// - Returns: The changed copy.
    public func canvas(size: CGSize, scaleMode: ContentMode = .none) -> Self {
        appendProcessor(CanvasResizingImageProcessor(size: size, scaleMode: scaleMode))
    }

    /// Appends a ``RotationImageProcessor``.
    ///
    /// - Parameters:
    ///   - angle: The angle in radians, counter-clockwise.
    ///   - fitSize: Whether the canvas gets as large as the rotated image.
    /// - Returns: The changed copy.
    public func rotation(angle: CGFloat, fitSize: Bool = true) -> Self {
        appendProcessor(RotationImageProcessor(angle: angle, fitSize: fitSize))
    }

    /// Appends a ``FlippingImageProcessor``.
    ///
    /// - Parameters:
    ///   - horizontal: Whether left and right are exchanged.
    ///   - vertical: Whether top and bottom are exchanged.
    /// - Returns: The changed copy.
    public func flipping(horizontal: Bool, vertical: Bool) -> Self {
        appendProcessor(FlippingImageProcessor(horizontal: horizontal, vertical: vertical))
    }

    /// Appends a ``SharpeningImageProcessor``.
    ///
    /// - Parameters:
    ///   - sigma: How large details are: the standard deviation of a Gaussian, in points.
    ///   - amount: How much they are enhanced; 1 doubles them.
    /// - Returns: The changed copy.
    public func sharpening(sigma: CGFloat, amount: CGFloat = 1) -> Self {
        appendProcessor(SharpeningImageProcessor(sigma: sigma, amount: amount))
    }
}
