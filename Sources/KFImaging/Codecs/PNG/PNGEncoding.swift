// Writing PNG in the fewest bits that hold every pixel exactly. libpng compresses.

import CKFCodecs
import Foundation

extension PNGCodec {
    /// Encodes a bitmap as a palette or grey, of as few bits as hold all of its pixels, or else in red, green and blue;
    /// with alpha if any pixel is less than opaque.
    static func encode(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        guard let colors = kf_png_colors_create() else { throw .outOfMemory(bytes: nil) }
        defer { kf_png_colors_free(colors) }
        // A photo shows in its first rows that it has too many colours.
        _ = try rows(of: bitmap).forEachBand { rows, bytesPerRow, count in
            kf_png_colors_add(colors, rows, bytesPerRow, UInt32(bitmap.width), UInt32(count))
        }
        return try encode(bitmap, hasAlpha: bitmap.hasAlpha, colors: colors, options.metadata)
    }

    /// Encodes a bitmap in red, green, blue and alpha, even if it is opaque or grey.
    static func encodeWithAlpha(_ bitmap: Bitmap, _ metadata: EncodedMetadata) throws(ImagingError) -> Data {
        try encode(bitmap, hasAlpha: true, colors: nil, metadata)
    }

    private static func encode(
        _ bitmap: Bitmap,
        hasAlpha: Bool,
        colors: OpaquePointer?,
        _ metadata: EncodedMetadata
    ) throws(ImagingError) -> Data {
        var message = kf_message()
        let (width, height) = (UInt32(bitmap.width), UInt32(bitmap.height))
        let opened = metadata.withBytes { exif, _ in
            kf_png_writer_open(width, height, hasAlpha, colors, exif.start, exif.count, &message)
        }
        guard let writer = opened else { throw message.error(encoding: contentType) }
        defer { kf_png_writer_close(writer) }
        let isWritten = try rows(of: bitmap).forEachBand { rows, bytesPerRow, count in
            kf_png_write(writer, rows, bytesPerRow, UInt32(count), &message) == KF_OK
        }
        var result = CBytes()
        guard isWritten, kf_png_writer_finish(writer, &result.bytes, &result.count, &message) == KF_OK else {
            throw message.error(encoding: contentType)
        }
        return result.takeData()
    }

    /// The rows with straight alpha.
    private static func rows(of bitmap: Bitmap) -> BitmapRows {
        BitmapRows(bitmap, bitmap.hasAlpha ? .straight : .none)
    }
}
