// The blocks of a GIF: where its frames lie and how they are described. Unpacks no pixels.

import Foundation

/// The description of a GIF by its blocks.
struct GIFBlocks {
    /// One frame: its description, and where its parts are.
    struct Frame {
        var description: FrameDescription
        /// Where the packed pixels begin: with the size of the first codes.
        let pixels: Int
        /// The frame has no pixels at all: it is there for its delay.
        let isEmpty: Bool
        /// The colours; nil when neither the frame nor the file has any.
        let colors: Range<Int>?
        /// The index of pixels that are transparent.
        let transparentIndex: Int?
        let isInterlaced: Bool
    }

    /// The logical screen, grown to the first frame where that reaches beyond it; when the screen is empty, the area
    /// that the frames cover.
    private(set) var canvas = PixelSize(1, 1)
    /// The area that the frames cover, canvas or not.
    private(set) var covered = (width: 0, height: 0)
    /// The area that the first frame covers.
    private var coveredByFirst = (width: 0, height: 0)
    private(set) var frames: [Frame] = []
    private(set) var frameCount = 0
    /// Seconds for all frames.
    private(set) var duration = 0.0
    /// How often the frames are played: once unless the file says otherwise; 0 means endlessly.
    private(set) var loopCount = 1
    private(set) var hasTransparency = false
    /// Whether the file ends within a frame, or within the blocks before one.
    private(set) var isTruncated = false
    private let bytes: UnsafeRawBufferPointer
    private var control = Control()

    /// The control block before a frame, which describes it.
    private struct Control {
        var delay = 0.0
        var disposal = FrameDescription.Disposal.keep
        var transparentIndex: Int?
    }

    /// The frames to keep.
    enum FrameSelection {
        /// None: they are counted.
        case none
        /// The first one: the others are counted, however many there are.
        case first
        /// All of them, if the limits allow so many.
        case all
    }

    /// Walks over all blocks.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - wanted: Which frames are kept.
    ///   - limits: The limits beyond which the file is refused; nil refuses nothing.
    /// - Throws: ``ImagingError`` when there is no image, or a limit is exceeded.
    init(
        _ bytes: UnsafeRawBufferPointer,
        keeping wanted: FrameSelection,
        limits: ImageDecodingLimits? = nil
    ) throws(ImagingError) {
        guard bytes.count >= 13 else { throw .malformed(.gif, detail: "the data ends within the header") }
        self.bytes = bytes
        let screen = (width: word(at: 6), height: word(at: 8))
        let colors = colorTable(flags: bytes[10], at: 13)
        // Counting goes on beyond the limit, for the error to name the true number; keeping does not.
        let kept =
            switch wanted {
            case .none: 0
            case .first: 1
            case .all: limits?.maxFrameCount ?? .max
            }
        var offset = colors?.upperBound ?? 13
        // 0x3B ends the file; whatever follows it, or stands where a block should begin, is ignored.
        while offset < bytes.count {
            if bytes[offset] == 0x2C, offset + 10 <= bytes.count {
                let pixels = readFrame(at: offset + 1, colors, isKept: frameCount < kept)
                offset = end(ofBlocksAt: pixels + 1)
            } else if bytes[offset] == 0x21, offset + 2 < bytes.count {
                readExtension(bytes[offset + 1], at: offset + 2)
                offset = end(ofBlocksAt: offset + 2)
            } else if bytes[offset] == 0 {
                offset += 1
            } else {
                isTruncated = bytes[offset] == 0x2C || bytes[offset] == 0x21
                break
            }
        }
        isTruncated = isTruncated || offset > bytes.count
        guard frameCount > 0, screen.width * screen.height + covered.width * covered.height > 0 else {
            throw .malformed(.gif, detail: "there is no image in it")
        }
        if wanted == .all { try limits?.check(frameCount: frameCount) }
        let hasScreen = screen.width > 0 && screen.height > 0
        canvas =
            hasScreen
            ? PixelSize(max(screen.width, coveredByFirst.width), max(screen.height, coveredByFirst.height))
            : PixelSize(covered.width, covered.height)
        try limits?.check(width: canvas.width, height: canvas.height)
        // Pixels outside the canvas are unpacked too.
        try limits?.check(width: covered.width, height: covered.height)
    }

    /// Reads the frame described at `offset`; returns where its pixels begin.
    private mutating func readFrame(at offset: Int, _ globalColors: Range<Int>?, isKept: Bool) -> Int {
        let (x, y) = (word(at: offset), word(at: offset + 2))
        let (width, height) = (word(at: offset + 4), word(at: offset + 6))
        let localColors = colorTable(flags: bytes[offset + 8], at: offset + 9)
        let pixels = localColors?.upperBound ?? offset + 9
        covered = (max(covered.width, x + width), max(covered.height, y + height))
        if frameCount == 0, width > 0, height > 0 { coveredByFirst = covered }
        frameCount += 1
        let delay = FrameDelay.effective(control.delay)
        duration += delay
        defer { control = Control() }
        guard isKept else { return pixels }
        let colors = (localColors ?? globalColors).map { $0.clamped(to: 0..<bytes.count) }
        var description = FrameDescription(x: x, y: y, size: PixelSize(width, height), delay: delay)
        description.disposal = control.disposal
        // Codes may name colours that a short table does not have: these pixels are transparent too.
        let codes = pixels < bytes.count ? 1 << Int(min(bytes[pixels], 8)) : 256
        description.isOpaque = control.transparentIndex == nil && (colors?.count ?? 0) >= 3 * codes
        frames.append(
            Frame(
                description: description,
                pixels: pixels,
                isEmpty: width == 0 || height == 0,
                colors: colors,
                transparentIndex: control.transparentIndex,
                isInterlaced: bytes[offset + 8] & 0x40 != 0
            )
        )
        return pixels
    }

    private mutating func readExtension(_ kind: UInt8, at offset: Int) {
        let size = Int(bytes[offset])
        guard offset + 1 + size <= bytes.count else { return }
        if kind == 0xF9, size >= 4 {
            let flags = bytes[offset + 1]
            control.delay = Double(word(at: offset + 2)) / 100
            control.disposal =
                switch flags >> 2 & 7 {
                case 2: .clear
                // 4 is what an old mistake in a much used encoder wrote for 3.
                case 3, 4: .restore
                default: .keep
                }
            control.transparentIndex = flags & 1 == 1 ? Int(bytes[offset + 4]) : nil
            if flags & 1 == 1 { hasTransparency = true }
        } else if kind == 0xFF, size == 11, isLooping(bytes[offset + 1..<offset + 12]) {
            loopCount = plays(inBlocksAt: offset + 12) ?? loopCount
        }
    }

    /// How often the frames are played according to the sub-blocks of the extension; 0 means endlessly, nil that none
    /// of them says so.
    ///
    /// The file has the number of repetitions, in a sub-block of kind 1. One of kind 2, about the reader's buffer, may
    /// come before it.
    private func plays(inBlocksAt start: Int) -> Int? {
        var offset = start
        while offset + 3 < bytes.count, bytes[offset] > 0 {
            if bytes[offset] == 3, bytes[offset + 1] == 1 {
                let repetitions = word(at: offset + 2)
                return repetitions == 0 ? 0 : repetitions + 1
            }
            offset += Int(bytes[offset]) + 1
        }
        return nil
    }

    private func isLooping(_ application: Slice<UnsafeRawBufferPointer>) -> Bool {
        application.elementsEqual("NETSCAPE2.0".utf8) || application.elementsEqual("ANIMEXTS1.0".utf8)
    }

    /// Where a chain of sub-blocks ends, which a block of no bytes does.
    private func end(ofBlocksAt start: Int) -> Int {
        var offset = start
        while offset < bytes.count, bytes[offset] > 0 { offset += Int(bytes[offset]) + 1 }
        return offset + 1
    }

    private func word(at offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }

    private func colorTable(flags: UInt8, at offset: Int) -> Range<Int>? {
        flags & 0x80 == 0 ? nil : offset..<offset + 3 << (Int(flags & 7) + 1)
    }
}
