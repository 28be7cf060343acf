// The frames of an animation that is open in a decoder process. FrameCompositor composes them here.

import Foundation
import KFSupport

/// What a file says about its frames.
struct AnimationValues: Sendable {
    var canvas: PixelSize
    var frames: [FrameDescription]
    var loopCount: UInt
    var orientation: Orientation
    var isTruncated: Bool
}

/// An animation that is open in a decoder, until its last user releases it.
///
/// It does not keep the process: one that is replaced ends, and the animation is opened in another one.
final class OpenAnimation: Sendable {
    private weak let holder: DecoderProcess?
    let number: Int

    init(_ process: DecoderProcess, _ number: Int) {
        (holder, self.number) = (process, number)
        process.noteOpened()
    }

    deinit { holder?.close(number) }

    /// The process; nil when it has ended.
    var process: DecoderProcess? { holder }
}

/// An animation whose frames are decoded by a decoder process, each by itself.
///
/// When the process is lost, or has closed the animation since others were opened, it is opened again, and goes on with
/// the frame that was asked for.
final class IsolatedFrames: FrameDecoder {
    private let file: DecoderPool.File
    private let values: AnimationValues
    private let pool: DecoderPool
    private let open: Locked<OpenAnimation?>

    var canvas: PixelSize { values.canvas }
    var frames: [FrameDescription] { values.frames }
    var loopCount: UInt { values.loopCount }
    var orientation: Orientation { values.orientation }
    var isTruncated: Bool { values.isTruncated }

    init(_ file: DecoderPool.File, _ values: AnimationValues, in pool: DecoderPool, _ open: OpenAnimation?) {
        (self.file, self.values, self.pool) = (file, values, pool)
        self.open = Locked(open)
    }

    func decode(_ index: Int, row: (_ y: Int, _ pixels: UnsafePointer<UInt32>) -> Void) throws(ImagingError) {
        try pool.use(for: file, open.withLock { $0?.process }) { process throws(DecoderFailure) in
            let animation = try opened(in: process)
            do throws(DecoderFailure) {
                try process.ask(.frame(index, animation: animation.number), about: nil, file.limits) { answer in
                    try answer.rows(of: frames[index], row)
                }
            } catch {
                if case .closed = error { open.withLock { $0 = nil } }
                throw error
            }
        }
    }

    func independent() throws(ImagingError) -> any FrameDecoder { IsolatedFrames(file, values, in: pool, nil) }

    /// The animation as it is open in a process, opened now unless it is.
    private func opened(in process: DecoderProcess) throws(DecoderFailure) -> OpenAnimation {
        if let known = open.withLock({ $0 }), known.process === process { return known }
        // It was an animation before, with these very frames.
        guard let opened = try process.open(file), opened.values.frames.count == frames.count else {
            throw .ended("it found other frames than the decoder before it")
        }
        let animation = OpenAnimation(process, opened.animation)
        open.withLock { $0 = animation }
        return animation
    }
}

extension MessageWriter {
    mutating func add(_ decoder: any FrameDecoder) {
        add(decoder.canvas.width)
        add(decoder.canvas.height)
        add(Int(clamping: decoder.loopCount))
        add(decoder.orientation.rawValue)
        add(decoder.isTruncated)
        add(decoder.frames.count)
        for frame in decoder.frames { add(frame) }
    }
}

extension MessageReader {
    /// What is said about an animation.
    ///
    /// - Throws: ``MalformedMessage``, or ``ImagingError`` where it exceeds a limit.
    mutating func animation(_ limits: ImageDecodingLimits) throws -> AnimationValues {
        let canvas = try size()
        let (loopCount, orientation, isTruncated) = (UInt(try count()), try orientation(), try bool())
        let count = try int(in: 1...(.max))
        try limits.check(width: canvas.width, height: canvas.height)
        try limits.check(frameCount: count)
        var frames: [FrameDescription] = []
        for _ in 0..<count { frames.append(try frame()) }
        return AnimationValues(
            canvas: canvas,
            frames: frames,
            loopCount: loopCount,
            orientation: orientation,
            isTruncated: isTruncated
        )
    }
}
