// AVIF: stills, the first frame of a sequence, and writing both. AVIFFrames reads the other frames.

import CKFCodecs
import Foundation

enum AVIFCodec: ImageCodec {
    static let contentType = ImageContentType.avif
    static let canEncode = true
    static let canHaveFrames = true

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let reader = try AVIFReader(bytes)
        var info = ImageInfo(contentType: contentType, size: reader.displayedSize, byteCount: bytes.count)
        info.hasAlpha = reader.header.has_alpha
        info.colorProfileName = reader.header.icc == nil ? nil : reader.profile?.name
        if let frames = reader.frameCount {
            // Numbers beyond every limit are not worth adding up.
            let isSensible = frames <= ImageDecodingLimits.default.maxFrameCount
            let duration = isSensible ? (0..<frames).reduce(0) { $0 + reader.delay($1) } : reader.header.duration
            info.setAnimation(frames, duration, loops: Int(clamping: AVIFBoxes.loopCount(bytes)))
        }
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedImage {
        let reader = try AVIFReader(bytes)
        try options.limits.check(width: reader.size.width, height: reader.size.height)
        let bitmap = try reader.displayed(0, options)
        return DecodedImage(bitmap: bitmap, frameCount: reader.frameCount)
    }

    static func frames(of data: Data, limits: ImageDecodingLimits) throws(ImagingError) -> (any FrameDecoder)? {
        try AVIFFrames(data, limits: limits)
    }

    static func exif(_ bytes: UnsafeRawBufferPointer) -> Data? {
        var result = CBytes()
        kf_avif_exif(bytes.start, bytes.count, &result.bytes, &result.count)
        return result.count > 0 ? result.takeData() : nil
    }

    static func encode(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        try write(AnimationToEncode(still: bitmap), hasAlpha: bitmap.hasAlpha, isStill: true, options)
    }

    /// libavif before 1.0 writes sequences that play endlessly, and no others.
    static var keepsLoopCount: Bool { kf_avif_writes_loop_count() }

    /// Encodes a sequence.
    static func encode(_ animation: AnimationToEncode, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        // All frames have an alpha, or none has; opaque ones take a few bytes more.
        try write(animation, hasAlpha: true, isStill: false, options)
    }

    private static func write(
        _ animation: AnimationToEncode,
        hasAlpha: Bool,
        isStill: Bool,
        _ options: ImageEncodingOptions
    ) throws(ImagingError) -> Data {
        var message = kf_message()
        let (width, height) = (UInt32(animation.size.width), UInt32(animation.size.height))
        let level = Int32((options.quality * 100).rounded())
        let isFull = options.subsampling.isFull(quality: options.quality)
        let (lossless, loops) = (options.lossless, UInt32(clamping: animation.loopCount))
        let speed = Int32(EncoderSettings.avifSpeeds.nearest(to: options.encoder.avifSpeed))
        guard
            let writer =
                kf_avif_writer_open(width, height, hasAlpha, level, isFull, lossless, isStill, speed, loops, &message)
        else { throw message.error(encoding: contentType) }
        defer { kf_avif_writer_close(writer) }
        for (index, milliseconds) in animation.milliseconds.enumerated() {
            let bitmap = try animation.frame(index)
            let rows = BitmapRows(bitmap, bitmap.hasAlpha ? .straight : .none)
            let isAdded = try rows.forEachBand(height: bitmap.height) { rows, bytesPerRow, _ in
                options.metadata.withBytes { exif, _ in
                    if index == 0 { kf_avif_writer_describe(writer, exif.start, exif.count) }
                    return kf_avif_writer_add(writer, rows, bytesPerRow, milliseconds, &message) == KF_OK
                }
            }
            guard isAdded else { throw message.error(encoding: contentType) }
        }
        var result = CBytes()
        guard kf_avif_writer_finish(writer, &result.bytes, &result.count, &message) == KF_OK else {
            throw message.error(encoding: contentType)
        }
        return result.takeData()
    }
}
