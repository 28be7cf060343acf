// GIF: its header by a walk over the blocks, its first frame by giflib.

import CKFCodecs
import Foundation

enum GIFCodec: ImageCodec {
    static let contentType = ImageContentType.gif

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let blocks = try GIFBlocks(bytes)
        var info = ImageInfo(contentType: contentType, size: blocks.canvas, byteCount: bytes.count)
        info.hasAlpha = blocks.hasTransparency
        info.setAnimation(blocks.frameCount, blocks.duration, loops: blocks.loopCount)
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedPicture {
        let blocks = try GIFBlocks(bytes)
        try options.limits.check(width: blocks.canvas.width, height: blocks.canvas.height)
        // What lies outside the canvas is decoded too.
        try options.limits.check(width: blocks.covered.width, height: blocks.covered.height)
        var message = kf_message()
        guard let handle = kf_gif_open(bytes.start, bytes.count, &message) else {
            throw message.error(decoding: contentType)
        }
        defer { kf_gif_close(handle) }
        var isUsable = false
        let (width, height) = (UInt32(blocks.canvas.width), UInt32(blocks.canvas.height))
        let bitmap = try Bitmap(blocks.canvas, hasAlpha: nil) { rows in
            rows.fill()
            isUsable = kf_gif_read_first_frame(handle, rows.base, rows.bytesPerRow, width, height, &message)
        }
        guard isUsable else { throw message.error(decoding: contentType) }
        return DecodedPicture(
            bitmap: try bitmap.resampled(to: options.target(for: blocks.canvas)),
            frameCount: blocks.frameCount
        )
    }
}

/// Facts from the blocks of a GIF; no pixels are decoded.
private struct GIFBlocks {
    /// The logical screen; when that is empty, what the frames cover.
    private(set) var canvas: PixelSize
    /// What the frames cover, canvas or not.
    private(set) var covered = (width: 0, height: 0)
    private(set) var frameCount = 0
    /// Seconds for all frames.
    private(set) var duration = 0.0
    /// How often the frames are played: once unless the file says otherwise; 0 means for ever.
    private(set) var loopCount = 1
    private(set) var hasTransparency = false
    private let bytes: UnsafeRawBufferPointer
    private var delay = 0.0

    init(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        guard bytes.count >= 13 else { throw .malformed(.gif, detail: "the data ends within the header") }
        self.bytes = bytes
        canvas = PixelSize(1, 1)
        let screen = (width: word(at: 6), height: word(at: 8))
        var offset = 13 + Self.tableSize(bytes[10])
        // 0x3B ends the file; whatever follows it, or stands where a block should begin, is ignored.
        while offset < bytes.count {
            if bytes[offset] == 0x2C, offset + 10 <= bytes.count {
                covered.width = max(covered.width, word(at: offset + 1) + word(at: offset + 5))
                covered.height = max(covered.height, word(at: offset + 3) + word(at: offset + 7))
                frameCount += 1
                duration += FrameDelay.effective(delay)
                delay = 0
                offset = end(ofBlocksAt: offset + 11 + Self.tableSize(bytes[offset + 9]))
            } else if bytes[offset] == 0x21, offset + 2 < bytes.count {
                noteExtension(bytes[offset + 1], at: offset + 2)
                offset = end(ofBlocksAt: offset + 2)
            } else if bytes[offset] == 0 {
                offset += 1
            } else {
                break
            }
        }
        guard frameCount > 0 else { throw .malformed(.gif, detail: "there is no picture in it") }
        canvas =
            screen.width > 0 && screen.height > 0
            ? PixelSize(screen.width, screen.height) : PixelSize(covered.width, covered.height)
    }

    private mutating func noteExtension(_ kind: UInt8, at offset: Int) {
        let size = Int(bytes[offset])
        guard offset + 1 + size <= bytes.count else { return }
        if kind == 0xF9, size >= 4 {
            delay = Double(word(at: offset + 2)) / 100
            if bytes[offset + 1] & 1 == 1 { hasTransparency = true }
        } else if kind == 0xFF, size == 11, bytes[offset + 1..<offset + 12].elementsEqual("NETSCAPE2.0".utf8),
            offset + 16 <= bytes.count, bytes[offset + 12] == 3, bytes[offset + 13] == 1
        {
            loopCount = word(at: offset + 14)
        }
    }

    /// Where a chain of sub-blocks ends, which a block of no bytes does.
    private func end(ofBlocksAt start: Int) -> Int {
        var offset = start
        while offset < bytes.count, bytes[offset] > 0 { offset += Int(bytes[offset]) + 1 }
        return offset + 1
    }

    private func word(at offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }

    private static func tableSize(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
}
