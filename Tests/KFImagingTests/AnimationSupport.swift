// Helpers that the tests of animations share: a second implementation of composing frames, and files taken apart.

import Foundation
import Testing

@testable import KFImaging

/// Frames held in memory.
struct Frames: ImageFrameSource {
    var bitmaps: [Bitmap?]
    var delays: [Double]
    var loopCount: UInt = 0
    let data: Data? = nil
    var frameCount: Int { bitmaps.count }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? { bitmaps.indices.contains(index) ? bitmaps[index] : nil }
    func duration(at index: Int) -> TimeInterval { delays.indices.contains(index) ? delays[index] : 0 }
}

/// The pixels of one frame by itself.
func ownPixels(_ decoder: any FrameDecoder, _ index: Int) throws -> [[UInt32]] {
    let size = decoder.frames[index].size
    var rows = [[UInt32]](repeating: [], count: size.height)
    try decoder.decode(index) { y, pixels in
        rows[y] = Array(UnsafeBufferPointer(start: pixels, count: size.width))
    }
    return rows
}

/// The whole images of an animation, composed pixel by pixel as the formats' specifications say.
func composed(_ decoder: any FrameDecoder) throws -> [Bitmap] {
    let empty = [UInt32](repeating: 0, count: decoder.canvas.width)
    var canvas = [[UInt32]](repeating: empty, count: decoder.canvas.height)
    return try decoder.frames.indices.map { index in
        let frame = decoder.frames[index]
        let before = canvas
        for (y, row) in try ownPixels(decoder, index).enumerated() {
            for (x, pixel) in row.enumerated() {
                let below = canvas[frame.y + y][frame.x + x]
                canvas[frame.y + y][frame.x + x] = frame.blend == .source ? pixel : over(pixel, below)
            }
        }
        let image = Bitmap.of(canvas)
        if frame.disposal == .restore { canvas = before }
        if frame.disposal == .clear {
            for y in frame.y..<frame.y + frame.size.height {
                for x in frame.x..<frame.x + frame.size.width { canvas[y][x] = 0 }
            }
        }
        return image
    }
}

/// Premultiplied source-over.
private func over(_ top: UInt32, _ below: UInt32) -> UInt32 {
    [0, 8, 16, 24].reduce(0) { result, shift in
        let part = Double(below >> shift & 255) * Double(255 - top >> 24) / 255
        return result | UInt32((Double(top >> shift & 255) + part).rounded()) << shift
    }
}

/// The frames in a fixture.
func frames(_ name: String, limits: ImageDecodingLimits = ImageDecodingLimits()) throws -> (any FrameDecoder)? {
    try frames(of: fixture(name), limits: limits)
}

/// The frames in some bytes.
func frames(of data: Data, limits: ImageDecodingLimits = ImageDecodingLimits()) throws -> (any FrameDecoder)? {
    switch ImageContentType(sniffing: data) {
    case .png?: try PNGCodec.frames(of: data, limits: limits)
    case .gif?: try GIFCodec.frames(of: data, limits: limits)
    case .webp?: try WebPCodec.frames(of: data, limits: limits)
    case .avif?: try AVIFCodec.frames(of: data, limits: limits)
    default: nil
    }
}

/// A PNG's chunks, to be changed and joined again; checksums are not updated.
struct PNGChunkList {
    struct Chunk {
        var name: String
        var content: [UInt8]
        let sum: [UInt8]
    }
    var chunks: [Chunk] = []

    init(_ data: Data) {
        let bytes = [UInt8](data)
        var offset = 8
        while offset + 12 <= bytes.count {
            let size = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = offset + 8 + size
            chunks.append(
                Chunk(
                    name: String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self),
                    content: Array(bytes[offset + 8..<end]),
                    sum: Array(bytes[end..<end + 4])
                )
            )
            offset = end + 4
        }
    }

    /// The indices of the chunks with a name.
    func places(_ name: String) -> [Int] { chunks.indices.filter { chunks[$0].name == name } }

    var data: Data {
        var data = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        for chunk in chunks {
            data += withUnsafeBytes(of: UInt32(chunk.content.count).bigEndian, Array.init)
            data += Array(chunk.name.utf8) + chunk.content + chunk.sum
        }
        return data
    }
}
