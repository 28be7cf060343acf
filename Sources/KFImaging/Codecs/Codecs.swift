// The one list of formats, and the ways in. Knows no details of any format.

package import Foundation

/// Decoding and encoding of every format.
///
/// All functions block and may be called from any thread.
package enum Codecs {
    private static let all: [any ImageCodec.Type] = [
        JPEGCodec.self, PNGCodec.self, GIFCodec.self, WebPCodec.self, AVIFCodec.self,
    ]

    /// What the header says; no pixels are decoded.
    package static func info(of data: Data) throws(ImagingError) -> ImageInfo {
        try data.withBytes { bytes throws(ImagingError) in
            try codec(for: bytes).info(bytes)
        }
    }

    /// Decodes the first picture.
    package static func decode(
        _ data: Data,
        options: DecodingOptions = DecodingOptions()
    ) throws(ImagingError) -> Image {
        try data.withBytes { bytes throws(ImagingError) in
            let codec = try codec(for: bytes)
            var picture = try codec.decode(bytes, options)
            if options.maxPixelSize != nil {
                picture.bitmap = try picture.bitmap.oriented(from: picture.orientation)
                return Image(
                    cgImage: picture.bitmap,
                    scale: options.scale,
                    orientation: .up,
                    metadata: Image.Metadata(contentType: codec.contentType)
                )
            }
            let isAnimated = picture.frameCount != nil
            var metadata = Image.Metadata(
                contentType: codec.contentType,
                frameCount: picture.frameCount,
                animatedData: isAnimated ? data : nil
            )
            metadata.isUnprocessed = true
            return Image(
                cgImage: picture.bitmap,
                scale: options.scale,
                orientation: picture.orientation,
                metadata: metadata
            )
        }
    }

    /// Encodes the displayed picture.
    ///
    /// - Parameters:
    ///   - image: The image; its orientation is applied first.
    ///   - type: The format.
    ///   - quality: 0…1, for the formats that lose something.
    ///   - lossless: Whether nothing may be lost, for formats that can do both.
    /// - Returns: The bytes of a file.
    /// - Throws: ``ImagingError/encodingFailed(_:detail:)`` or ``ImagingError/outOfMemory(bytes:)``.
    package static func encode(
        _ image: Image,
        as type: ImageContentType,
        quality: Double = 1,
        lossless: Bool = false
    ) throws(ImagingError) -> Data {
        guard let codec = all.first(where: { $0.contentType == type }) else {
            throw .encodingFailed(type, detail: "the format is not built in")
        }
        guard let bitmap = try image.upright().cgImage else {
            throw .encodingFailed(type, detail: "the image is empty")
        }
        return try codec.encode(bitmap, quality: quality.isNaN ? 1 : min(max(quality, 0), 1), lossless: lossless)
    }

    /// Why these bytes cannot be decoded; nil when they can.
    ///
    /// Decodes them to find out.
    package static func diagnose(_ data: Data) -> ImagingError? {
        do throws(ImagingError) {
            _ = try decode(data)
            return nil
        } catch {
            return error
        }
    }

    private static func codec(for bytes: UnsafeRawBufferPointer) throws(ImagingError) -> any ImageCodec.Type {
        guard !bytes.isEmpty else { throw .emptyData }
        guard let type = ImageContentType.sniff(bytes) else {
            throw .unrecognizedFormat(resembling: Resemblance.describe(bytes))
        }
        if let codec = all.first(where: { $0.contentType == type }) { return codec }
        // HEIF is a container; AVIF pictures in it can be decoded.
        if type == .heif { return AVIFCodec.self }
        throw .unsupported(type, detail: "no decoder is built in")
    }
}

extension Data {
    /// The bytes, for a body that throws errors of ours.
    fileprivate func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(ImagingError) -> Result
    ) throws(ImagingError) -> Result {
        let result = withUnsafeBytes { bytes in
            Swift.Result<Result, ImagingError> { () throws(ImagingError) in try body(bytes) }
        }
        return try result.get()
    }
}
