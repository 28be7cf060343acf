// The processors that blur. The pixel work is in KFImaging.

public import Foundation
import KFImaging

/// Blurs images as a Gaussian filter does; the time it takes does not depend on the radius.
public struct BlurImageProcessor: ImageProcessor {
    /// Names the radius.
    public let identifier: String
    /// The standard deviation in points, which counts as two if it is less; the image is blurred only if it is above 0.
    ///
    /// That is Kingfisher's rule; ``GaussianBlurImageProcessor`` keeps smaller deviations.
    public let blurRadius: CGFloat

    /// Creates a processor.
    public init(blurRadius: CGFloat) {
        self.blurRadius = blurRadius
        identifier = "com.onevcat.Kingfisher.BlurImageProcessor(\(blurRadius.identifierText))"
    }

    /// The blurred image; data is decoded first.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?
            .blurred(radius: Double(blurRadius * options.scaleFactor))
    }
}

/// Blurs images by a Gaussian whose standard deviation is kept, also a small one. (Not in Kingfisher.)
public struct GaussianBlurImageProcessor: ImageProcessor {
    /// Names the standard deviation.
    public let identifier: String
    /// The standard deviation in points; below a tenth of a pixel nothing changes.
    public let sigma: CGFloat

    /// Creates a processor.
    public init(sigma: CGFloat) {
        self.sigma = sigma
        identifier = "com.onevcat.Kingfisher.GaussianBlurImageProcessor(\(sigma.identifierText))"
    }

    /// The blurred image; data is decoded first.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?
            .gaussianBlurred(sigma: Double(sigma * options.scaleFactor))
    }
}
