// The processor that blurs. The pixel work is in KFImaging.

public import Foundation
import KFImaging

/// Blurs images as a Gaussian filter does; the time it takes does not depend on the radius.
public struct BlurImageProcessor: ImageProcessor {
    /// Names the radius.
    public let identifier: String
    /// The standard deviation in points; the image is blurred only if it is above 0.
    public let blurRadius: CGFloat

    /// Creates a processor.
    ///
    /// - Parameter blurRadius: The standard deviation in points.
    public init(blurRadius: CGFloat) {
        self.blurRadius = blurRadius
        identifier = "com.onevcat.Kingfisher.BlurImageProcessor(\(blurRadius.identifierText))"
    }

    /// The blurred image; data is decoded first.
    ///
    /// - Parameters:
    ///   - item: Data to decode or an image.
    ///   - options: Names the scale.
    /// - Returns: The image, or nil for data that cannot be decoded.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?
            .blurred(radius: Double(blurRadius * options.scaleFactor))
    }
}
