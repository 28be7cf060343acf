// The processor for thumbnails in a box. The pixel work is in KFImaging.

public import Foundation
public import KFImaging

/// Makes thumbnails: images that fit into a box, or fill it, decoded at a reduced size wherever the format allows that.
///
/// The orientation in the file is applied first, so the box is that of the image as it is displayed. Unless
/// ``enlarges`` is true, a smaller image keeps its size, or with `ThumbnailMode.fill` is cut to the proportions of
/// the box; with `ThumbnailMode.exact` the result always has the size of the box. Drawings (SVG) are always drawn at
/// the size of the box.
///
/// ```swift
/// // 300 × 200 points, cut where there is least to see.
/// ThumbnailImageProcessor(size: CGSize(width: 300, height: 200), mode: .fill, anchor: .smart)
/// // 300 points wide, as high as the proportions require.
/// ThumbnailImageProcessor(size: CGSize(width: 300, height: 0))
/// ```
public struct ThumbnailImageProcessor: ImageProcessor {
    /// The box in points; the scale of the options decides how many pixels that are.
    ///
    /// A side of 0 is free: it follows from the other one and the proportions of the image.
    public let size: CGSize
    /// How the image is fitted to the box.
    public let mode: ThumbnailMode
    /// The part that `ThumbnailMode.fill` keeps.
    public let anchor: ThumbnailAnchor
    /// Whether smaller images are enlarged; with `ThumbnailMode.exact` they always are.
    public let enlarges: Bool
    /// The numbers that become a mean: amounts of light, or those that files hold.
    public let space: WorkingSpace
    /// Names the box, and the mode, the anchor, enlarging and the space where they are not the default ones.
    public let identifier: String

    /// Creates a processor.
    ///
    /// - Parameters:
    ///   - size: The box in points. A side that is 0, negative or not a finite number is free: it follows from the
    ///     other one and the proportions of the image.
    ///   - mode: How the image is fitted to the box.
    ///   - anchor: The part that `ThumbnailMode.fill` keeps. In an animation, `ThumbnailAnchor.smart` keeps the
    ///     part of all frames that is right for the first one.
    ///   - enlarges: Whether smaller images are enlarged; with `ThumbnailMode.exact` they always are.
    ///   - space: The numbers that become a mean. With amounts of light fine bright lines stay as bright as they are;
    ///     encoded numbers, which most programs take, make them darker.
    public init(
        size: CGSize,
        mode: ThumbnailMode = .fit,
        anchor: ThumbnailAnchor = .center,
        enlarges: Bool = false,
        space: WorkingSpace = .linear
    ) {
        self.size = size
        self.mode = mode
        self.anchor = anchor
        self.enlarges = enlarges
        self.space = space
        var text = size.identifierText
        if mode != .fit { text += ", \(mode.rawValue)" }
        if mode == .fill {
            switch anchor {
            case .smart: text += ", smart"
            case .point(let place): text += anchor == .center ? "" : ", \(place.identifierText)"
            }
        }
        if enlarges { text += ", enlarging" }
        if space == .encoded { text += ", encoded" }
        identifier = "com.onevcat.Kingfisher.ThumbnailImageProcessor(\(text))"
    }

    /// A processor of views for a box in pixels, whose identifier names pixels and the scale.
    init(pixelWidth: Int, pixelHeight: Int, mode: ThumbnailMode, scale: CGFloat) {
        size = CGSize(width: CGFloat(pixelWidth) / scale, height: CGFloat(pixelHeight) / scale)
        (self.mode, anchor, enlarges, space) = (mode, .center, false, .encoded)
        let text =
            "\(pixelWidth)×\(pixelHeight) px, \(mode.rawValue)" + (scale == 1 ? "" : ", \(scale.identifierText)x")
        identifier = "com.onevcat.Kingfisher.ThumbnailImageProcessor(\(text))"
    }

    /// The thumbnail.
    ///
    /// Nil, too, for a box that no bitmap can have.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        box(options).process(item: item, options: options)
    }

    /// The thumbnail of the mode `ThumbnailMode.exact` that shows some of the image, around its middle.
    ///
    /// - Parameters:
    ///   - item: Data to decode small, or an image to make smaller.
    ///   - coverage: The shares of width and height that are shown, above 0 and at most 2: less than 1 where a rounded
    ///     side is a little too short for the proportions of the image, more where it is too long.
    ///   - options: Names the scale.
    /// - Returns: The image, or nil as for ``process(item:options:)``.
    @_spi(Server) public func process(
        item: ImageProcessItem,
        covering coverage: CGSize,
        options: KingfisherParsedOptionsInfo
    ) -> KFCrossPlatformImage? {
        var box = box(options)
        box.thumbnail.coverage = PixelExtent(width: coverage.width, height: coverage.height)
        return box.process(item: item, options: options)
    }

    private func box(_ options: KingfisherParsedOptionsInfo) -> ThumbnailBox {
        func side(_ points: CGFloat) -> Int {
            let pixels = points * options.scaleFactor
            return pixels.isFinite && pixels > 0 ? max(1, Int(min(pixels.rounded(), CGFloat(Int32.max)))) : 0
        }
        var thumbnail = Thumbnail(
            width: side(size.width),
            height: side(size.height),
            mode: mode,
            anchor: anchor,
            enlarges: enlarges
        )
        thumbnail.space = space
        return ThumbnailBox(thumbnail: thumbnail, identifier: identifier)
    }
}

extension ThumbnailImageProcessor: PartFindingImageProcessor {
    /// The processor for the most interesting part of the first frame.
    public func resolved(for frames: any ImageFrameSource, _ options: KingfisherParsedOptionsInfo) -> any ImageProcessor
    {
        var box = box(options)
        if let first = frames.frame(at: 0) {
            box.thumbnail = Image(cgImage: first).resolvingSmartAnchor(of: box.thumbnail)
        }
        return box
    }
}

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// The image fitted to a box, upright and without animation: what ``ThumbnailImageProcessor`` makes of it. (Not in
    /// Kingfisher.)
    ///
    /// - Parameters:
    ///   - size: The box in points; a side of 0 is free: it follows from the other one.
    ///   - mode: How the image is fitted to the box.
    ///   - anchor: The part that `ThumbnailMode.fill` keeps.
    ///   - enlarges: Whether smaller images are enlarged; with `ThumbnailMode.exact` they always are.
    ///   - space: The numbers that become a mean.
    /// - Returns: The new image, of the same scale; the image itself when no bitmap can have that size.
    public func thumbnail(
        size: CGSize,
        mode: ThumbnailMode = .fit,
        anchor: ThumbnailAnchor = .center,
        enlarges: Bool = false,
        space: WorkingSpace = .linear
    ) -> KFCrossPlatformImage {
        let box = ThumbnailImageProcessor(size: size, mode: mode, anchor: anchor, enlarges: enlarges, space: space)
        return box.process(item: .image(base), options: KingfisherParsedOptionsInfo([.scaleFactor(base.scale)])) ?? base
    }
}

extension ThumbnailImageProcessor: StripImageProcessor {
    package func addSteps(to image: inout StripImage) -> Bool {
        image.reduce(to: box(KingfisherParsedOptionsInfo(nil)).thumbnail)
    }
}

/// A box in pixels, whose position may be known already.
private struct ThumbnailBox: ImageProcessor {
    var thumbnail: Thumbnail
    let identifier: String

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        switch item {
        case .image(let image): return image.thumbnail(thumbnail, scale: options.scaleFactor)
        case .data(let data):
            var decoding = DecodingOptions(scale: options.scaleFactor, limits: options.limits)
            decoding.thumbnail = thumbnail
            return try? Codecs.decode(data, options: decoding)
        }
    }
}
