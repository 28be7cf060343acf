// TIFF: the first image of a file. Compressions and tags are left to libtiff, in C.

import CKFCodecs
import Foundation

enum TIFFCodec: ImageCodec {
    static let contentType = ImageContentType.tiff

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
        let reader = try TIFFReader(bytes, options.limits)
        try options.limits.check(width: reader.size.width, height: reader.size.height)
        let rows = RowDecoding(
            source: reader.size,
            target: options.target(for: reader.size, reader.orientation),
            conversion: reader.conversion,
            hasAlpha: reader.hasAlpha ? nil : false,
            missing: 0
        )
        guard let (bitmap, isComplete) = try rows.bitmap(from: reader) else {
            throw reader.failure.error(decoding: contentType)
        }
        return DecodedImage(bitmap: bitmap, orientation: reader.orientation, isDamaged: !isComplete || reader.isDamaged)
    }
}

/// An open TIFF.
private final class TIFFReader: RowReader {
    let size: PixelSize
    let orientation: Orientation
    let hasAlpha: Bool
    let profile: ColorProfile?
    private(set) var failure = kf_message()
    private let pixels: ColorProfile.Pixels
    /// Of L*a*b*; nil for other colours.
    private let lab: LabConversion?
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
    }

    deinit { kf_tiff_close(handle) }

    /// Whether something of what has been decoded is not as it was written.
    var isDamaged: Bool { kf_tiff_is_damaged(handle) }

    /// The conversion of the rows to sRGB; inks without a usable profile are mixed in the simplest way.
    var conversion: PixelConversion {
        if let lab { return PixelConversion(lab: lab, isStraight: hasAlpha) }
        let transform = profile?.transform(for: pixels)
        if case .cmyk(let isInverted) = pixels, transform == nil { return PixelConversion(cmykInverted: isInverted) }
        return PixelConversion(color: transform, isStraight: hasAlpha)
    }

    func read(into rows: UnsafeMutablePointer<UInt8>, bytesPerRow: Int, count: Int) -> Int {
        Int(kf_tiff_read(handle, rows, bytesPerRow, UInt32(count), &failure))
    }
}
