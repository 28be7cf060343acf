// Processors that cut images. The pixel work is in KFImaging.

public import Foundation
import KFImaging

/// Cuts a part of a given size out of images, at a relative position; never enlarges.
public struct CroppingImageProcessor: ImageProcessor {
    /// Names the size and the position.
    public let identifier: String
    /// The size of the part in points; it is limited to the size of the image.
    public let size: CGSize
    /// Where the part is, 0…1 on each axis: 0 is the left or top edge, 1 the right or bottom one.
    public let anchor: CGPoint

    /// Creates a processor.
    public init(size: CGSize, anchor: CGPoint = CGPoint(x: 0.5, y: 0.5)) {
        self.size = size
        self.anchor = anchor
        identifier =
            "com.onevcat.Kingfisher.CroppingImageProcessor(\(size.identifierText)_\(anchor.identifierText))"
    }

    /// The part; data is decoded first.
    ///
    /// An empty part is the whole image.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?.cropped(toPoints: size, anchor: anchor)
    }
}

/// Cuts a rectangle out of images.
public struct RectCroppingImageProcessor: ImageProcessor {
    /// Names the rectangle.
    public let identifier: String
    /// The rectangle in points, from the top left corner of the displayed image; it grows to whole pixels and is cut at
    /// the edges.
    public let rect: CGRect

    /// Creates a processor.
    public init(rect: CGRect) {
        self.rect = rect
        let text = "\(rect.origin.identifierText)_\(rect.size.identifierText)"
        identifier = "com.onevcat.Kingfisher.RectCroppingImageProcessor(\(text))"
    }

    /// The part inside the rectangle; data is decoded first.
    ///
    /// An empty part is the whole image.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?.cropped(toPoints: rect)
    }
}

/// Cuts the most interesting part out of images: where there is detail, saturated colour, or skin.
///
/// The part is not scaled: scale images to about the desired size first, with a ``ResizingImageProcessor`` that fills
/// it.
public struct SmartCroppingImageProcessor: ImageProcessor {
    /// Names the size.
    public let identifier: String
    /// The size of the part in points; it is limited to the size of the image.
    public let size: CGSize

    /// Creates a processor.
    public init(size: CGSize) {
        self.size = size
        identifier = "com.onevcat.Kingfisher.SmartCroppingImageProcessor(\(size.identifierText))"
    }

    /// The part; data is decoded first.
    ///
    /// An empty part is the whole image.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?.smartCropped(toPoints: size)
    }
}

/// Removes edges that are transparent, or of the colour of the upper left corner.
public struct TrimmingImageProcessor: ImageProcessor {
    /// Names the tolerance.
    public let identifier: String
    /// By how much each component of a pixel of an empty edge may differ from the edge's colour, 0…1.
    public let tolerance: CGFloat

    /// Creates a processor.
    public init(tolerance: CGFloat = 0.04) {
        self.tolerance = tolerance
        identifier = "com.onevcat.Kingfisher.TrimmingImageProcessor(\(tolerance.identifierText))"
    }

    /// The image without those edges; data is decoded first.
    ///
    /// An image that has nothing but such edges is not changed.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?.trimmed(tolerance: tolerance)
    }
}

/// Places images on a canvas of exactly the given size.
public struct CanvasResizingImageProcessor: ImageProcessor {
    /// Names the size and the mode, and an anchor and a background that are not the default ones.
    public let identifier: String
    /// The size of the canvas in points.
    public let size: CGSize
    /// How the image is fitted to it.
    public let scaleMode: ContentMode
    /// Where on the canvas the image is, or which part of it is kept, 0…1 on each axis: 0 is the left or top edge, 1
    /// the right or bottom one.
    public let anchor: CGPoint
    /// The colour of the canvas, which transparent parts of the image show too; nil is no colour.
    public let backgroundColor: KFCrossPlatformColor?

    /// Creates a processor.
    public init(
        size: CGSize,
        scaleMode: ContentMode = .none,
        anchor: CGPoint = CGPoint(x: 0.5, y: 0.5),
        backgroundColor: KFCrossPlatformColor? = nil
    ) {
        self.size = size
        self.scaleMode = scaleMode
        self.anchor = anchor
        self.backgroundColor = backgroundColor
        let mode =
            switch scaleMode {
            case .none: ""
            case .aspectFit: ", aspectFit"
            case .aspectFill: ", aspectFill"
            }
        let place = anchor == CGPoint(x: 0.5, y: 0.5) ? "" : ", \(anchor.identifierText)"
        let background = backgroundColor.map { "_\($0.identifierText)" } ?? ""
        identifier =
            "com.onevcat.Kingfisher.CanvasResizingImageProcessor(\(size.identifierText)\(mode)\(place))" + background
    }

    /// The canvas; data is decoded first.
    ///
    /// Nil, too, for sizes that no bitmap can have.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?
            .placed(onPoints: size, mode: scaleMode, anchor: anchor, background: backgroundColor)
    }
}
