// The frames of an animated WebP, each decoded on its own. FrameCompositor composes them.

import CKFCodecs
import Foundation

/// An animated WebP: one walk over the chunks finds the frames, libwebp decodes each by itself.
struct WebPFrames: FrameDecoder {
    let canvas: PixelSize
    let frames: [FrameDescription]
    let loopCount: UInt
    let orientation: Orientation
    let isTruncated: Bool
    private let data: Data
    private let places: [Range<Int>]
    private let color: ColorTransform?

    /// Nil for stills.
    init?(_ data: Data, limits: ImageDecodingLimits) throws(ImagingError) {
        let found = try data.withBytes { bytes throws(ImagingError) in
            let reader = try WebPReader(bytes)
            try limits.check(width: reader.size.width, height: reader.size.height)
            try limits.check(frameCount: reader.chunks?.frames.count ?? 0)
            let frames = reader.chunks?.frames.map { frame in
                var frame = frame
                frame.description.isOpaque = Self.isOpaque(UnsafeRawBufferPointer(rebasing: bytes[frame.image]))
                return frame
            }
            return (reader: reader, frames: frames ?? [], orientation: reader.orientation)
        }
        guard !found.frames.isEmpty else { return nil }
        canvas = found.reader.size
        frames = found.frames.map(\.description)
        loopCount = UInt(found.reader.header.loop_count)
        orientation = found.orientation
        isTruncated = found.reader.chunks?.isTruncated ?? false
        self.data = data
        places = found.frames.map(\.image)
        color = found.reader.profile?.transform(for: .rgb)
    }

    func decode(_ index: Int, row: (_ y: Int, _ pixels: UnsafePointer<UInt32>) -> Void) throws(ImagingError) {
        let size = frames[index].size
        let bitmap = try Bitmap(size, hasAlpha: !frames[index].isOpaque) { rows throws(ImagingError) in
            try read(places[index], into: rows)
            guard let color else { return }
            let conversion = PixelConversion(color: color, isStraight: true)
            for y in 0..<size.height { conversion.apply(rows.row(y), count: size.width) }
        }
        bitmap.forEachRow(row)
    }

    private func read(_ place: Range<Int>, into rows: PixelRows) throws(ImagingError) {
        var message = kf_message()
        let status = data.withUnsafeBytes { bytes in
            let image = UnsafeRawBufferPointer(rebasing: bytes[place])
            return kf_webp_frame_read(
                image.start,
                image.count,
                rows.base,
                rows.bytesPerRow,
                UInt32(rows.size.width),
                UInt32(rows.size.height),
                color == nil,
                &message
            )
        }
        guard status == KF_OK else { throw message.error(decoding: .webp) }
    }

    private static func isOpaque(_ image: UnsafeRawBufferPointer) -> Bool {
        var (width, height, hasAlpha) = (UInt32(0), UInt32(0), true)
        return kf_webp_frame_header(image.start, image.count, &width, &height, &hasAlpha) && !hasAlpha
    }
}
