// Writing PNG in the fewest bits that hold every pixel exactly. libpng compresses.

import CKFCodecs
import Foundation

extension PNGCodec {
    /// Encodes a bitmap as a palette or grey, of as few bits as hold all of its pixels, or else in red, green and blue;
    /// with alpha if any pixel is less than opaque.
    static func encode(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        let rows = try PNGRows(bitmap, paletteSize: options.encoder.paletteSize)
        guard let colors = kf_png_colors_create() else { throw .outOfMemory(bytes: nil) }
        defer { kf_png_colors_free(colors) }
        // A photo shows in its first rows that it has too many colours.
        _ = try rows.forEachBand { rows, bytesPerRow, count in
            kf_png_colors_add(colors, rows, bytesPerRow, UInt32(bitmap.width), UInt32(count))
        }
        return try encode(rows, hasAlpha: bitmap.hasAlpha, colors: colors, options)
    }

    /// Encodes a bitmap in red, green, blue and alpha, even if it is opaque or grey.
    static func encodeWithAlpha(_ bitmap: Bitmap, _ metadata: EncodedMetadata) throws(ImagingError) -> Data {
        var options = ImageEncodingOptions()
        options.metadata = metadata
        return try encode(PNGRows(bitmap, paletteSize: nil), hasAlpha: true, colors: nil, options)
    }

    private static func encode(
        _ rows: PNGRows,
        hasAlpha: Bool,
        colors: OpaquePointer?,
        _ options: ImageEncodingOptions
    ) throws(ImagingError) -> Data {
        var message = kf_message()
        let (width, height) = (UInt32(rows.bitmap.width), UInt32(rows.bitmap.height))
        let isInterlaced = options.encoder.isInterlaced
        let opened = options.metadata.withBytes { exif, _ in
            kf_png_writer_open(width, height, hasAlpha, isInterlaced, colors, exif.start, exif.count, &message)
        }
        guard let writer = opened else { throw message.error(encoding: contentType) }
        defer { kf_png_writer_close(writer) }
        for _ in 0..<(isInterlaced ? Int(KF_PNG_PASSES) : 1) {
            let isWritten = try rows.forEachBand { rows, bytesPerRow, count in
                kf_png_write(writer, rows, bytesPerRow, UInt32(count), &message) == KF_OK
            }
            guard isWritten else { throw message.error(encoding: contentType) }
        }
        var result = CBytes()
        guard kf_png_writer_finish(writer, &result.bytes, &result.count, &message) == KF_OK else {
            throw message.error(encoding: contentType)
        }
        return result.takeData()
    }
}

/// The rows of a bitmap with straight alpha, or of what it becomes with a few colours.
private struct PNGRows {
    let bitmap: Bitmap
    private let rows: BitmapRows
    /// All pixels with their few colours; nil where they have their own.
    private let pixels: Buffer<UInt32>?

    init(_ bitmap: Bitmap, paletteSize: Int?) throws(ImagingError) {
        self.bitmap = bitmap
        let rows = BitmapRows(bitmap, bitmap.hasAlpha ? .straight : .none)
        self.rows = rows
        guard let paletteSize else {
            pixels = nil
            return
        }
        pixels = try Self.reduced(rows, of: bitmap, to: EncoderSettings.paletteSizes.nearest(to: paletteSize))
    }

    func forEachBand(
        _ body: (UnsafePointer<UInt8>, Int, Int) -> Bool
    ) throws(ImagingError) -> Bool {
        guard let pixels else { return try rows.forEachBand(body) }
        return pixels.base.withMemoryRebound(to: UInt8.self, capacity: pixels.count * 4) {
            body($0, bitmap.width * 4, bitmap.height)
        }
    }

    /// All pixels in a few colours; nil where some pixel is partly see-through, or the colours are few already.
    private static func reduced(
        _ rows: BitmapRows,
        of bitmap: Bitmap,
        to limit: Int
    ) throws(ImagingError) -> Buffer<UInt32>? {
        try ImageDecodingLimits.default.check(working: 1, bitmap.size)
        let pixels = try Buffer<UInt32>(bitmap.size.pixelCount)
        var (place, hasHoles) = (0, false)
        let isSimple = try rows.forEachBand { rows, bytesPerRow, count in
            for y in 0..<count {
                let row = UnsafeRawPointer(rows + y * bytesPerRow)
                for x in 0..<bitmap.width {
                    var pixel = row.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self)
                    let alpha = bitmap.hasAlpha ? pixel >> 24 : 255
                    guard alpha == 0 || alpha == 255 else { return false }
                    hasHoles = hasHoles || alpha == 0
                    pixel = alpha == 0 ? 0 : pixel | 0xFF00_0000
                    pixels.base[place] = pixel
                    place += 1
                }
            }
            return true
        }
        guard isSimple else { return nil }
        let all = UnsafeBufferPointer(start: pixels.base, count: pixels.count)
        // What is see-through takes a colour of its own.
        var table = ColorTable(all, limit: hasHoles ? limit - 1 : limit)
        for place in all.indices where all[place] != 0 {
            pixels.base[place] = table.colors[table.index(of: all[place])]
        }
        return pixels
    }
}
