// The frames of an animated PNG, each decoded as a PNG of its own. FrameCompositor composes them.

import Foundation

/// An animated PNG.
struct APNGFrames: FrameDecoder {
    let canvas: PixelSize
    let frames: [FrameDescription]
    let loopCount: UInt
    let orientation: Orientation
    var isTruncated: Bool { chunks.isTruncated }
    private let data: Data
    private let chunks: APNGChunks
    private let limits: ImageDecodingLimits
    /// The conversion of the colours of every frame; made once, as it may take longer than decoding a frame.
    private let color: ColorTransform?

    /// Nil for stills.
    init?(_ data: Data, limits: ImageDecodingLimits) throws(ImagingError) {
        guard let chunks = data.withUnsafeBytes({ APNGChunks($0) }) else { return nil }
        try limits.check(width: chunks.canvas.width, height: chunks.canvas.height)
        try limits.check(frameCount: chunks.frames.count)
        canvas = chunks.canvas
        frames = chunks.frames.map(\.description)
        loopCount = UInt(chunks.loopCount)
        orientation = data.withUnsafeBytes { PNGChunks($0).orientation }
        self.data = data
        self.chunks = chunks
        self.limits = limits
        let first = data.withUnsafeBytes { Data(Self.still(chunks, 0, with: chunks.colors + chunks.shared, $0)) }
        // A file that cannot even be opened says so when its frames are asked for.
        color = try? first.withBytes { bytes throws(ImagingError) in try PNGCodec.color(of: bytes) }
    }

    func decode(_ index: Int, row: (_ y: Int, _ pixels: UnsafePointer<UInt32>) -> Void) throws(ImagingError) {
        let bitmap = try file(of: index).withBytes { bytes throws(ImagingError) in
            try PNGCodec.bitmap(of: bytes, color, limits)
        }
        guard frames[index].isOpaque, bitmap.hasAlpha else { return bitmap.forEachRow(row) }
        // Missing pixels of a damaged frame came out transparent, which no pixel of this one can be.
        bitmap.forEachRow { y, pixels in
            if (0..<bitmap.width).allSatisfy({ pixels[$0] >> 24 == 255 }) { row(y, pixels) }
        }
        throw .malformed(.png, detail: "the rows of a frame are damaged or missing")
    }

    /// A PNG that holds nothing but the pixels of one frame; the meaning of its colours is known already.
    func file(of index: Int) -> Data {
        data.withUnsafeBytes { Data(Self.still(chunks, index, with: chunks.shared, $0)) }
    }

    private static func still(
        _ chunks: APNGChunks,
        _ index: Int,
        with shared: [Range<Int>],
        _ bytes: UnsafeRawBufferPointer
    ) -> [UInt8] {
        let frame = chunks.frames[index]
        let size = frame.description.size
        let header = .bigEndian(size.width) + .bigEndian(size.height) + bytes[chunks.header].dropFirst(8)
        var file = PNGFile.signature
        file.reserveCapacity((shared + frame.data).reduce(64) { $0 + $1.count + 12 })
        file.appendPNGChunk("IHDR", header)
        for chunk in shared { file += bytes[chunk] }
        for piece in frame.data { file.appendPNGChunk("IDAT", bytes[piece]) }
        file.appendPNGChunk("IEND", [])
        return file
    }
}

extension PNGCodec {
    static func frames(of data: Data, limits: ImageDecodingLimits) throws(ImagingError) -> (any FrameDecoder)? {
        try APNGFrames(data, limits: limits)
    }
}
