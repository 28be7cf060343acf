// JPEG. Knows the format's ways – scaled decoding, CMYK, chroma – and leaves setjmp to C.

import CKFCodecs
import Foundation

enum JPEGCodec: ImageCodec {
    static let contentType = ImageContentType.jpeg

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let reader = try JPEGReader(bytes)
        var info = ImageInfo(contentType: contentType, size: reader.size, byteCount: bytes.count)
        info.orientation = reader.orientation
        info.hasAlpha = false
        info.colorProfileName = reader.profile?.name
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedPicture {
        let reader = try JPEGReader(bytes)
        try options.limits.check(width: reader.size.width, height: reader.size.height)
        try options.limits.check(coefficientBytes: reader.coefficientBytes, of: reader.size)
        let target = options.target(for: reader.size)
        let decoded = try reader.start(atLeast: target, maxScanCount: options.limits.maxScanCount)
        let decoding = RowDecoding(
            source: decoded,
            target: target,
            conversion: reader.conversion,
            hasAlpha: false,
            missing: 0xFF80_8080
        )
        guard let bitmap = try decoding.bitmap(from: reader) else { throw reader.failure.error(decoding: contentType) }
        return DecodedPicture(bitmap: bitmap, orientation: reader.orientation)
    }

    static func encode(_ bitmap: Bitmap, quality: Double, lossless: Bool) throws(ImagingError) -> Data {
        var message = kf_message()
        let percent = min(max(Int((quality * 100).rounded()), 1), 100)
        guard
            let writer = kf_jpeg_writer_open(
                UInt32(bitmap.width),
                UInt32(bitmap.height),
                Int32(percent),
                percent >= 90,
                &message
            )
        else { throw message.error(encoding: contentType) }
        defer { kf_jpeg_writer_close(writer) }
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
}

/// An open JPEG.
private final class JPEGReader: RowReader {
    let size: PixelSize
    let orientation: Orientation
    /// What libjpeg takes to decode it at any size, besides a few rows.
    let coefficientBytes: Int
    let profile: ColorProfile?
    let pixels: ColorProfile.Pixels
    private(set) var failure = kf_message()
    private let handle: OpaquePointer

    init(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        var header = kf_jpeg_header()
        guard let handle = kf_jpeg_open(bytes.start, bytes.count, &header, &failure) else {
            throw failure.error(decoding: .jpeg)
        }
        self.handle = handle
        size = PixelSize(Int(header.width), Int(header.height))
        coefficientBytes = Int(clamping: header.coefficient_bytes)
        orientation = EXIF.orientation(UnsafeRawBufferPointer(start: header.exif, count: header.exif_size))
        profile = header.icc.map { .icc(Data(bytes: $0, count: header.icc_size)) }
        pixels =
            switch header.components {
            case 1: .grey
            case 4: .cmyk(inverted: header.adobe)
            default: .rgb
            }
    }

    deinit { kf_jpeg_close(handle) }

    /// What makes the rows sRGB.
    ///
    /// Inks without a usable profile are mixed in the simplest way.
    var conversion: PixelConversion {
        let transform = profile?.transform(for: pixels)
        if case .cmyk(let isInverted) = pixels, transform == nil { return PixelConversion(inks: isInverted) }
        return PixelConversion(color: transform)
    }

    /// Begins decoding at the smallest 1/8, 1/4, 1/2 or whole of the size that covers `target`; answers the size that
    /// gives.
    ///
    /// The eighths between are done by slow code in libjpeg-turbo: 3/8 takes longer than 1/2, and 5/8 than the whole.
    func start(atLeast target: PixelSize, maxScanCount: Int) throws(ImagingError) -> PixelSize {
        func covers(_ eighths: Int) -> Bool {
            (size.width * eighths + 7) / 8 >= target.width && (size.height * eighths + 7) / 8 >= target.height
        }
        let eighths = [1, 2, 4].first(where: covers) ?? 8
        var (width, height): (UInt32, UInt32) = (0, 0)
        let scans = UInt32(clamping: maxScanCount)
        guard kf_jpeg_start(handle, UInt32(eighths), scans, &width, &height, &failure) == KF_OK else {
            throw failure.error(decoding: .jpeg)
        }
        return PixelSize(Int(width), Int(height))
    }

    func read(into rows: UnsafeMutablePointer<UInt8>, bytesPerRow: Int, count: Int) -> Int {
        Int(kf_jpeg_read(handle, rows, bytesPerRow, UInt32(count), &failure))
    }
}
