// An open AVIF: its header, and its images one by one. The container's cropping, turning and mirroring are applied.

import CKFCodecs
import Foundation

/// An open AVIF.
final class AVIFReader {
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

    /// The part of the coded image that is shown, in its pixels.
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

    /// An ICC profile takes precedence over the numbers.
    var profile: ColorProfile? {
        if let icc = header.icc { return .icc(Data(bytes: icc, count: header.icc_size)) }
        let values = withUnsafeBytes(of: header.chromaticities) { Array($0.bindMemory(to: Double.self)) }
        return .nclx(primaries: header.primaries, transfer: header.transfer, chromaticities: values)
    }

    /// How long a frame is shown, in seconds.
    func delay(_ index: Int) -> Double { FrameDelay.effective(kf_avif_delay(handle, UInt32(index))) }

    /// A frame as it is shown: cropped, turned and mirrored, and not larger than the options allow.
    func displayed(_ index: Int, _ options: DecodingOptions) throws(ImagingError) -> Bitmap {
        var bitmap = try coded(index)
        if let part = try bitmap.part(crop) { bitmap = part }
        // Shrinking first leaves less to turn.
        bitmap = try bitmap.resampled(to: options.target(for: bitmap.size, turn))
        return try bitmap.oriented(from: turn).oriented(from: mirror)
    }

    private func coded(_ index: Int) throws(ImagingError) -> Bitmap {
        let color = profile?.transform(for: .rgb)
        return try Bitmap(size, hasAlpha: header.has_alpha ? nil : false) { rows throws(ImagingError) in
            var message = kf_message()
            guard
                kf_avif_read(handle, UInt32(index), rows.base, rows.bytesPerRow, color == nil, &message) == KF_OK
            else { throw message.error(decoding: .avif) }
            guard let color else { return }
            let conversion = PixelConversion(color: color, isStraight: true)
            for y in 0..<size.height { conversion.apply(rows.row(y), count: size.width) }
        }
    }
}
