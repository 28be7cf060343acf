// AVIF, still or the first frame of a sequence; the container's cropping, turning and mirroring are applied.

import CKFCodecs
import Foundation

enum AVIFCodec: ImageCodec {
    static let contentType = ImageContentType.avif

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let reader = try AVIFReader(bytes)
        var info = ImageInfo(contentType: contentType, size: reader.displayedSize, byteCount: bytes.count)
        info.hasAlpha = reader.header.has_alpha
        info.colorProfileName = reader.header.icc == nil ? nil : reader.profile?.name
        if let frames = reader.frameCount { info.setAnimation(frames, reader.header.duration, loops: 0) }
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedPicture {
        let reader = try AVIFReader(bytes)
        try options.limits.check(width: reader.size.width, height: reader.size.height)
        var bitmap = try reader.bitmap()
        if let part = try bitmap.part(reader.crop) { bitmap = part }
        // Shrinking first leaves less to turn.
        bitmap = try bitmap.resampled(to: options.target(for: bitmap.size))
        return DecodedPicture(
            bitmap: try bitmap.oriented(from: reader.turn).oriented(from: reader.mirror),
            frameCount: reader.frameCount
        )
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
                &result.bytes,
                &result.count,
                &message
            ) == KF_OK
        }
        guard isWritten else { throw message.error(encoding: contentType) }
        return result.takeData()
    }
}

/// An open AVIF.
private final class AVIFReader {
    let header: kf_avif_header
    private let handle: OpaquePointer

    init(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        var (header, message) = (kf_avif_header(), kf_message())
        guard let handle = kf_avif_open(bytes.start, bytes.count, &header, &message) else {
            throw message.error(decoding: .avif)
        }
        self.handle = handle
        self.header = header
    }

    deinit { kf_avif_close(handle) }

    var size: PixelSize { PixelSize(Int(header.width), Int(header.height)) }
    var frameCount: Int? { header.frame_count > 1 ? Int(header.frame_count) : nil }

    /// What is shown of the coded picture, in its pixels.
    var crop: CGRect {
        CGRect(
            x: Int(header.crop_x),
            y: Int(header.crop_y),
            width: Int(header.crop_width),
            height: Int(header.crop_height)
        )
    }

    /// The container's turn, applied after cropping.
    var turn: Orientation { [.up, .left, .down, .right][Int(header.quarter_turns & 3)] }

    /// The container's mirroring, applied after turning.
    var mirror: Orientation {
        switch header.mirror {
        case 1: .downMirrored
        case 2: .upMirrored
        default: .up
        }
    }

    var displayedSize: PixelSize {
        let size = PixelSize(Int(header.crop_width), Int(header.crop_height))
        return turn.isTransposing ? size.transposed : size
    }

    /// An ICC profile goes before the numbers; unspecified ones (2) and those of sRGB (1) mean sRGB.
    var profile: ColorProfile? {
        if let icc = header.icc { return .icc(Data(bytes: icc, count: header.icc_size)) }
        guard header.primaries > 2 else { return nil }
        let values = withUnsafeBytes(of: header.chromaticities) { Array($0.bindMemory(to: Double.self)) }
        let gamma =
            switch header.transfer {
            case 4: 2.2
            case 5: 2.8
            case 8: 1.0
            default: 0.0
            }
        return .primaries(values, gamma: gamma)
    }

    func bitmap() throws(ImagingError) -> Bitmap {
        let color = profile?.transform(for: .rgb)
        return try Bitmap(size, hasAlpha: header.has_alpha ? nil : false) { rows throws(ImagingError) in
            var message = kf_message()
            guard kf_avif_read(handle, rows.base, rows.bytesPerRow, color == nil, &message) == KF_OK else {
                throw message.error(decoding: .avif)
            }
            guard let color else { return }
            let conversion = PixelConversion(color: color, isStraight: true)
            for y in 0..<size.height { conversion.apply(rows.row(y), count: size.width) }
        }
    }
}
