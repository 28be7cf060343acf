// A result that was written, for the reports of `kf fetch` and `kf process`.

import KFImaging

/// A file that was written.
struct WrittenImage: Sendable {
    let path: String
    let bytes: Int
    let type: ImageContentType
    let frames: Int
    /// As shown, in pixels.
    let width: Int
    /// As shown, in pixels.
    let height: Int
    let warning: String?

    init(_ image: EncodedImage, path: String) {
        self.path = path
        (bytes, type, warning) = (image.data.count, image.type, image.warning)
        (width, height) = (image.width, image.height)
        frames = (try? ImageInfo(data: image.data))?.frameCount ?? 1
    }
}
