// The frames of an AVIF sequence, and how often it is played. Keeps the decoder open, because most frames are built
// upon those before them.

import CKFCodecs
import Foundation

/// An AVIF sequence.
final class AVIFFrames: FrameDecoder {
    let canvas: PixelSize
    let frames: [FrameDescription]
    let loopCount: UInt
    // SAFETY: after `init` only `decode` uses the reader. It is called by an `OnDemandFrameSource`, under its lock, or
    // by the one thread of a decoder process. The reader goes before the bytes that it borrows.
    private nonisolated(unsafe) let reader: AVIFReader
    // SAFETY: filled before the first decoder of them is made, and never written again; several decoders read them.
    private nonisolated(unsafe) let bytes: Buffer<UInt8>

    /// Nil for stills.
    convenience init?(_ data: Data, limits: ImageDecodingLimits) throws(ImagingError) {
        let isSequence = try data.withBytes { bytes throws(ImagingError) in
            let reader = try AVIFReader(bytes)
            try limits.check(width: reader.size.width, height: reader.size.height)
            try limits.check(frameCount: reader.frameCount ?? 1)
            return reader.frameCount != nil
        }
        guard isSequence else { return nil }
        // The bytes of `data` may move after the call that borrows them.
        let copy = try Buffer<UInt8>(data.count)
        data.copyBytes(to: copy.base, count: data.count)
        try self.init(copy, frames: nil)
    }

    private init(_ bytes: Buffer<UInt8>, frames known: [FrameDescription]?) throws(ImagingError) {
        let raw = UnsafeRawBufferPointer(start: bytes.base, count: bytes.count)
        let reader = try AVIFReader(raw)
        let canvas = reader.displayedSize
        self.bytes = bytes
        self.reader = reader
        self.canvas = canvas
        loopCount = AVIFBoxes.loopCount(raw)
        frames =
            known
            ?? (0..<(reader.frameCount ?? 1)).map { index in
                FrameDescription(
                    x: 0,
                    y: 0,
                    size: canvas,
                    delay: reader.delay(index),
                    blend: .source,
                    isOpaque: !reader.header.has_alpha
                )
            }
    }

    func decode(_ index: Int, row: (_ y: Int, _ pixels: UnsafePointer<UInt32>) -> Void) throws(ImagingError) {
        try reader.displayed(index, DecodingOptions()).forEachRow(row)
    }

    func independent() throws(ImagingError) -> any FrameDecoder { try AVIFFrames(bytes, frames: frames) }
}

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
