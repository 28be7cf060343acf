// The frames of a GIF, each unpacked on its own. FrameCompositor composes them.

import CKFCodecs
import Foundation

/// Unpacks the frames of a GIF, and keeps nothing between them.
///
/// By code of ours: giflib alone takes longer than this with compositing (87 against 24 ms for 100 frames of 500 ×
/// 400), and unpacking is a page of C.
struct GIFFrames: FrameDecoder {
    let canvas: PixelSize
    let frames: [FrameDescription]
    let loopCount: UInt
    let isTruncated: Bool
    /// How many frames the file has, kept or not.
    let frameCount: Int
    private let data: Data
    private let parts: [GIFBlocks.Frame]

    init(_ data: Data, keeping wanted: GIFBlocks.FrameSelection, limits: ImageDecodingLimits) throws(ImagingError) {
        let blocks = try data.withBytes { bytes throws(ImagingError) in
            try GIFBlocks(bytes, keeping: wanted, limits: limits)
        }
        self.data = data
        parts = blocks.frames
        canvas = blocks.canvas
        frames = blocks.frames.map(\.description)
        loopCount = UInt(blocks.loopCount)
        isTruncated = blocks.isTruncated
        frameCount = blocks.frameCount
    }

    func decode(_ index: Int, row: (_ y: Int, _ pixels: UnsafePointer<UInt32>) -> Void) throws(ImagingError) {
        try data.withBytes { bytes throws(ImagingError) in try decode(parts[index], bytes, row) }
    }

    private func decode(
        _ part: GIFBlocks.Frame,
        _ bytes: UnsafeRawBufferPointer,
        _ row: (Int, UnsafePointer<UInt32>) -> Void
    ) throws(ImagingError) {
        guard !part.isEmpty else { return }
        guard let colors = part.colors else { throw .malformed(.gif, detail: "there is no colour table") }
        guard let start = bytes.start, part.pixels < bytes.count else {
            throw .malformed(.gif, detail: "the data ends before the frame")
        }
        let size = part.description.size
        // Rows below the canvas need not be unpacked, unless they come before others.
        let below = part.isInterlaced ? size.height : min(size.height, canvas.height - part.description.y)
        guard below > 0 else { return }
        let count = size.width * below
        let memory = try Buffer<UInt8>(Int(KF_GIF_BEFORE) + count + Int(KF_GIF_AFTER))
        let pixels = try Buffer<UInt32>(size.width + 256)
        defer { withExtendedLifetime((memory, pixels)) {} }
        let palette = pixels.base + size.width
        Self.read(bytes[colors], to: palette, transparentIndex: part.transparentIndex)

        let done = kf_gif_unpack(start + part.pixels, bytes.count - part.pixels, memory.base, count)
        let indices = memory.base + Int(KF_GIF_BEFORE)
        for (number, y) in Self.rowOrder(size.height, part.isInterlaced).prefix(done / size.width).enumerated() {
            kf_gif_color(indices + number * size.width, size.width, palette, pixels.base)
            row(y, pixels.base)
        }
        guard done == count else { throw .malformed(.gif, detail: "the pixels of a frame are damaged or missing") }
    }

    /// The 256 colours that bytes can name, as pixels; those that the table lacks are transparent.
    private static func read(
        _ table: Slice<UnsafeRawBufferPointer>,
        to palette: UnsafeMutablePointer<UInt32>,
        transparentIndex: Int?
    ) {
        palette.update(repeating: 0, count: 256)
        for index in 0..<min(256, table.count / 3) where index != transparentIndex {
            let offset = table.startIndex + index * 3
            let (r, g, b) = (UInt32(table[offset]), UInt32(table[offset + 1]), UInt32(table[offset + 2]))
            palette[index] = 0xFF00_0000 | r << 16 | g << 8 | b
        }
    }

    /// The rows in the order they are stored in.
    private static func rowOrder(_ height: Int, _ isInterlaced: Bool) -> [Int] {
        guard isInterlaced else { return Array(0..<height) }
        return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { stride(from: $0.0, to: height, by: $0.1) }
    }
}
