// What an animated WebP says about its frames, from one walk over the chunks. Decodes nothing.

/// The frames of an animated WebP.
///
/// libwebp can tell their times too, but looks for each frame from the beginning.
struct WebPChunks {
    /// The frames that are there, the last one perhaps in part.
    private(set) var frameCount = 0
    /// Seconds for all frames.
    private(set) var duration = 0.0

    init(_ bytes: UnsafeRawBufferPointer) {
        var offset = 12
        while offset <= bytes.count - 8 {
            let name = bytes[offset..<offset + 4]
            let size = Self.number(bytes, offset + 4, 4)
            // A frame's own header has 16 bytes, the chunk with its picture 8 more before anything can be seen.
            if name.elementsEqual("ANMF".utf8), size >= 24, bytes.count - offset - 8 >= 24 {
                frameCount += 1
                duration += FrameDelay.effective(Double(Self.number(bytes, offset + 20, 3)) / 1000)
            }
            // Chunks begin at even places.
            offset += 8 + size + size % 2
        }
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ size: Int) -> Int {
        bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
