// The processor that makes no image. For downloads of bytes by downloaders of the user's.

import Foundation
import KFImaging

/// Leaves the bytes alone: stands for the processor where a subclass downloads bytes of which no image is wanted.
struct BytesOnly: ImageProcessor {
    let identifier = "com.onevcat.Kingfisher.BytesOnly"
    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? { Image() }
}
