// The processor of the step `crop` with a pixel.

import Foundation
import KFImaging
import Kingfisher

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
