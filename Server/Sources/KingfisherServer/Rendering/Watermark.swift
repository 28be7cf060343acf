// The watermark of a server: its image, decoded once, and what is laid over results. For the renderer and PixelSteps.

import Foundation
import KFImageURLs
@_spi(Server) import Kingfisher
@_spi(Server) import KingfisherTiers

/// An image that is laid over results.
struct Watermark: Sendable {
    /// Tells the image, and its own opacity, from others: for keys.
    let identifier: String
    /// The factor for the opacities that plans name.
    private let opacity: Double
    private let source: PixelSource

    /// Decodes the image, unless it is a drawing: that is drawn in each size.
    ///
    /// It blocks the thread.
    init(_ data: Data, opacity: Double, check: SourceCheck) throws(RenderingError) {
        let header = try check.header(of: data)
        if header.contentType == .svg {
            source = .file(data, header)
        } else {
            let options = KingfisherParsedOptionsInfo(nil)
            let image = DefaultImageProcessor.default.process(item: .data(data), options: options)
            guard let image, !image.isDamaged else { throw .undecodable }
            source = .pixels(image.kf.normalized)
        }
        self.opacity = opacity
        identifier = "\(SHA256.hexadecimal(SHA256.hash(data)).prefix(32))-\(opacity)"
    }

    /// The size of its image.
    var size: PixelSize { source.size }

    /// The image in another size; nil if it is damaged, or there is no memory.
    func image(of size: PixelSize, in space: WorkingSpace, _ options: KingfisherParsedOptionsInfo) -> Image? {
        source.image(of: size, in: space, options)
    }

    /// A result with the image over it; nil without memory for that.
    func laid(
        _ image: Image,
        over result: Image,
        _ plan: ImagePlan.Watermark,
        _ places: WatermarkGeometry.Places
    ) -> Image? {
        let placement: OverlayPlacement =
            switch places {
            case .once(let point): .once(x: point.x, y: point.y)
            case .tiled(let point, let step, let isChessboard):
                .tiled(x: point.x, y: point.y, across: step.width, down: step.height, isChessboard: isChessboard)
            }
        return result.overlaid(with: image, at: placement, opacity: opacity * plan.opacity)
    }
}
