// Processors that make no image: for downloads of bytes by downloaders of the user's, and for the files of live photos,
// whose keys name theirs.

import Foundation
import KFImaging

/// Leaves the bytes alone: stands for the processor where a subclass downloads bytes of which no image is wanted.
struct BytesOnly: ImageProcessor {
    let identifier = "com.onevcat.Kingfisher.BytesOnly"
    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? { Image() }
}

/// The processor whose identifier is in the keys of live photos' files; the bytes are stored unchanged.
struct LivePhotoImageProcessor: ImageProcessor {
    static let `default` = LivePhotoImageProcessor()

    let identifier = "com.onevcat.Kingfisher.LivePhotoImageProcessor"

    private init() {}

    /// An empty image: a live-photo load returns files, so nothing is decoded.
    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        KFCrossPlatformImage()
    }
}
