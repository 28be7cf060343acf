// Writing animated WebP. libwebp finds what the frames have in common.

import CKFCodecs
import Foundation

extension WebPCodec {
    /// Encodes an animation.
    ///
    /// Frames of few colours, as those of most GIFs, are coded without loss where that is smaller, whatever the
    /// quality.
    static func encode(_ animation: AnimationToEncode, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        var writer: WebPWriter?
        for (index, milliseconds) in animation.milliseconds.enumerated() {
            let bitmap = try animation.frame(index)
            if writer == nil {
                // The first frame stands for the others: a palette, and pixels that are left out, have few colours in
                // all.
                let coding =
                    options.lossless ? KF_WEBP_LOSSLESS : bitmap.hasFewColors ? KF_WEBP_SMALLER : KF_WEBP_LOSSY
                writer = try WebPWriter(animation, options.webPSettings, coding)
            }
            try writer?.add(bitmap, milliseconds: milliseconds)
        }
        guard let writer else { throw .encodingFailed(contentType, detail: "there is no frame") }
        return try described(writer.finish(), options.metadata)
    }
}

/// An unfinished animation.
private final class WebPWriter {
    private let handle: OpaquePointer
    private var message = kf_message()

    init(
        _ animation: AnimationToEncode,
        _ settings: kf_webp_settings,
        _ coding: kf_webp_coding
    ) throws(ImagingError) {
        let (width, height) = (UInt32(animation.size.width), UInt32(animation.size.height))
        let loops = UInt32(clamping: animation.loopCount)
        guard let handle = kf_webp_writer_open(width, height, loops, settings, coding, &message) else {
            throw message.error(encoding: .webp)
        }
        self.handle = handle
    }

    deinit { kf_webp_writer_close(handle) }

    /// Adds a frame that is shown for so long.
    func add(_ bitmap: Bitmap, milliseconds: UInt32) throws(ImagingError) {
        let rows = BitmapRows(bitmap, bitmap.hasAlpha ? .straight : .none)
        let isAdded = try rows.forEachBand(height: bitmap.height) { rows, bytesPerRow, _ in
            kf_webp_writer_add(handle, rows, bytesPerRow, bitmap.hasAlpha, milliseconds, &message) == KF_OK
        }
        guard isAdded else { throw message.error(encoding: .webp) }
    }

    func finish() throws(ImagingError) -> Data {
        var result = CBytes()
        guard kf_webp_writer_finish(handle, &result.bytes, &result.count, &message) == KF_OK else {
            throw message.error(encoding: .webp)
        }
        return result.takeData()
    }
}
