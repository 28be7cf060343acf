// The processor whose identifier marks the files of live photos in cache keys. Used by the manager's live-photo loads.

import Foundation

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
