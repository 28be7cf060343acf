// Chained methods for the processors that blend, shape, crop and rotate. The parameters are those of the processors.

public import Foundation
import KFImaging

extension KFOptionSetter {
    /// Appends a ``BlendImageProcessor``.
    public func blend(mode: CGBlendMode, alpha: CGFloat = 1, backgroundColor: KFCrossPlatformColor? = nil) -> Self {
        appendProcessor(BlendImageProcessor(blendMode: mode, alpha: alpha, backgroundColor: backgroundColor))
    }

    /// Appends a ``CompositingImageProcessor``.
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
    public func overlay(color: KFCrossPlatformColor, fraction: CGFloat = 0.5) -> Self {
        appendProcessor(OverlayImageProcessor(overlay: color, fraction: fraction))
    }

    /// Appends a ``BorderImageProcessor``.
    public func border(_ border: Border) -> Self { appendProcessor(BorderImageProcessor(border: border)) }

    /// Appends a ``CircleImageProcessor``.
    public func circle(border: Border? = nil) -> Self { appendProcessor(CircleImageProcessor(border: border)) }

    /// Appends a ``CroppingImageProcessor``.
    public func cropping(size: CGSize, anchor: CGPoint = CGPoint(x: 0.5, y: 0.5)) -> Self {
        appendProcessor(CroppingImageProcessor(size: size, anchor: anchor))
    }

    /// Appends a ``RectCroppingImageProcessor``.
    public func cropping(rect: CGRect) -> Self { appendProcessor(RectCroppingImageProcessor(rect: rect)) }

    /// Appends a ``SmartCroppingImageProcessor``.
    public func smartCropping(size: CGSize) -> Self { appendProcessor(SmartCroppingImageProcessor(size: size)) }

    /// Appends a ``TrimmingImageProcessor``.
    public func trimming(tolerance: CGFloat = 0.04) -> Self {
        appendProcessor(TrimmingImageProcessor(tolerance: tolerance))
    }

    /// Appends a ``CanvasResizingImageProcessor``.
    public func canvas(
        size: CGSize,
        scaleMode: ContentMode = .none,
        anchor: CGPoint = CGPoint(x: 0.5, y: 0.5),
        backgroundColor: KFCrossPlatformColor? = nil
    ) -> Self {
        appendProcessor(
            CanvasResizingImageProcessor(
                size: size,
                scaleMode: scaleMode,
                anchor: anchor,
                backgroundColor: backgroundColor
            )
        )
    }

    /// Appends a ``RotationImageProcessor``.
    public func rotation(angle: CGFloat, fitSize: Bool = true) -> Self {
        appendProcessor(RotationImageProcessor(angle: angle, fitSize: fitSize))
    }

    /// Appends a ``FlippingImageProcessor``.
    public func flipping(horizontal: Bool, vertical: Bool) -> Self {
        appendProcessor(FlippingImageProcessor(horizontal: horizontal, vertical: vertical))
    }

    /// Appends a ``SharpeningImageProcessor``.
    public func sharpening(sigma: CGFloat, amount: CGFloat = 1) -> Self {
        appendProcessor(SharpeningImageProcessor(sigma: sigma, amount: amount))
    }
}
