// TIFF: the first image of a file, and writing one. Compressions and tags are left to libtiff, in C.

import CKFCodecs
import Foundation

enum TIFFCodec: ImageCodec {
    static let contentType = ImageContentType.tiff
    static let canEncode = true

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let reader = try TIFFReader(bytes, .default)
        var info = ImageInfo(contentType: contentType, size: reader.size, byteCount: bytes.count)
        info.orientation = reader.orientation
        info.hasAlpha = reader.hasAlpha
        info.colorProfileName = reader.profile?.name
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedImage {
        let reader = try open(bytes, options.limits)
        let rows = try reader.begin(options.target(for: reader.size, reader.orientation))
        guard let (bitmap, isComplete) = try rows.bitmap(from: reader) else { throw reader.error }
        return DecodedImage(bitmap: bitmap, orientation: reader.orientation, isDamaged: !isComplete || reader.isDamaged)
    }

    static func rows(
        _ bytes: UnsafeRawBufferPointer,
        _ limits: ImageDecodingLimits
    ) throws(ImagingError) -> (any RowFile)? {
        let reader = try open(bytes, limits)
        return !reader.hasAlpha && reader.orientation == .up ? reader : nil
    }

    private static func open(
        _ bytes: UnsafeRawBufferPointer,
        _ limits: ImageDecodingLimits
    ) throws(ImagingError) -> TIFFReader {
        let reader = try TIFFReader(bytes, limits)
        try limits.check(width: reader.size.width, height: reader.size.height)
        return reader
    }

    /// Encodes every pixel exactly, with straight alpha if the bitmap has some; no EXIF is written.
    static func encode(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        var message = kf_message()
        let (width, height) = (UInt32(clamping: bitmap.width), UInt32(clamping: bitmap.height))
        let opened = options.metadata.withBytes { _, profile in
            kf_tiff_writer_open(width, height, bitmap.hasAlpha, profile.start, profile.count, &message)
        }
        guard let writer = opened else { throw message.error(encoding: contentType) }
        defer { kf_tiff_writer_close(writer) }
        let rows = BitmapRows(bitmap, bitmap.hasAlpha ? .straight : .none)
        let isWritten = try rows.forEachBand { rows, bytesPerRow, count in
            kf_tiff_write(writer, rows, bytesPerRow, UInt32(count), &message) == KF_OK
        }
        var result = CBytes()
        guard isWritten, kf_tiff_writer_finish(writer, &result.bytes, &result.count, &message) == KF_OK else {
            throw message.error(encoding: contentType)
        }
        return result.takeData()
    }
}

/// An open TIFF.
private final class TIFFReader: RowFile {
    let size: PixelSize
    let orientation: Orientation
    let hasAlpha: Bool
    let profile: ColorProfile?
    private var failure = kf_message()
    private let pixels: ColorProfile.Pixels
    /// Of L*a*b*; nil for other colours.
    private let lab: LabConversion?
    /// The conversion of inks that have an alpha; nil for other colours.
    ///
    /// It is done while reading, as five samples are no pixel.
    private let translucentInks: PixelConversion?
    private let handle: OpaquePointer

    init(_ bytes: UnsafeRawBufferPointer, _ limits: ImageDecodingLimits) throws(ImagingError) {
        var header = kf_tiff_header()
        let most = UInt64(max(0, limits.maxPixelCount))
        guard let handle = kf_tiff_open(bytes.start, bytes.count, most, &header, &failure) else {
            throw failure.error(decoding: .tiff)
        }
        self.handle = handle
        size = PixelSize(Int(header.width), Int(header.height))
        orientation = Orientation(exif: Int(header.orientation)) ?? .up
        hasAlpha = header.has_alpha
        profile = header.icc.map { .icc(Data(bytes: $0, count: header.icc_size)) }
        lab = header.lab ? LabConversion(white: (header.white.0, header.white.1)) : nil
        pixels =
            switch header.components {
            case 1: .grey
            case 4: .cmyk(inverted: false)
            default: .rgb
            }
        translucentInks =
            header.components == 4 && header.has_alpha
            ? PixelConversion(profile, of: pixels, isStraight: false) : nil
    }

    deinit { kf_tiff_close(handle) }

    var error: ImagingError { failure.error(decoding: .tiff) }

    /// Whether something of what has been decoded is not as it was written.
    var isDamaged: Bool { kf_tiff_is_damaged(handle) }

    func begin(_ target: ScaledSize) throws(ImagingError) -> RowDecoding {
        RowDecoding(
            source: size,
            target: target,
            conversion: conversion,
            hasAlpha: hasAlpha ? nil : false,
            missing: 0
        )
    }

    /// The conversion of the rows to sRGB.
    private var conversion: PixelConversion {
        if let lab { return PixelConversion(lab: lab, isStraight: hasAlpha) }
        if translucentInks != nil { return PixelConversion(isStraight: true) }
        return PixelConversion(profile, of: pixels, isStraight: hasAlpha)
    }

    func read(into rows: UnsafeMutablePointer<UInt8>, bytesPerRow: Int, count: Int) -> Int {
        guard let translucentInks else {
            return Int(kf_tiff_read(handle, rows, bytesPerRow, UInt32(count), &failure))
        }
        for y in 0..<count {
            let row = rows + y * bytesPerRow
            guard kf_tiff_read(handle, row, bytesPerRow, 1, &failure) == 1 else { return y }
            translucentInks.apply(row, count: size.width)
            guard let alphas = kf_tiff_alphas(handle) else { continue }
            for x in 0..<size.width { row[x * 4 + 3] = alphas[x] }
        }
        return count
    }
}
