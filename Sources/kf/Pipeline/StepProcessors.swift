// The processors of steps that the library has none for: `crop` with a pixel, and `overlay` with a file.

import Foundation
import KFImaging
import Kingfisher

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

/// Cuts out a rectangle, and fails where that begins outside of the image, rather than make something else of it.
struct PixelCropProcessor: ImageProcessor {
    /// In pixels, from the upper left corner of the image as it is shown.
    let rect: CGRect

    /// The beginning of all identifiers.
    static let name = "kf.crop"

    var identifier: String {
        "\(Self.name)(\(Int(rect.width))x\(Int(rect.height)),\(Int(rect.minX))px,\(Int(rect.minY))px)"
    }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        guard let image = DefaultImageProcessor.default.process(item: item, options: options),
            rect.minX < image.size.width, rect.minY < image.size.height
        else { return nil }
        return image.kf.crop(to: rect)
    }
}

extension PixelCropProcessor: StripImageProcessor {
    func addSteps(to image: inout StripImage) -> Bool {
        guard rect.minX < CGFloat(image.size.width), rect.minY < CGFloat(image.size.height) else { return false }
        image.crop(to: rect)
        return true
    }
}
