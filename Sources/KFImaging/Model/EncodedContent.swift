// An image as the bytes of a file. For results that are sent, not shown.

public import Foundation
import KFSupport

/// The bytes of an image file.
package struct EncodedContent: Sendable {
    package let data: Data
    package let contentType: ImageContentType
    /// Computed here, once for all who are sent the file.
    package let checksum: UInt64
    /// The cache metadata of the source's response; set when the file is stored in memory.
    package var response: (any Sendable)?
    private let header = EncodedHeader()

    /// Recognises the format, and reads no more; nil for bytes of none.
    package init?(_ data: Data) {
        guard let type = ImageContentType(decodable: data) else { return nil }
        (self.data, contentType, checksum) = (data, type, Checksum.of(data))
    }

    /// Any bytes, of the type that they begin like, whether that type can be decoded or not; else `unknown`.
    package init(anyFile data: Data) {
        // To those who read it a compressed drawing is SVG; who sends it sends gzip.
        let isCompressed = data.withUnsafeBytes { CompressedDrawing.isHere($0) }
        let type = isCompressed ? nil : ImageContentType(decodable: data) ?? ImageContentType(sniffing: data)
        (self.data, contentType, checksum) = (data, type ?? .unknown, Checksum.of(data))
    }

    /// What the header says; nil when it cannot be read.
    package var info: ImageInfo? { header.info(of: data) }
}

/// A file's header, read for the first who asks: who sends files does not, and another process may have to read it.
private final class EncodedHeader: Sendable {
    private let known = Locked<ImageInfo?>(nil)

    func info(of data: Data) -> ImageInfo? {
        if let info = known.withLock({ $0 }) { return info }
        let info = try? ImageInfo(data: data)
        known.withLock { $0 = info }
        return info
    }
}

extension Image {
    /// An image without pixels that stands for the bytes of a file. (Not in Kingfisher.)
    ///
    /// A processor returns it for `KingfisherManager.retrieveEncoded` where these bytes are to be the result, whatever
    /// the encoding says: of a source that is sent as it is.
    ///
    /// - Parameter encodedResult: The file of an image; nil comes of bytes of no format that can be decoded.
    public convenience init?(encodedResult: Data) {
        guard let content = EncodedContent(encodedResult) else { return nil }
        self.init(encoded: content)
    }

    /// The same for any file, whether it is an image or not; its type is `unknown` if it is of no known kind.
    ///
    /// - Parameter file: The bytes, for a load with `ImageEncoding.takingAnyFile`.
    @_spi(Server) public convenience init(anyFile file: Data) { self.init(encoded: EncodedContent(anyFile: file)) }

    /// Notes that a part of the source is missing, which a processor has found that makes images of other images.
    @_spi(Server) public func markAsDamaged() { updateMetadata { $0.isDamaged = true } }

    /// An image without pixels that stands for the bytes of a file.
    package convenience init(encoded content: EncodedContent, isDamaged: Bool = false) {
        var metadata = Metadata(contentType: content.contentType)
        (metadata.encoded, metadata.isDamaged) = (content, isDamaged)
        self.init(cgImage: nil, scale: 1, orientation: .up, metadata: metadata)
    }
}
