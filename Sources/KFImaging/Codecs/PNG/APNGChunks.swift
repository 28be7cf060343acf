// Reads the frames of an animated PNG, in one walk over the chunks. Decodes nothing.

import Foundation

/// The frames of an animated PNG, and the parts of the file that belong to all of them.
///
/// Chunks out of place end the animation: the frames before them are right, and nothing after them can be trusted. The
/// numbers that chunks carry have to grow, but may leave some out.
struct APNGChunks {
    /// One frame.
    struct Frame {
        var description: FrameDescription
        /// Where the compressed rows lie in the file, in pieces.
        var data: [Range<Int>] = []
    }

    private(set) var frames: [Frame] = []
    /// How often the frames are to be played; 0 means endlessly.
    private(set) var loopCount = 0
    private(set) var canvas = PixelSize(1, 1)
    /// The content of `IHDR`.
    private(set) var header: Range<Int>
    /// The chunks that the rows of every frame need, whole: palette and transparency, at most one of each.
    ///
    /// It goes into the file made of each frame, so it has to be small whatever the file holds.
    private(set) var shared: [Range<Int>] = []
    /// The file's description of its colours, as whole chunks.
    ///
    /// It is the same for all frames, and may be large.
    private(set) var colors: [Range<Int>] = []
    /// Whether no pixel can be transparent.
    private(set) var isOpaque = false

    /// Whether the image that is shown by programs without support for animations is no frame.
    private(set) var hasHiddenImage = false

    /// Seconds for all frames.
    var duration: Double { frames.reduce(0) { $0 + $1.description.delay } }

    /// Whether the file has fewer frames than it announces, or ends within the last one.
    var isTruncated: Bool { frames.count < declaredCount || endsEarly }

    private var endsEarly = false
    private var declaredCount = 0
    private var isAnimated = false
    private var hasDefaultImage = false
    private var hasPalette = false
    private var hasTransparency = false
    private var lastNumber = -1
    /// The frame whose rows are being collected.
    private var open: Frame?

    /// Nil for stills.
    init?(_ bytes: UnsafeRawBufferPointer) {
        header = 16..<29
        guard bytes.count >= 33, bytes[12..<16].elementsEqual("IHDR".utf8) else { return nil }
        canvas = PixelSize(Self.number(bytes, 16, 4), Self.number(bytes, 20, 4))
        isOpaque = [0, 2, 3].contains(bytes[25])
        var offset = 33
        while offset + 12 <= bytes.count {
            let size = Self.number(bytes, offset, 4)
            // The last chunk may be cut off; its frame is shown as far as it goes.
            let content = offset + 8..<min(offset + 8 + size, bytes.count)
            endsEarly = offset + 12 + size > bytes.count
            guard read(bytes, bytes[offset + 4..<offset + 8], content) else { break }
            offset += 12 + size
        }
        close()
        if frames.isEmpty { return nil }
    }

    /// Reads one chunk; returns whether the walk goes on.
    private mutating func read(
        _ bytes: UnsafeRawBufferPointer,
        _ name: Slice<UnsafeRawBufferPointer>,
        _ content: Range<Int>
    ) -> Bool {
        switch String(decoding: name, as: UTF8.self) {
        case "acTL":
            // After the image it has no meaning.
            guard !hasDefaultImage, content.count >= 8 else { break }
            isAnimated = true
            declaredCount = Self.number(bytes, content.lowerBound, 4)
            loopCount = Self.number(bytes, content.lowerBound + 4, 4)
        case "fcTL":
            close()
            return begin(bytes, content)
        case "IDAT":
            hasDefaultImage = true
            guard isAnimated else { return false }
            open?.data.append(content)
            if open == nil { hasHiddenImage = true }
        case "fdAT":
            guard open != nil, content.count >= 4, accept(Self.number(bytes, content.lowerBound, 4)) else {
                return false
            }
            open?.data.append(content.dropFirst(4))
        case "PLTE":
            guard !hasPalette, isUsable(bytes, content), content.count <= 3 * 256 else { break }
            hasPalette = true
            shared.append(content.lowerBound - 8..<content.upperBound + 4)
        case "tRNS":
            guard !hasTransparency, isUsable(bytes, content), content.count <= 256 else { break }
            (hasTransparency, isOpaque) = (true, false)
            shared.append(content.lowerBound - 8..<content.upperBound + 4)
        case "gAMA", "iCCP", "sRGB", "cHRM", "cICP", "cLLI", "mDCV":
            guard isUsable(bytes, content) else { break }
            colors.append(content.lowerBound - 8..<content.upperBound + 4)
        case "IEND":
            return false
        default:
            break
        }
        return true
    }

    /// Whether a chunk is whole, and comes before the pixels.
    private func isUsable(_ bytes: UnsafeRawBufferPointer, _ content: Range<Int>) -> Bool {
        !hasDefaultImage && content.upperBound + 4 <= bytes.count
    }

    private mutating func begin(_ bytes: UnsafeRawBufferPointer, _ content: Range<Int>) -> Bool {
        guard isAnimated, content.count >= 26 else { return false }
        guard accept(Self.number(bytes, content.lowerBound, 4)) else { return false }
        func field(_ offset: Int, _ size: Int) -> Int { Self.number(bytes, content.lowerBound + offset, size) }
        let (width, height, x, y) = (field(4, 4), field(8, 4), field(12, 4), field(16, 4))
        guard width > 0, height > 0, x + width <= canvas.width, y + height <= canvas.height else { return false }
        // The image that other software shows is a frame when it covers everything.
        guard hasDefaultImage || (width, height) == (canvas.width, canvas.height) else { return false }
        let (delay, unit) = (field(20, 2), field(22, 2))
        open = Frame(
            description: FrameDescription(
                x: x,
                y: y,
                size: PixelSize(width, height),
                delay: FrameDelay.effective(Double(delay) / Double(unit == 0 ? 100 : unit)),
                disposal: [.keep, .clear, .restore][min(field(24, 1), 2)],
                blend: field(25, 1) == 1 ? .over : .source,
                isOpaque: isOpaque
            )
        )
        return true
    }

    private mutating func accept(_ number: Int) -> Bool {
        defer { lastNumber = number }
        return number > lastNumber
    }

    /// Ends the frame whose rows have been collected; one without rows does not count.
    private mutating func close() {
        if let frame = open, !frame.data.isEmpty, frames.count < declaredCount { frames.append(frame) }
        open = nil
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ size: Int) -> Int {
        bytes[offset..<offset + size].reduce(0) { $0 << 8 | Int($1) }
    }
}
