// WebP, still or the first frame of an animation.

import CKFCodecs
import Foundation

enum WebPCodec: ImageCodec {
    static let contentType = ImageContentType.webp

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let reader = try WebPReader(bytes)
        var info = ImageInfo(contentType: contentType, size: reader.size, byteCount: bytes.count)
        info.orientation = reader.orientation
        info.hasAlpha = reader.header.has_alpha
        info.colorProfileName = reader.profile?.name
        if let frames = reader.frames {
            info.setAnimation(frames.frameCount, frames.duration, loops: Int(reader.header.loop_count))
        }
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedPicture {
        let reader = try WebPReader(bytes)
        try options.limits.check(width: reader.size.width, height: reader.size.height)
        let bitmap = try reader.bitmap(options.target(for: reader.size))
        return DecodedPicture(bitmap: bitmap, orientation: reader.orientation, frameCount: reader.frames?.frameCount)
    }

    static func encode(_ bitmap: Bitmap, quality: Double, lossless: Bool) throws(ImagingError) -> Data {
        var message = kf_message()
        var result = CBytes()
        let rows = BitmapRows(bitmap, bitmap.hasAlpha ? .straight : .none)
        let isWritten = try rows.forEachBand(height: bitmap.height) { rows, bytesPerRow, count in
            kf_webp_encode(
                rows,
                bytesPerRow,
                UInt32(bitmap.width),
                UInt32(count),
                bitmap.hasAlpha,
                Float(quality * 100),
                lossless,
                &result.bytes,
                &result.count,
                &message
            ) == KF_OK
        }
        guard isWritten else { throw message.error(encoding: contentType) }
        return result.takeData()
    }
}

/// An open WebP.
private final class WebPReader {
    let header: kf_webp_header
    /// Nil for stills.
    let frames: WebPChunks?
    private let handle: OpaquePointer

    init(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        var (header, message) = (kf_webp_header(), kf_message())
        guard let handle = kf_webp_open(bytes.start, bytes.count, &header, &message) else {
            throw message.error(decoding: .webp)
        }
        self.handle = handle
        self.header = header
        frames = header.animated ? WebPChunks(bytes) : nil
    }

    deinit { kf_webp_close(handle) }

    var size: PixelSize { PixelSize(Int(header.width), Int(header.height)) }
    var profile: ColorProfile? { header.icc.map { .icc(Data(bytes: $0, count: header.icc_size)) } }
    var orientation: Orientation {
        EXIF.orientation(UnsafeRawBufferPointer(start: header.exif, count: header.exif_size))
    }

    func bitmap(_ target: PixelSize) throws(ImagingError) -> Bitmap {
        let color = profile?.transform(for: .rgb)
        return try Bitmap(target, hasAlpha: header.has_alpha || header.animated ? nil : false) {
            rows throws(ImagingError) in
            rows.fill()
            var message = kf_message()
            let (width, height) = (UInt32(target.width), UInt32(target.height))
            // Colours are converted straight, before alpha is multiplied in.
            let isPremultiplied = color == nil
            guard
                kf_webp_read(handle, rows.base, rows.bytesPerRow, width, height, isPremultiplied, &message) == KF_OK
            else { throw message.error(decoding: .webp) }
            guard let color else { return }
            let conversion = PixelConversion(color: color, isStraight: true)
            for y in 0..<target.height { conversion.apply(rows.row(y), count: target.width) }
        }
    }
}
