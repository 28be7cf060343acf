// A result: its bytes before it is written, and what is reported of it afterwards; for `kf fetch`, `kf process` and
// `kf variants`.

import Foundation
import KFImaging

/// An image as the bytes of a file.
struct EncodedImage: Sendable {
    let data: Data
    let type: ImageContentType
    /// As shown, in pixels.
    let width: Int
    /// As shown, in pixels.
    let height: Int
    /// A message about a loss that was not asked for: what, why, and how to avoid it.
    var warning: String?

    /// The usual extension of files of the format; empty when there is none.
    var ending: String { type.preferredFileExtension ?? "" }

    init(_ data: Data, type: ImageContentType, of image: Image, warning: String? = nil) {
        (self.data, self.type, self.warning) = (data, type, warning)
        // An icon holds the image in other sizes.
        let icon = type == .ico ? try? ImageInfo(data: data) : nil
        width = icon?.pixelWidth ?? Int(image.size.width * image.scale)
        height = icon?.pixelHeight ?? Int(image.size.height * image.scale)
    }

    init(_ data: Data, type: ImageContentType, size: PixelSize) {
        (self.data, self.type) = (data, type)
        (width, height) = (size.width, size.height)
    }
}

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

    /// The line for people.
    func line(of source: String) -> String {
        "\(Units.source(source)): \(width)×\(height), \(type.name), \(Units.bytes(bytes)) → \(path)"
    }

    /// The members for scripts.
    var members: [JSON.Member] {
        let members: KeyValuePairs<String, JSON> = [
            "bytes": .int(bytes),
            "width": .int(width),
            "height": .int(height),
            "frames": .int(frames),
            "format": .string(type.name.lowercased()),
            "output": .string(path),
        ]
        return members.map { JSON.Member(key: $0.key, value: $0.value) }
    }
}
