// JPEG, in whole files. setjmp is used in C only.

import CKFCodecs
import Foundation

enum JPEGCodec: ImageCodec {
    static let contentType = ImageContentType.jpeg
    static let canEncode = true

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        try JPEGFrameHeader.check(bytes)
        let header = try JPEGReader(bytes).header
        var info = ImageInfo(contentType: contentType, size: header.size, byteCount: bytes.count)
        info.orientation = header.orientation
        info.hasAlpha = false
        info.colorProfileName = header.profile?.name
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedImage {
        try JPEGFrameHeader.check(bytes)
        let reader = try JPEGReader(bytes)
        let header = reader.header
        try header.check(options.limits)
        let target = options.target(for: header.size, header.orientation)
        let eighths = header.eighths(covering: target.size, times: Codecs.scalingMargin)
        let decoded = try reader.start(eighths: eighths, maxScanCount: options.limits.maxScanCount)
        let rows = header.decoding(from: decoded, eighths: eighths, to: target)
        guard let (bitmap, isComplete) = try rows.bitmap(from: reader) else {
            throw reader.failure.error(decoding: contentType)
        }
        return DecodedImage(
            bitmap: bitmap,
            orientation: header.orientation,
            isDamaged: !isComplete || reader.isDamaged
        )
    }

    static func exif(_ bytes: UnsafeRawBufferPointer) -> Data? {
        var (header, message) = (kf_jpeg_header(), kf_message())
        guard let handle = kf_jpeg_open(bytes.start, bytes.count, &header, &message) else { return nil }
        defer { kf_jpeg_close(handle) }
        return header.exif.map { Data(bytes: $0, count: header.exif_size) }
    }

    static func encode(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        var message = kf_message()
        let percent = min(max(Int((options.quality * 100).rounded()), 1), 100)
        let hasFullChroma = options.subsampling.isFull(quality: options.quality)
        let isPerceptual = options.encoder.jpegTables == .perceptual
        let steps = isPerceptual ? JPEGSteps.tables(quality: percent, hasFullChroma: hasFullChroma) : nil
        guard
            let writer = kf_jpeg_writer_open(
                UInt32(bitmap.width),
                UInt32(bitmap.height),
                Int32(percent),
                steps,
                hasFullChroma,
                coding(of: bitmap.size, options),
                &message
            )
        else { throw message.error(encoding: contentType) }
        defer { kf_jpeg_writer_close(writer) }
        let isDescribed = options.metadata.withBytes { exif, profile in
            kf_jpeg_writer_describe(writer, exif.start, exif.count, profile.start, profile.count, &message) == KF_OK
        }
        guard isDescribed else { throw message.error(encoding: contentType) }
        let conversion: BitmapRows.Conversion = bitmap.hasAlpha ? .flattenedOnWhite : .none
        let isWritten = try BitmapRows(bitmap, conversion).forEachBand { rows, bytesPerRow, count in
            kf_jpeg_write(writer, rows, bytesPerRow, UInt32(count), &message) == KF_OK
        }
        var result = CBytes()
        guard isWritten, kf_jpeg_writer_finish(writer, &result.bytes, &result.count, &message) == KF_OK else {
            throw message.error(encoding: contentType)
        }
        return result.takeData()
    }

    /// Above 24 megapixels coefficients are written at once: kept until the end, they would take six bytes a pixel.
    private static func coding(of size: PixelSize, _ options: ImageEncodingOptions) -> kf_jpeg_coding {
        guard size.pixelCount <= 24_000_000 else { return KF_JPEG_BASELINE }
        return options.encoder.isProgressive ? KF_JPEG_PROGRESSIVE : KF_JPEG_OPTIMIZED
    }
}

/// An open JPEG whose bytes are all there.
private final class JPEGReader: RowReader {
    let header: JPEGHeader
    private(set) var failure = kf_message()
    private let handle: OpaquePointer

    init(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        var header = kf_jpeg_header()
        guard let handle = kf_jpeg_open(bytes.start, bytes.count, &header, &failure) else {
            throw failure.error(decoding: .jpeg)
        }
        self.handle = handle
        self.header = JPEGHeader(header)
    }

    deinit { kf_jpeg_close(handle) }

    /// Begins decoding at so many eighths of the size; returns the size that the rows have.
    func start(eighths: UInt32, maxScanCount: Int) throws(ImagingError) -> PixelSize {
        var (width, height): (UInt32, UInt32) = (0, 0)
        let scans = UInt32(clamping: maxScanCount)
        guard kf_jpeg_start(handle, eighths, scans, &width, &height, &failure) == KF_OK else {
            throw failure.error(decoding: .jpeg)
        }
        return PixelSize(Int(width), Int(height))
    }

    /// Whether libjpeg met damage, or an early end, in the data decoded so far.
    var isDamaged: Bool { kf_jpeg_is_damaged(handle) }

    func read(into rows: UnsafeMutablePointer<UInt8>, bytesPerRow: Int, count: Int) -> Int {
        Int(kf_jpeg_read(handle, rows, bytesPerRow, UInt32(count), &failure))
    }
}
