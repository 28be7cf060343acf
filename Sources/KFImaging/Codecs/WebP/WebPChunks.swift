// Reads the frames of an animated WebP, in one walk over the chunks. Decodes nothing.

/// The frames of an animated WebP.
///
/// libwebp can list them too, but searches for each frame from the beginning of the file.
struct WebPChunks {
    /// One frame.
    struct Frame {
        var description: FrameDescription
        /// Where the frame's image lies in the file.
        let image: Range<Int>
    }

    /// The frames that are there, at least one, the last one perhaps in part.
    private(set) var frames: [Frame] = []

    /// Whether the file ends before it is as long as it says.
    let isTruncated: Bool

    /// Seconds for all frames.
    var duration: Double { frames.reduce(0) { $0 + $1.description.delay } }

    /// The frames of an image of a given size, up to one that sticks out of it; nil when there is none.
    init?(_ file: UnsafeRawBufferPointer, canvas: PixelSize) {
        let length = 8 + Self.number(file, 4, 4)
        let bytes = UnsafeRawBufferPointer(rebasing: file.prefix(length))
        isTruncated = bytes.count < length
        var offset = 12
        while offset <= bytes.count - 8 {
            let name = bytes[offset..<offset + 4]
            let size = Self.number(bytes, offset + 4, 4)
            let content = UnsafeRawBufferPointer(rebasing: bytes[(offset + 8)...].prefix(size))
            // A frame's own header has 16 bytes, the chunk with its image 8 more before anything can be seen.
            if name.elementsEqual("ANMF".utf8), content.count >= 24 {
                let (place, frame) = (offset + 8, Self.describe(content))
                guard frame.x + frame.size.width <= canvas.width, frame.y + frame.size.height <= canvas.height else {
                    break
                }
                frames.append(Frame(description: frame, image: place + 16..<place + content.count))
            }
            // Chunks begin at even places.
            offset += 8 + size + size % 2
        }
        if frames.isEmpty { return nil }
    }

    private static func describe(_ content: UnsafeRawBufferPointer) -> FrameDescription {
        let flags = content[15]
        return FrameDescription(
            x: 2 * number(content, 0, 3),
            y: 2 * number(content, 3, 3),
            size: PixelSize(number(content, 6, 3) + 1, number(content, 9, 3) + 1),
            delay: FrameDelay.effective(Double(number(content, 12, 3)) / 1000),
            disposal: flags & 1 == 1 ? .clear : .keep,
            blend: flags & 2 == 2 ? .source : .over
        )
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ size: Int) -> Int {
        bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
