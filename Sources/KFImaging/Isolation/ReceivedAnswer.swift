// A decoder's answer where it arrives: its values are checked, its pixels copied and put right. For DecoderProcess.

import CKFCodecs
import Foundation
import KFSupport

/// An answer of a decoder.
///
/// The decoder may go on writing into its memory, so every byte is copied before it is looked at.
struct ReceivedAnswer {
    private let memory: SharedMemory
    private let offset: Int
    /// How many bytes of pixels there are.
    private let pixelCount: Int
    /// The values that come before them, behind their kind.
    var values: MessageReader
    let kind: DecoderAnswer.Kind

    /// Copies the values of an answer that has been written.
    init(_ header: AnswerHeader, in memory: SharedMemory) throws(MalformedMessage) {
        guard header.count <= memory.count, header.bodyCount <= header.count else { throw MalformedMessage() }
        var body = [UInt8](repeating: 0, count: header.bodyCount)
        guard body.withUnsafeMutableBytes({ memory.read(at: 0, into: $0) }) else { throw MalformedMessage() }
        values = MessageReader(body)
        kind = DecoderAnswer.Kind.allCases[try values.int(in: 0...2)]
        offset = DecoderAnswer.pixelOffset(header.bodyCount)
        pixelCount = max(0, header.count - offset)
        self.memory = memory
    }

    /// The image that a file was decoded to.
    ///
    /// - Throws: ``MalformedMessage``, or ``ImagingError`` when there is no memory for it here.
    mutating func image(_ limits: ImageDecodingLimits) throws -> DecodedImage {
        let size = try values.size()
        let hasAlpha = try values.bool()
        let orientation = try values.orientation()
        let frameCount = try values.optional { values throws(MalformedMessage) in try values.int(in: 1...1 << 32) }
        let isDamaged = try values.bool()
        try limits.check(width: size.width, height: size.height)
        let (count, overflow) = Bitmap.bytesPerRow(size).multipliedReportingOverflow(by: size.height)
        guard !overflow, count == pixelCount else { throw MalformedMessage() }
        let bitmap = try Bitmap(size, hasAlpha: hasAlpha) { rows throws(ImagingError) in
            // Making pages for a large bitmap would take longer than copying it.
            if count >= 8 << 20 { SharedMemory.preferLargePages(.init(start: rows.base, count: count)) }
            try copy(count, to: rows.base, isOpaque: !hasAlpha)
        }
        return DecodedImage(bitmap: bitmap, orientation: orientation, frameCount: frameCount, isDamaged: isDamaged)
    }

    /// Hands over the rows of a frame.
    ///
    /// - Throws: ``MalformedMessage``, or ``ImagingError`` when some rows are missing.
    mutating func rows(of frame: FrameDescription, _ body: (Int, UnsafePointer<UInt32>) -> Void) throws {
        var rows: [Int] = []
        for _ in 0..<(try values.int(in: 0...frame.size.height)) {
            rows.append(try values.int(in: 0...frame.size.height - 1))
        }
        let failure = try values.optional { values throws(MalformedMessage) in try values.error() }
        let (count, overflow) = rows.count.multipliedReportingOverflow(by: frame.size.width * 4)
        guard !overflow, count == pixelCount else { throw MalformedMessage() }
        let pixels = try Buffer<UInt32>(count / 4)
        defer { withExtendedLifetime(pixels) {} }
        try copy(count, to: pixels.base, isOpaque: frame.isOpaque)
        for (place, y) in rows.enumerated() { body(y, pixels.base + place * frame.size.width) }
        if let failure { throw failure }
    }

    private func copy(_ byteCount: Int, to target: UnsafeMutableRawPointer, isOpaque: Bool) throws(ImagingError) {
        // The size has been compared with the size in the header, which was checked against the memory.
        guard let source = memory.part(at: offset, count: byteCount)?.baseAddress else {
            throw .outOfMemory(bytes: nil)
        }
        let count = byteCount / 4
        kf_pixels_take(
            source.assumingMemoryBound(to: UInt32.self),
            target.bindMemory(to: UInt32.self, capacity: count),
            count,
            isOpaque
        )
    }
}
