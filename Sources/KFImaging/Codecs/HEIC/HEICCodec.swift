// HEIC: the primary image, cropped, turned and mirrored by libheif. Built in with the trait of that name only.
//
// Only the size of the image is held to the limits. What libheif takes beside it, for parts and hidden images, would be
// known to a parser of HEVC's units only, and then not for all versions: a locked process with a limit of memory does
// that for whatever there is (`ImageDecodingLimits.isolation`). The same holds for libjxl.

#if HEIC
import CKFCodecs
import Foundation

enum HEICCodec: ImageCodec {
    static let contentType = ImageContentType.heic

    /// libheif loads its decoders, which may be files of their own.
    static func prepare() { kf_heif_prepare() }

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let reader = try HEICReader(bytes)
        var info = ImageInfo(contentType: contentType, size: reader.size, byteCount: bytes.count)
        info.hasAlpha = reader.header.has_alpha
        info.colorProfileName = reader.header.icc == nil ? nil : reader.profile?.name
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedImage {
        let reader = try HEICReader(bytes)
        // Parts that are cropped away are decoded, too.
        try options.limits.check(width: Int(reader.header.coded_width), height: Int(reader.header.coded_height))
        try options.limits.check(width: reader.size.width, height: reader.size.height)
        return DecodedImage(bitmap: try reader.bitmap().resampled(to: options.target(for: reader.size)))
    }
}

/// An open HEIC.
private final class HEICReader {
    let header: kf_heif_header
    let size: PixelSize
    private let handle: OpaquePointer

    init(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        var (header, message) = (kf_heif_header(), kf_message())
        guard let handle = kf_heif_open(bytes.start, bytes.count, &header, &message) else {
            throw message.error(decoding: .heic)
        }
        self.handle = handle
        self.header = header
        size =
            HEICBoxes.isTurned(bytes)
            ? PixelSize(Int(header.coded_height), Int(header.coded_width))
            : PixelSize(Int(header.width), Int(header.height))
    }

    deinit { kf_heif_close(handle) }

    /// An ICC profile takes precedence over the numbers.
    var profile: ColorProfile? {
        if let icc = header.icc { return .icc(Data(bytes: icc, count: header.icc_size)) }
        let values = withUnsafeBytes(of: header.chromaticities) { Array($0.bindMemory(to: Double.self)) }
        return .nclx(primaries: header.primaries, transfer: header.transfer, chromaticities: values)
    }

    func bitmap() throws(ImagingError) -> Bitmap {
        let color = profile?.transform(for: .rgb)
        let size = size
        return try Bitmap(size, hasAlpha: header.has_alpha ? nil : false) { rows throws(ImagingError) in
            var message = kf_message()
            guard
                kf_heif_read(handle, UInt32(size.width), UInt32(size.height), rows.base, rows.bytesPerRow, &message)
                    == KF_OK
            else {
                throw message.error(decoding: .heic)
            }
            // Colours are converted without their alpha; the few that were stored with it lose a little.
            let isStored = header.premultiplied
            if isStored, color == nil {
                for y in 0..<size.height { Alpha.clamp(rows.pixels(y), count: size.width) }
                return
            }
            let conversion = PixelConversion(color: color, isStraight: header.has_alpha)
            for y in 0..<size.height {
                if isStored { Alpha.straighten(rows.pixels(y), count: size.width) }
                conversion.apply(rows.row(y), count: size.width)
            }
        }
    }
}

extension Alpha {
    /// Limits pixels that claim to be premultiplied: no component exceeds alpha.
    fileprivate static func clamp(_ pixels: UnsafeMutablePointer<UInt32>, count: Int) {
        for i in 0..<count { pixels[i] = map(pixels[i]) { min($0, $1) } }
    }

    /// Takes the alpha out of the colours.
    fileprivate static func straighten(_ pixels: UnsafeMutablePointer<UInt32>, count: Int) {
        for i in 0..<count {
            pixels[i] = map(pixels[i]) { value, alpha in alpha == 0 ? 0 : min(255, (value * 255 + alpha / 2) / alpha) }
        }
    }

    private static func map(_ pixel: UInt32, _ change: (_ value: UInt32, _ alpha: UInt32) -> UInt32) -> UInt32 {
        let alpha = pixel >> 24
        return alpha << 24 | change(pixel >> 16 & 255, alpha) << 16 | change(pixel >> 8 & 255, alpha) << 8
            | change(pixel & 255, alpha)
    }
}
#endif
