// Finds how often an AVIF sequence is to be played, which only newer versions of libavif report. Walks boxes, decodes
// nothing.

/// A walk over the boxes of an AVIF sequence.
enum AVIFBoxes {
    /// How often the first track is to be played, by its edit list; 0, which means endlessly, when it has none.
    static func loopCount(_ bytes: UnsafeRawBufferPointer) -> UInt {
        guard let track = find(["moov", "trak"], in: bytes[...]),
            let header = find(["tkhd"], in: track), let list = find(["edts", "elst"], in: track),
            let version = header.first, let (listVersion, flags) = start(of: list)
        else { return 0 }
        // The list's first entry says what is repeated, the track's header how long that goes on.
        let whole = version == 1 ? number(header, 28, 8) : number(header, 20, 4)
        let part = number(list, 8, listVersion == 1 ? 8 : 4)
        guard let whole, let part, part > 0, whole != (version == 1 ? .max : 0xFFFF_FFFF) else { return 0 }
        return flags & 1 == 1 ? UInt(whole / part + (whole % part > 0 ? 1 : 0)) : 1
    }

    private static func start(of box: Slice<UnsafeRawBufferPointer>) -> (version: UInt64, flags: UInt64)? {
        number(box, 0, 4).map { ($0 >> 24, $0 & 0xFFFFFF) }
    }

    /// The content of the first box at the end of a path.
    private static func find(
        _ path: [String],
        in boxes: Slice<UnsafeRawBufferPointer>
    ) -> Slice<UnsafeRawBufferPointer>? {
        guard let name = path.first else { return boxes }
        var rest = boxes
        while var size = number(rest, 0, 4), rest.count >= 8 {
            var headerSize = 8
            if size == 0 { size = UInt64(rest.count) }
            if size == 1 {
                guard let large = number(rest, 8, 8) else { return nil }
                (size, headerSize) = (large, 16)
            }
            guard size >= UInt64(headerSize), size <= UInt64(rest.count) else { return nil }
            if rest.dropFirst(4).prefix(4).elementsEqual(name.utf8) {
                return find(Array(path.dropFirst()), in: rest.prefix(Int(size)).dropFirst(headerSize))
            }
            rest = rest.dropFirst(Int(size))
        }
        return nil
    }

    /// Nil when the box ends before that.
    private static func number(_ box: Slice<UnsafeRawBufferPointer>, _ offset: Int, _ size: Int) -> UInt64? {
        guard box.count >= offset + size else { return nil }
        return box.dropFirst(offset).prefix(size).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
