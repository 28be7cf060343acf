// What libpng does not tell: orientation and animation, from a walk over the chunks. Decodes nothing.

/// Facts from chunks anywhere in a PNG.
struct PNGChunks {
    private(set) var orientation = Orientation.up
    /// Nil for stills.
    private(set) var frameCount: Int?
    /// 0 means for ever.
    private(set) var loopCount = 0
    /// Seconds for all frames.
    private(set) var duration = 0.0

    init(_ bytes: UnsafeRawBufferPointer) {
        var offset = 8
        while offset + 12 <= bytes.count {
            let size = Self.number(bytes, offset, 4)
            guard size <= bytes.count - offset - 12 else { break }
            let content = UnsafeRawBufferPointer(rebasing: bytes[offset + 8..<offset + 8 + size])
            let name = bytes[offset + 4..<offset + 8]
            if name.elementsEqual("IEND".utf8) { break }
            note(name, content)
            offset += 12 + size
        }
    }

    private mutating func note(_ name: Slice<UnsafeRawBufferPointer>, _ content: UnsafeRawBufferPointer) {
        if name.elementsEqual("eXIf".utf8) {
            orientation = EXIF.orientation(content)
        } else if name.elementsEqual("acTL".utf8), content.count >= 8 {
            frameCount = max(1, Self.number(content, 0, 4))
            loopCount = Self.number(content, 4, 4)
        } else if name.elementsEqual("fcTL".utf8), content.count >= 24 {
            let (delay, unit) = (Self.number(content, 20, 2), Self.number(content, 22, 2))
            duration += FrameDelay.effective(Double(delay) / Double(unit == 0 ? 100 : unit))
        }
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ size: Int) -> Int {
        bytes[offset..<offset + size].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// How long a frame is shown.
enum FrameDelay {
    /// Delays of 11 ms and less are mistakes, and mean a tenth of a second.
    static func effective(_ seconds: Double) -> Double { seconds > 0.011 ? seconds : 0.1 }
}
