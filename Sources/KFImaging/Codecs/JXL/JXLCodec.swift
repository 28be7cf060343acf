// JPEG XL: the first frame, turned by libjxl. Built in with the trait JXL only.

#if JXL
import CKFCodecs
import Foundation

enum JXLCodec: ImageCodec {
    static let contentType = ImageContentType.jxl

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let reader = try JXLReader(bytes)
        var info = ImageInfo(contentType: contentType, size: reader.size, byteCount: bytes.count)
        info.hasAlpha = reader.header.has_alpha
        info.colorProfileName = reader.profile?.name
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedImage {
        let reader = try JXLReader(bytes)
        try options.limits.check(width: reader.size.width, height: reader.size.height)
        return DecodedImage(bitmap: try reader.bitmap().resampled(to: options.target(for: reader.size)))
    }
}

/// An open JPEG XL.
private final class JXLReader {
    let header: kf_jxl_header
    private let handle: OpaquePointer

    init(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        var (header, message) = (kf_jxl_header(), kf_message())
        guard let handle = kf_jxl_open(bytes.start, bytes.count, &header, &message) else {
            throw message.error(decoding: .jxl)
        }
        self.handle = handle
        self.header = header
    }

    deinit { kf_jxl_close(handle) }

    var size: PixelSize { PixelSize(Int(header.width), Int(header.height)) }

    var profile: ColorProfile? {
        guard header.transfer != 0 else { return header.icc.map { .icc(Data(bytes: $0, count: header.icc_size)) } }
        let values = withUnsafeBytes(of: header.chromaticities) { Array($0.bindMemory(to: Double.self)) }
        // The header's intensity is not used: encoders write 255 or 10,000 cd/m² whatever the image holds.
        return .coded(chromaticities: values, transfer: Int(header.transfer))
    }

    func bitmap() throws(ImagingError) -> Bitmap {
        let color = profile?.transform(for: header.is_grey ? .grey : .rgb)
        let size = size
        // Pixels missing from a file that ends early are transparent.
        return try Bitmap(size, hasAlpha: nil) { rows throws(ImagingError) in
            rows.fill()
            var message = kf_message()
            guard kf_jxl_read(handle, rows.base, rows.bytesPerRow, &message) == KF_OK else {
                throw message.error(decoding: .jxl)
            }
            let conversion = PixelConversion(color: color, isStraight: true)
            for y in 0..<size.height { conversion.apply(rows.row(y), count: size.width) }
        }
    }
}
#endif
