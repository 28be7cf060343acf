// Processors that change an image's size. The pixel work is in KFImaging.

public import Foundation
import KFImaging

/// Scales images to a size in points.
///
/// Fit and fill keep the proportions; fill does not cut off the parts that stick out. The scale of the options decides
/// how many pixels a point has, and the result has that scale. To make a small image from a large file,
/// ``ThumbnailImageProcessor`` is much faster and needs far less memory.
public struct ResizingImageProcessor: ImageProcessor {
    /// Names the size, the mode, and a filter and a space that are not the default ones.
    public let identifier: String
    /// The size in points.
    public let referenceSize: CGSize
    /// How the image is fitted to the size.
    public let targetContentMode: ContentMode
    /// How the new pixels are made out of the old ones.
    public let filter: ResamplingFilter
    /// The numbers that become a mean: those that files hold, or amounts of light.
    public let space: WorkingSpace

    /// Creates a processor.
    ///
    /// - Parameters:
    ///   - referenceSize: The size in points.
    ///   - mode: How the image is fitted to it; `ContentMode/none` stretches.
    ///   - filter: How the new pixels are made out of the old ones.
    ///   - space: The numbers that become a mean.
    public init(
        referenceSize: CGSize,
        mode: ContentMode = .none,
        filter: ResamplingFilter = .automatic,
        space: WorkingSpace = .encoded
    ) {
        self.referenceSize = referenceSize
        targetContentMode = mode
        self.filter = filter
        self.space = space
        let modeText =
            switch mode {
            case .none: ""
            case .aspectFit: ", aspectFit"
            case .aspectFill: ", aspectFill"
            }
        let filterText = filter == .automatic ? "" : ", \(filter.rawValue)"
        let text = referenceSize.identifierText + modeText + filterText + (space == .linear ? ", linear" : "")
        identifier = "com.onevcat.Kingfisher.ResizingImageProcessor(\(text))"
    }

    /// The image in the new size; data is decoded first.
    ///
    /// Nil, too, for sizes that no bitmap can have.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        guard let image = DefaultImageProcessor.default.process(item: item, options: options) else { return nil }
        return image.kf.resized(to: referenceSize, for: targetContentMode, filter: filter, in: space)
    }
}

/// Decodes images at a reduced size, which is faster and needs less memory than decoding and then resizing.
///
/// Neither side of the result is longer than the longer side of the size: for 50 × 400 points, an image of 16:9 becomes
/// 400 × 225. ``ThumbnailImageProcessor``, in contrast, treats the size as a box. Proportions are kept; images are
/// never enlarged; the orientation in the file is applied.
public struct DownsamplingImageProcessor: ImageProcessor {
    /// The size in points; only its longer side counts.
    public let size: CGSize
    /// Names the size.
    public let identifier: String

    /// Creates a processor.
    public init(size: CGSize) {
        self.size = size
        identifier = "com.onevcat.Kingfisher.DownsamplingImageProcessor(\(size.identifierText))"
    }

    /// The reduced image.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        let limit = longerSide(scale: options.scaleFactor)
        switch item {
        case .image(let image): return image.downsampled(toMaxPixelSize: limit, scale: options.scaleFactor)
        case .data(let data):
            return .downsampled(data, limit: limit, scale: options.scaleFactor, limits: options.limits)
        }
    }
}

extension DownsamplingImageProcessor: SizeLimitingImageProcessor {
    func longerSide(scale: CGFloat) -> Int { Geometry.thumbnailLimit(points: size, scale: scale) }
}
