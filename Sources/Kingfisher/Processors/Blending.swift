// Processors that lay images over colours and colours over images. The pixel work is in KFImaging.

public import Foundation
import KFImaging

/// Lays images over a colour, by one of CoreGraphics' blend modes.
///
/// Without a background most modes change nothing but the opacity, since there is nothing to blend with.
public struct BlendImageProcessor: ImageProcessor {
    /// Names the mode, the opacity and the background.
    public let identifier: String
    /// How image and background are combined.
    public let blendMode: CGBlendMode
    /// The factor the image's opacity is multiplied by first, 0…1.
    public let alpha: CGFloat
    /// The colour the image is laid over; nil is no colour.
    public let backgroundColor: KFCrossPlatformColor?

    /// Creates a processor.
    public init(blendMode: CGBlendMode, alpha: CGFloat = 1.0, backgroundColor: KFCrossPlatformColor? = nil) {
        self.blendMode = blendMode
        self.alpha = alpha
        self.backgroundColor = backgroundColor
        let background = backgroundColor.map { "_\($0.identifierText)" } ?? ""
        identifier =
            "com.onevcat.Kingfisher.BlendImageProcessor(\(blendMode.rawValue),\(alpha.identifierText))" + background
    }

    /// The blended image; data is decoded first.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?
            .blended(blendMode, alpha: alpha, background: backgroundColor)
    }
}

/// Lays images over a colour, by one of AppKit's compositing operations.
///
/// Without a background most operations change nothing but the opacity, since there is nothing to blend with.
public struct CompositingImageProcessor: ImageProcessor {
    /// Names the operation, the opacity and the background.
    public let identifier: String
    /// How image and background are combined.
    public let compositingOperation: NSCompositingOperation
    /// The factor the image's opacity is multiplied by first, 0…1.
    public let alpha: CGFloat
    /// The colour the image is laid over; nil is no colour.
    public let backgroundColor: KFCrossPlatformColor?

    /// Creates a processor.
    public init(
        compositingOperation: NSCompositingOperation,
        alpha: CGFloat = 1.0,
        backgroundColor: KFCrossPlatformColor? = nil
    ) {
        self.compositingOperation = compositingOperation
        self.alpha = alpha
        self.backgroundColor = backgroundColor
        let background = backgroundColor.map { "_\($0.identifierText)" } ?? ""
        let parameters = "\(compositingOperation.rawValue),\(alpha.identifierText)"
        identifier = "com.onevcat.Kingfisher.CompositingImageProcessor(\(parameters))" + background
    }

    /// The composited image; data is decoded first.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?
            .blended(compositingOperation.blendMode, alpha: alpha, background: backgroundColor)
    }
}

/// Lays a colour over what is visible of images; transparent parts stay transparent.
public struct OverlayImageProcessor: ImageProcessor {
    /// Names the colour and the fraction.
    public let identifier: String
    /// The colour.
    public let overlay: KFCrossPlatformColor
    /// How much of the image shows: 0 is nothing but the colour, 1 is the image as it was.
    public let fraction: CGFloat

    /// Creates a processor.
    public init(overlay: KFCrossPlatformColor, fraction: CGFloat = 0.5) {
        self.overlay = overlay
        self.fraction = fraction
        identifier =
            "com.onevcat.Kingfisher.OverlayImageProcessor(\(overlay.identifierText)_\(fraction.identifierText))"
    }

    /// The image with the colour over it; data is decoded first.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?.overlaid(overlay, fraction: fraction)
    }
}
