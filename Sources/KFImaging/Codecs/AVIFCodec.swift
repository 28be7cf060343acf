// AVIF: stills, the first frame of a sequence, and writing stills. How other frames are read is said elsewhere.

import CKFCodecs
import Foundation

enum AVIFCodec: ImageCodec {
    static let contentType = ImageContentType.avif
    static let isWritten = true

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let reader = try AVIFReader(bytes)
        var info = ImageInfo(contentType: contentType, size: reader.displayedSize, byteCount: bytes.count)
        info.hasAlpha = reader.header.has_alpha
        info.colorProfileName = reader.header.icc == nil ? nil : reader.profile?.name
        if let frames = reader.frameCount {
            // What is beyond every limit is not worth adding up.
            let isSensible = frames <= ImageDecodingLimits.default.maxFrameCount
            let duration = isSensible ? (0..<frames).reduce(0) { $0 + reader.delay($1) } : reader.header.duration
            info.setAnimation(frames, duration, loops: Int(clamping: AVIFBoxes.loopCount(bytes)))
        }
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedPicture {
        let reader = try AVIFReader(bytes)
        try options.limits.check(width: reader.size.width, height: reader.size.height)
        let bitmap = try reader.displayed(0, options)
        return DecodedPicture(bitmap: bitmap, frameCount: reader.frameCount)
    }

    static func frames(of data: Data, limits: ImageDecodingLimits) throws(ImagingError) -> (any FrameDecoder)? {
        try AVIFFrames(data, limits: limits)
    }

    static func encode(_ bitmap: Bitmap, quality: Double, lossless: Bool) throws(ImagingError) -> Data {
        var message = kf_message()
        var result = CBytes()
        let rows = BitmapRows(bitmap, bitmap.hasAlpha ? .straight : .none)
        let isWritten = try rows.forEachBand(height: bitmap.height) { rows, bytesPerRow, count in
            kf_avif_encode(
                rows,
                bytesPerRow,
                UInt32(bitmap.width),
                UInt32(count),
                bitmap.hasAlpha,
                Int32((quality * 100).rounded()),
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
