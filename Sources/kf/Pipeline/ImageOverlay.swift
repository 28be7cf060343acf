// The step `overlay` with a file: its arguments, and its processor.

import Foundation
import KFImaging
import Kingfisher

/// A file whose image is laid over others, as a watermark is.
struct ImageOverlay: Equatable {
    /// The size of the upper image.
    enum Size: Equatable {
        /// A multiple of its own.
        case scaled(Double)
        /// As wide as this; a part is one of the lower image's width.
        case width(PipelineStep.Length)
    }

    /// The path as it was typed.
    let path: String
    /// From 0 at the left or top to 1 at the right or bottom.
    var anchor = CGPoint(x: 0.5, y: 0.5)
    /// From 0 to 1.
    var opacity = 1.0
    var size = Size.scaled(1)
}

/// The image of an overlay's file.
struct OverlayFile: Sendable {
    let image: KFCrossPlatformImage
    /// Changes with the file, so that what it is laid over is not served from the cache.
    let key: String
}

/// Lays the image of a file over others.
struct ImageOverlayProcessor: ImageProcessor {
    let overlay: ImageOverlay
    /// Nil for a file that was not read; then images are not processed.
    let file: OverlayFile?

    var identifier: String {
        let place = "\(Double(overlay.anchor.x)),\(Double(overlay.anchor.y))"
        return "kf.overlay(\(file?.key ?? overlay.path),\(place),\(overlay.opacity),\(overlay.size))"
    }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        guard let file, let lower = DefaultImageProcessor.default.process(item: item, options: options) else {
            return nil
        }
        let own = file.image.size
        let factor =
            switch overlay.size {
            case .scaled(let factor): factor
            case .width(.pixels(let width)): width / own.width
            case .width(.fraction(let part)): lower.size.width * part / own.width
            }
        let size = CGSize(width: own.width * factor, height: own.height * factor)
        return file.image.resized(toPoints: size).flatMap {
            lower.overlaid(with: $0, anchor: overlay.anchor, opacity: overlay.opacity)
        }
    }
}
