// Writing PNG from rows that are made one after another.

import CKFCodecs
import Foundation

extension PNGCodec {
    /// Encodes opaque rows in the same bits as a bitmap of them.
    ///
    /// Which bits hold every pixel is known when the rows have been seen. Those of a photo show soon that nothing less
    /// than red, green and blue will do; the rows of an image of few colours, or of grey, are made twice.
    static func encode(
        _ rows: () throws(ImagingError) -> any ImageRows,
        _ options: ImageEncodingOptions
    ) throws(ImagingError) -> Data? {
        guard !options.encoder.isInterlaced, options.encoder.paletteSize == nil else { return nil }
        guard let colors = kf_png_colors_create() else { throw .outOfMemory(bytes: nil) }
        defer { kf_png_colors_free(colors) }
        let seen = try rows()
        let (width, height) = (UInt32(seen.size.width), UInt32(seen.size.height))
        _ = try seen.forEachRow { kf_png_colors_add(colors, $0, 0, width, 1) }
        var message = kf_message()
        let opened = options.metadata.withBytes { exif, _ in
            kf_png_writer_open(width, height, false, false, colors, exif.start, exif.count, &message)
        }
        guard let writer = opened else { throw message.error(encoding: contentType) }
        defer { kf_png_writer_close(writer) }
        let isWritten = try rows().forEachRow { kf_png_write(writer, $0, 0, 1, &message) == KF_OK }
        var result = CBytes()
        guard isWritten, kf_png_writer_finish(writer, &result.bytes, &result.count, &message) == KF_OK else {
            throw message.error(encoding: contentType)
        }
        return result.takeData()
    }
}
