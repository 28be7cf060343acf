// The processors of loads that make no image: of bytes alone, and of the files of live photos.

import Foundation
import KFImaging

/// Leaves the bytes alone and returns an empty image, since such a load only needs the bytes.
struct BytesOnly: ImageProcessor {
    /// For a subclass of the downloader, which is asked for bytes in place of an image.
    static let download = BytesOnly(identifier: "com.onevcat.Kingfisher.BytesOnly")
    /// Its identifier is in the keys of live photos' files.
    static let livePhoto = BytesOnly(identifier: "com.onevcat.Kingfisher.LivePhotoImageProcessor")

    let identifier: String

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? { Image() }
}
