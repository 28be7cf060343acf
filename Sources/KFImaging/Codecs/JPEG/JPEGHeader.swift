// A JPEG's header and its meaning for decoding: scaled sizes, inks, profiles. Decodes nothing.

import CKFCodecs
import Foundation

/// The header of a JPEG.
struct JPEGHeader {
    let size: PixelSize
    let orientation: Orientation
    let isProgressive: Bool
    let profile: ColorProfile?
    private let pixels: ColorProfile.Pixels
    /// The memory that libjpeg takes to decode it at any size, besides a few rows.
    private let coefficientBytes: Int

    init(_ header: kf_jpeg_header) {
        size = PixelSize(Int(header.width), Int(header.height))
        coefficientBytes = Int(clamping: header.coefficient_bytes)
        isProgressive = header.progressive
        orientation =
            EXIF.orientation(UnsafeRawBufferPointer(start: header.exif, count: header.exif_size))
            ?? XMP.orientation(UnsafeRawBufferPointer(start: header.xmp, count: header.xmp_size)) ?? .up
        profile = header.icc.map { .icc(Data(bytes: $0, count: header.icc_size)) }
        pixels =
            switch header.components {
            case 1: .grey
            // As Adobe's programs began to write them: 255 means no ink, with their marker or without.
            case 4: .cmyk(inverted: true)
            default: .rgb
            }
    }

    /// Throws when the image may not be decoded.
    func check(_ limits: ImageDecodingLimits) throws(ImagingError) {
        try limits.check(width: size.width, height: size.height)
        try limits.check(coefficientBytes: coefficientBytes, of: size)
    }

    /// The smallest 1/8, 1/4, 1/2 or whole of the size that is so many times as large as `target`, in eighths.
    ///
    /// The eighths between are done by slow code in libjpeg-turbo: 3/8 takes longer than 1/2, and 5/8 than the whole.
    func eighths(covering target: PixelSize, times margin: Double) -> UInt32 {
        let ratio = min(Double(size.width) / Double(target.width), Double(size.height) / Double(target.height))
        return [1, 2, 4].first { ratio * Double($0) / 8 >= margin } ?? 8
    }

    /// Whether colours that several pixels share are to be blended from pixel to pixel, a twelfth of the work.
    ///
    /// Where two pixels or more become one in both directions, the kernel averages what blending would have made: of 26
    /// photos the worst is within 49 dB without it at half the size, and within 53 dB at a quarter.
    func needsSmoothChroma(for target: PixelSize) -> Bool {
        size.width / 2 < target.width || size.height / 2 < target.height
    }

    /// How rows of the decoder become a bitmap; missing pixels become grey.
    func decoding(from decoded: PixelSize, eighths: UInt32, to target: ScaledSize) -> RowDecoding {
        let scale = Double(eighths) / 8
        return RowDecoding(
            source: decoded,
            extent: PixelExtent(width: Double(size.width) * scale, height: Double(size.height) * scale),
            target: target,
            conversion: PixelConversion(profile, of: pixels, isStraight: false),
            hasAlpha: false,
            missing: 0xFF80_8080
        )
    }
}
