// An image as the bytes of a file. For results that are sent, not shown.

package import Foundation

/// The bytes of an image file, and what their header says.
package struct EncodedContent: Sendable {
    package let data: Data
    package let info: ImageInfo

    /// Reads the header, and decodes nothing; nil for bytes without one.
    package init?(_ data: Data) {
        guard let info = try? ImageInfo(data: data) else { return nil }
        (self.data, self.info) = (data, info)
    }
}

extension Image {
    /// An image without pixels that stands for the bytes of a file.
    package convenience init(encoded content: EncodedContent, isDamaged: Bool = false) {
        var metadata = Metadata(contentType: content.info.contentType)
        (metadata.encoded, metadata.isDamaged) = (content, isDamaged)
        self.init(cgImage: nil, scale: 1, orientation: .up, metadata: metadata)
    }
}
