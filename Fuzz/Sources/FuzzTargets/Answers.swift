// What this process reads from a decoder that has been taken over: any messages, and any bytes as its memory.

import Foundation
import KFSupport

@testable import KFImaging

extension FuzzTarget {
    static let answers = [FuzzTarget(name: "answers", run: read)]

    /// The input is a byte that says what is read, one for the length of the answer's values in words, these values,
    /// and the pixels behind them.
    @Sendable private static func read(_ data: Data) -> Bool {
        let bytes = [UInt8](data)
        guard bytes.count > 2, bytes.count < 1 << 14 else { return false }
        readMessages(bytes)
        let split = min(bytes.count, 2 + Int(bytes[1]) * 8)
        guard let answer = answer(bytes[2..<split], bytes[split...]) else { return true }
        switch bytes[0] % 5 {
        case 0: readImage(answer)
        case 1: readAnimation(answer, bytes[split...])
        case 2:
            var values = answer.values
            guard let info = try? values.info(of: .png, byteCount: bytes.count) else { return true }
            precondition(info.pixelWidth > 0 && info.pixelHeight > 0 && info.frameCount >= 0)
        case 3:
            var values = answer.values
            if let error = try? values.error() { precondition(error.description.utf8.count < 8_000) }
        default:
            var values = answer.values
            if let exif = try? values.data() { precondition(exif.count < bytes.count) }
        }
        return true
    }

    /// Small, so that a run is fast.
    private static let few: ImageDecodingLimits = {
        var few = limits
        few.maxPixelCount = 1 << 12
        return few
    }()

    private static func readMessages(_ bytes: [UInt8]) {
        _ = try? DecoderGreeting(bytes)
        // What a decoder is asked; of its own program, it is read with the same care.
        _ = DecoderRequest(bytes)
        guard let header = try? AnswerHeader(bytes) else { return }
        precondition(header.number >= 0 && header.bodyCount > 0 && header.count >= header.bodyCount)
    }

    /// Memory with this answer in it.
    private static func answer(_ values: ArraySlice<UInt8>, _ pixels: ArraySlice<UInt8>) -> ReceivedAnswer? {
        let offset = DecoderAnswer.pixelOffset(values.count)
        guard let memory = try? SharedMemory(toRead: offset + max(1, pixels.count)),
            let written = try? SharedMemory(of: memory.file, isWritten: true)
        else { preconditionFailure("there is no shared memory") }
        written.bytes.copyBytes(from: values)
        UnsafeMutableRawBufferPointer(rebasing: written.bytes[offset...]).copyBytes(from: pixels)
        let count = pixels.isEmpty ? values.count : offset + pixels.count
        return try? ReceivedAnswer(AnswerHeader(number: 1, bodyCount: values.count, count: count), in: memory)
    }

    private static func readImage(_ answer: ReceivedAnswer) {
        var answer = answer
        guard let image = try? answer.image(few) else { return }
        examine(image.bitmap, atMost: few.maxPixelCount)
        precondition((image.frameCount ?? 1) > 0)
    }

    /// Plays an animation as it is described, whose frames are answered with what is left of the bytes.
    private static func readAnimation(_ answer: ReceivedAnswer, _ rest: ArraySlice<UInt8>) {
        var values = answer.values
        guard let animation = try? values.animation(few) else { return }
        precondition(animation.canvas.pixelCount <= few.maxPixelCount && animation.frames.count <= few.maxFrameCount)
        let source = OnDemandFrameSource(LyingFrames(values: animation, bytes: Array(rest)), data: nil)
        for index in [0, source.frameCount - 1, source.frameCount / 2, 0] {
            let duration = source.duration(at: index)
            precondition(duration.isFinite && duration >= 0)
            if let frame = source.frame(at: index) { examine(frame, atMost: few.maxPixelCount) }
        }
    }

    /// The frames of an animation as such a decoder describes and decodes them.
    private struct LyingFrames: FrameDecoder {
        let values: AnimationValues
        let bytes: [UInt8]

        var canvas: PixelSize { values.canvas }
        var frames: [FrameDescription] { values.frames }
        var loopCount: UInt { values.loopCount }
        var orientation: Orientation { values.orientation }

        func decode(_ index: Int, row: (Int, UnsafePointer<UInt32>) -> Void) throws(ImagingError) {
            let split = min(bytes.count, 1 + Int(bytes.first ?? 0) * 8)
            guard var answer = FuzzTarget.answer(bytes[..<split].dropFirst(), bytes[split...]) else { throw .emptyData }
            do {
                try answer.rows(of: frames[index], row)
            } catch {
                throw error as? ImagingError ?? .emptyData
            }
        }
    }
}
