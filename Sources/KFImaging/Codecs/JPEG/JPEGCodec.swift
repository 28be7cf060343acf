// JPEG, in whole files. setjmp is used in C only.

import CKFCodecs
import Foundation

enum JPEGCodec: ImageCodec {
    static let contentType = ImageContentType.jpeg
    static let canEncode = true

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        try JPEGFrameHeader.check(bytes)
        let header = try JPEGReader(bytes, maxScanCount: 1).header
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
        let reader = try open(bytes, options.limits)
        let orientation = reader.header.orientation
        let rows = try reader.begin(options.target(for: reader.size, orientation))
        guard let (bitmap, isComplete) = try rows.bitmap(from: reader) else { throw reader.error }
        return DecodedImage(bitmap: bitmap, orientation: orientation, isDamaged: !isComplete || reader.isDamaged)
    }

    static func rows(
        _ bytes: UnsafeRawBufferPointer,
        _ limits: ImageDecodingLimits
    ) throws(ImagingError) -> (any RowFile)? {
        let reader = try open(bytes, limits)
        return reader.header.orientation == .up ? reader : nil
    }

    private static func open(
        _ bytes: UnsafeRawBufferPointer,
        _ limits: ImageDecodingLimits
    ) throws(ImagingError) -> JPEGReader {
        try JPEGFrameHeader.check(bytes)
        let reader = try JPEGReader(bytes, maxScanCount: limits.maxScanCount)
        try reader.header.check(limits)
        return reader
    }

    static func exif(_ bytes: UnsafeRawBufferPointer) -> Data? {
        var (header, message) = (kf_jpeg_header(), kf_message())
        guard let handle = kf_jpeg_open(bytes.start, bytes.count, &header, &message) else { return nil }
        defer { kf_jpeg_close(handle) }
        return header.exif.map { Data(bytes: $0, count: header.exif_size) }
    }

    static func encode(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        try encode(bitmap, options, colors(of: options))
    }

    /// Encodes the brightness of a bitmap.
    static func encodeGrey(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        try encode(bitmap, options, KF_JPEG_GREY)
    }

    static func encode(
        _ rows: () throws(ImagingError) -> any ImageRows,
        _ options: ImageEncodingOptions
    ) throws(ImagingError) -> Data? {
        let rows = try rows()
        return try encode(rows.size, options, colors(of: options)) { writer, message throws(ImagingError) in
            try rows.forEachRow { row in kf_jpeg_write(writer, row, 0, 1, &message) == KF_OK }
        }
    }

    private static func colors(of options: ImageEncodingOptions) -> kf_jpeg_colors {
        options.subsampling.isFull(quality: options.quality) ? KF_JPEG_FULL_CHROMA : KF_JPEG_HALF_CHROMA
    }

    private static func encode(
        _ bitmap: Bitmap,
        _ options: ImageEncodingOptions,
        _ colors: kf_jpeg_colors
    ) throws(ImagingError) -> Data {
        let conversion: BitmapRows.Conversion = bitmap.hasAlpha ? .flattenedOnWhite : .none
        return try encode(bitmap.size, options, colors) { writer, message throws(ImagingError) in
            try BitmapRows(bitmap, conversion).forEachBand { rows, bytesPerRow, count in
                kf_jpeg_write(writer, rows, bytesPerRow, UInt32(count), &message) == KF_OK
            }
        }
    }

    /// Encodes an image whose rows `write` gives to the writer; it returns whether all were written.
    private static func encode(
        _ size: PixelSize,
        _ options: ImageEncodingOptions,
        _ colors: kf_jpeg_colors,
        write: (_ writer: OpaquePointer, _ message: inout kf_message) throws(ImagingError) -> Bool
    ) throws(ImagingError) -> Data {
        var message = kf_message()
        let percent = min(max(Int((options.quality * 100).rounded()), 1), 100)
        let hasFullChroma = colors == KF_JPEG_FULL_CHROMA
        let isPerceptual = options.encoder.jpegTables == .perceptual
        let steps = isPerceptual ? JPEGSteps.tables(quality: percent, hasFullChroma: hasFullChroma) : nil
        guard
            let writer = kf_jpeg_writer_open(
                UInt32(size.width),
                UInt32(size.height),
                Int32(percent),
                steps,
                colors,
                coding(of: size, options),
                &message
            )
        else { throw message.error(encoding: contentType) }
        defer { kf_jpeg_writer_close(writer) }
        let isDescribed = options.metadata.withBytes { exif, profile in
            kf_jpeg_writer_describe(writer, exif.start, exif.count, profile.start, profile.count, &message) == KF_OK
        }
        guard isDescribed else { throw message.error(encoding: contentType) }
        let isWritten = try write(writer, &message)
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
private final class JPEGReader: RowFile {
    let header: JPEGHeader
    private var failure = kf_message()
    private let maxScanCount: Int
    private let handle: OpaquePointer

    init(_ bytes: UnsafeRawBufferPointer, maxScanCount: Int) throws(ImagingError) {
        var header = kf_jpeg_header()
        guard let handle = kf_jpeg_open(bytes.start, bytes.count, &header, &failure) else {
            throw failure.error(decoding: .jpeg)
        }
        self.handle = handle
        self.header = JPEGHeader(header)
        self.maxScanCount = maxScanCount
    }

    deinit { kf_jpeg_close(handle) }

    var size: PixelSize { header.size }
    var error: ImagingError { failure.error(decoding: .jpeg) }

    func begin(_ target: ScaledSize) throws(ImagingError) -> RowDecoding {
        let eighths = header.eighths(covering: target.size, times: Codecs.scalingMargin)
        let scans = UInt32(clamping: maxScanCount)
        let isSmooth = header.needsSmoothChroma(for: target.size)
        var (width, height): (UInt32, UInt32) = (0, 0)
        guard kf_jpeg_start(handle, eighths, isSmooth, scans, &width, &height, &failure) == KF_OK else { throw error }
        return header.decoding(from: PixelSize(Int(width), Int(height)), eighths: eighths, to: target)
    }

    /// Whether libjpeg met damage, or an early end, in the data decoded so far.
    var isDamaged: Bool { kf_jpeg_is_damaged(handle) }

    func read(into rows: UnsafeMutablePointer<UInt8>, bytesPerRow: Int, count: Int) -> Int {
        Int(kf_jpeg_read(handle, rows, bytesPerRow, UInt32(count), &failure))
    }
}
