// Processors that rotate, mirror and sharpen images. The pixel work is in KFImaging.

public import Foundation
import KFImaging

/// Rotates images around their centre.
///
/// Rotations by multiples of 90 degrees lose nothing. Other angles mix neighbouring pixels and leave transparent
/// corners: combine them with ``FormatIndicatedCacheSerializer/png`` when the source is a JPEG.
public struct RotationImageProcessor: ImageProcessor {
    /// Names the angle and the canvas.
    public let identifier: String
    /// The angle in radians, counter-clockwise.
    public let angle: CGFloat
    /// Whether the canvas gets as large as the rotated image; it keeps its size otherwise, and corners are cut off.
    public let fitSize: Bool

    /// Creates a processor.
    public init(angle: CGFloat, fitSize: Bool = true) {
        self.angle = angle
        self.fitSize = fitSize
        identifier = "com.onevcat.Kingfisher.RotationImageProcessor(\(angle.identifierText)_\(fitSize))"
    }

    /// The rotated image; data is decoded first.
    ///
    /// Nil, too, for a canvas that no bitmap can have.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?.rotated(by: angle, fits: fitSize)
    }
}

/// Mirrors images.
public struct FlippingImageProcessor: ImageProcessor {
    /// Names the axes.
    public let identifier: String
    /// Whether left and right are exchanged.
    public let horizontal: Bool
    /// Whether top and bottom are exchanged.
    public let vertical: Bool

    /// Creates a processor.
    public init(horizontal: Bool, vertical: Bool) {
        self.horizontal = horizontal
        self.vertical = vertical
        identifier = "com.onevcat.Kingfisher.FlippingImageProcessor(\(horizontal)_\(vertical))"
    }

    /// The mirrored image; data is decoded first.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?
            .flipped(horizontally: horizontal, vertically: vertical)
    }
}

/// Sharpens images by unsharp masking.
public struct SharpeningImageProcessor: ImageProcessor {
    /// Names the size of details and the strength.
    public let identifier: String
    /// How large details are: the standard deviation of a Gaussian, in points.
    public let sigma: CGFloat
    /// How much they are enhanced; 1 doubles them.
    public let amount: CGFloat

    /// Creates a processor.
    public init(sigma: CGFloat, amount: CGFloat = 1) {
        self.sigma = sigma
        self.amount = amount
        identifier =
            "com.onevcat.Kingfisher.SharpeningImageProcessor(\(sigma.identifierText)_\(amount.identifierText))"
    }

    /// The sharpened image; data is decoded first.
    ///
    /// The image itself when sigma or amount is not positive.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?
            .sharpened(sigma: sigma * options.scaleFactor, amount: amount)
    }
}
