// What stands for "a file of a live photo" in cache keys. Makes no picture of anything.

import Foundation

/// The processor whose identifier is in the keys of live photos' files; leaves the bytes alone.
struct LivePhotoImageProcessor: ImageProcessor {
    static let `default` = LivePhotoImageProcessor()

    let identifier = "com.onevcat.Kingfisher.LivePhotoImageProcessor"

    private init() {}

    /// An empty image: what is wanted is the file.
    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        KFCrossPlatformImage()
    }
}
