// Finds how often an AVIF sequence is to be played, which only newer versions of libavif report.

/// What the boxes of an AVIF sequence say.
enum AVIFBoxes {
    /// How often the first track is to be played, by its edit list; 0, which means endlessly, when it has none.
    static func loopCount(_ bytes: UnsafeRawBufferPointer) -> UInt {
        guard let track = Boxes(bytes)["moov"]?["trak"], let header = track["tkhd"], let list = track["edts"]?["elst"],
            let version = header.number(0, 1), let listVersion = list.number(0, 1), let flags = list.number(1, 3)
        else { return 0 }
        // The list's first entry says what is repeated, the track's header how long that goes on.
        let whole = version == 1 ? header.number(28, 8) : header.number(20, 4)
        let part = list.number(8, listVersion == 1 ? 8 : 4)
        guard let whole, let part, part > 0, whole != (version == 1 ? .max : 0xFFFF_FFFF) else { return 0 }
        return flags & 1 == 1 ? UInt(whole / part + (whole % part > 0 ? 1 : 0)) : 1
    }
}
