// An image as the bytes of a file. For results that are sent, not shown.

public import Foundation
import KFSupport

/// The bytes of an image file, and what their header says.
package struct EncodedContent: Sendable {
    package let data: Data
    package let info: ImageInfo
    /// Computed here, once for all who are sent the file.
    package let checksum: UInt64
    /// The cache metadata of the source's response; set when the file is stored in memory.
    package var response: (any Sendable)?

    /// Reads the header, and decodes nothing; nil for bytes without one.
    package init?(_ data: Data) {
        guard let info = try? ImageInfo(data: data) else { return nil }
        (self.data, self.info, checksum) = (data, info, Checksum.of(data))
    }
}

extension Image {
    /// An image without pixels that stands for the bytes of a file. (Not in Kingfisher.)
    ///
    /// A processor returns it for `KingfisherManager.retrieveEncoded` where these bytes are to be the result, whatever
    /// the encoding says: of a source that is sent as it is.
    ///
    /// - Parameter file: The file of an image; nil comes of bytes whose header cannot be read.
    public convenience init?(file: Data) {
        guard let content = EncodedContent(file) else { return nil }
        self.init(encoded: content)
    }

    /// An image without pixels that stands for the bytes of a file.
    package convenience init(encoded content: EncodedContent, isDamaged: Bool = false) {
        var metadata = Metadata(contentType: content.info.contentType)
        (metadata.encoded, metadata.isDamaged) = (content, isDamaged)
        self.init(cgImage: nil, scale: 1, orientation: .up, metadata: metadata)
    }
}
