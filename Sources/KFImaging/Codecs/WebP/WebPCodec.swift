// WebP: stills, the first frame of an animation, and writing both. WebPFrames reads the other frames.

import CKFCodecs
import Foundation

enum WebPCodec: ImageCodec {
    static let contentType = ImageContentType.webp
    static let canEncode = true
    static let canHaveFrames = true

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let reader = try WebPReader(bytes)
        var info = ImageInfo(contentType: contentType, size: reader.size, byteCount: bytes.count)
        info.orientation = reader.orientation
        info.hasAlpha = reader.header.has_alpha
        info.colorProfileName = reader.profile?.name
        if let chunks = reader.chunks {
            info.setAnimation(chunks.frames.count, chunks.duration, loops: Int(reader.header.loop_count))
        }
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedImage {
        let reader = try WebPReader(bytes)
        try options.limits.check(width: reader.size.width, height: reader.size.height)
        let target = options.target(for: reader.size, reader.orientation)
        let (bitmap, isComplete) = try reader.bitmap(reader.decodedSize(for: target.size))
        return DecodedImage(
            bitmap: try bitmap.resampled(to: target),
            orientation: reader.orientation,
            frameCount: reader.chunks?.frames.count,
            isDamaged: !isComplete || reader.chunks?.isTruncated ?? false
        )
    }

    static func frames(of data: Data, limits: ImageDecodingLimits) throws(ImagingError) -> (any FrameDecoder)? {
        try WebPFrames(data, limits: limits)
    }

    static func exif(_ bytes: UnsafeRawBufferPointer) -> Data? {
        guard let reader = try? WebPReader(bytes) else { return nil }
        return reader.header.exif.map { Data(bytes: $0, count: reader.header.exif_size) }
    }

    /// A file with what is to be written beside the pixels.
    static func described(_ file: Data, _ metadata: EncodedMetadata) throws(ImagingError) -> Data {
        guard metadata.exif != nil || metadata.hasProfile else { return file }
        var (result, message) = (CBytes(), kf_message())
        let isWritten = file.withUnsafeBytes { file in
            metadata.withBytes { exif, profile in
                kf_webp_describe(
                    file.start,
                    file.count,
                    exif.start,
                    exif.count,
                    profile.start,
                    profile.count,
                    &result.bytes,
                    &result.count,
                    &message
                ) == KF_OK
            }
        }
        guard isWritten else { throw message.error(encoding: contentType) }
        return result.takeData()
    }

    /// Encodes a still.
    ///
    /// One of few colours, as drawings and screens have, is coded without loss where that is smaller, whatever the
    /// quality. That is not tried with photos, grey ones neither.
    static func encode(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        var settings = options.webPSettings
        var file = try file(bitmap, settings)
        if !options.lossless, bitmap.isLikeDrawing {
            settings.lossless = true
            let exact = try self.file(bitmap, settings)
            if exact.count <= file.count { file = exact }
        }
        return try described(file, options.metadata)
    }

    private static func file(_ bitmap: Bitmap, _ settings: kf_webp_settings) throws(ImagingError) -> Data {
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
                settings,
                &result.bytes,
                &result.count,
                &message
            ) == KF_OK
        }
        guard isWritten else { throw message.error(encoding: contentType) }
        return result.takeData()
    }
}

extension ImageEncodingOptions {
    /// The settings of libwebp.
    var webPSettings: kf_webp_settings {
        let effort = encoder.webPEffort.map(EncoderSettings.webPEfforts.nearest)
        return kf_webp_settings(
            quality: Float(quality * 100),
            lossless: lossless,
            effort: Int32(effort ?? EncoderSettings.usualWebPEffort),
            lossless_effort: Int32(effort ?? -1),
            preset: encoder.webPPreset.number
        )
    }
}

/// An open WebP.
final class WebPReader {
    let header: kf_webp_header
    /// Nil for stills, and for animations none of whose frames can be read.
    let chunks: WebPChunks?
    private let handle: OpaquePointer

    init(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        var (header, message) = (kf_webp_header(), kf_message())
        guard let handle = kf_webp_open(bytes.start, bytes.count, &header, &message) else {
            throw message.error(decoding: .webp)
        }
        self.handle = handle
        self.header = header
        let canvas = PixelSize(Int(header.width), Int(header.height))
        chunks = header.animated ? WebPChunks(bytes, canvas: canvas) : nil
    }

    deinit { kf_webp_close(handle) }

    var size: PixelSize { PixelSize(Int(header.width), Int(header.height)) }
    var profile: ColorProfile? { header.icc.map { .icc(Data(bytes: $0, count: header.icc_size)) } }
    var orientation: Orientation {
        EXIF.orientation(UnsafeRawBufferPointer(start: header.exif, count: header.exif_size))
            ?? XMP.orientation(UnsafeRawBufferPointer(start: header.xmp, count: header.xmp_size)) ?? .up
    }

    /// The smallest half, third and so on of the size that leaves enough for a good kernel to do.
    ///
    /// libwebp averages whatever becomes one pixel, which costs more sharpness than libjpeg's scaling: so more is left
    /// to do. It averages colours whatever their alpha, so that transparent pixels would show in those beside them. And
    /// where a side is odd, it stretches the halved columns or rows of chroma, of which the last one reaches beyond the
    /// edge.
    func decodedSize(for target: PixelSize) -> PixelSize {
        let isOdd = size.width % 2 == 1 || size.height % 2 == 1
        guard !header.has_alpha, !header.animated, !isOdd else { return size }
        let part = min(size.width / target.width, size.height / target.height) / 4
        return part > 1 ? PixelSize((size.width + part - 1) / part, (size.height + part - 1) / part) : size
    }

    /// The first image in this size, and whether all of it could be decoded.
    func bitmap(_ target: PixelSize) throws(ImagingError) -> (bitmap: Bitmap, isComplete: Bool) {
        do throws(ImagingError) {
            return (try whole(target), true)
        } catch {
            guard case .malformed = error, let part = try part(target) else { throw error }
            return part
        }
    }

    private func whole(_ target: PixelSize) throws(ImagingError) -> Bitmap {
        try Bitmap(target, hasAlpha: mayBeTransparent ? nil : false) { rows throws(ImagingError) in
            // The first frame of an animation may leave some of the image empty.
            if header.animated { rows.fill() }
            var message = kf_message()
            let (width, height) = (UInt32(target.width), UInt32(target.height))
            // Straight: colours are converted before alpha is multiplied in, which libwebp does without rounding.
            guard kf_webp_read(handle, rows.base, rows.bytesPerRow, width, height, false, &message) == KF_OK else {
                throw message.error(decoding: .webp)
            }
            convert(rows, count: target.height)
        }
    }

    /// The rows that there are of a damaged image, others being transparent; nil when there is not a single one.
    private func part(_ target: PixelSize) throws(ImagingError) -> (bitmap: Bitmap, isComplete: Bool)? {
        var count = 0
        // A short file may announce a large image: the memory of rows that are missing is never touched.
        let bitmap = try Bitmap(target, capacity: { $0 }, isZeroed: true) { rows, _ in
            let (width, height) = (UInt32(target.width), UInt32(target.height))
            count = Int(kf_webp_read_part(handle, rows.base, rows.bytesPerRow, width, height))
            convert(rows, count: count)
            return nil
        }
        return count > 0 ? (bitmap, count == target.height) : nil
    }

    private var mayBeTransparent: Bool { header.has_alpha || header.animated }

    private func convert(_ rows: PixelRows, count: Int) {
        let conversion = PixelConversion(color: profile?.transform(for: .rgb), isStraight: mayBeTransparent)
        guard !conversion.isIdentity else { return }
        for y in 0..<count { conversion.apply(rows.row(y), count: rows.size.width) }
    }
}
