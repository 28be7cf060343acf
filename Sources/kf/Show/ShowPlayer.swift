// Shows frames one after the other, each for its duration: one image, or those of an animation. For `kf show`.

import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// Draws an image, or plays an animation.
struct ShowPlayer: Sendable {
    let frames: ShowFrames
    let drawing: ShowDrawing
    /// How often the frames are played at most; nil leaves it to the file.
    let loops: Int?
    let screen: ShowScreen

    /// Plays until the end, until the task is cancelled, or until the output is closed.
    ///
    /// - Throws: The reason why a frame cannot be drawn; the screen is restored first.
    func play() async throws(Failure) {
        var result = Result<Void, Failure>.success(())
        do throws(Failure) {
            if try isTaken(await screen.open(drawing)) { try await playFrames() }
        } catch {
            result = .failure(error)
        }
        await screen.close()
        try result.get()
    }

    /// How often all frames are shown; nil is without end.
    static func rounds(file: UInt, limit: Int?) -> Int? {
        let wanted = file == 0 ? nil : Int(clamping: file)
        guard let limit else { return wanted }
        return min(wanted ?? limit, limit)
    }

    private func playFrames() async throws(Failure) {
        let clock = ContinuousClock()
        let rounds = frames.count > 1 ? Self.rounds(file: frames.loopCount, limit: loops) : 1
        var due = clock.now
        var round = 0
        while rounds.map({ round < $0 }) ?? true {
            for index in 0..<frames.count {
                // Prepared while the previous frame is still shown.
                let bytes = try await bytes(at: index)
                if clock.now < due {
                    try? await clock.sleep(until: due)
                } else {
                    due = clock.now
                }
                guard !Task.isCancelled, try isTaken(await screen.draw(bytes)) else { return }
                due += .seconds(frames.duration(at: index))
            }
            round += 1
        }
        // The last frame is shown for its duration before the prompt comes back.
        if frames.count > 1 { try? await clock.sleep(until: due) }
    }

    private func bytes(at index: Int) async throws(Failure) -> [UInt8] {
        let result = await WorkExecutor.cpu.run { () async -> Result<[UInt8], Failure> in
            Result { () throws(Failure) in
                guard let image = frames.image(at: index) else {
                    throw Failure(code: 9006, reason: "badFrame", message: "frame \(index) cannot be decoded")
                }
                return try drawing.bytes(for: image)
            }
        }
        return try result.get()
    }

    /// Whether the bytes were written; false is not an error where the output was only closed.
    private func isTaken(_ code: Int32) throws(Failure) -> Bool {
        guard code != 0, code != EPIPE, !drawing.isScreen else { return code == 0 }
        throw .cannotWrite("standard output", code)
    }
}

/// The frames of a source, decoded when they are asked for.
struct ShowFrames: Sendable {
    /// The first frame, or the only one.
    let image: Image
    /// The number of frames.
    let count: Int
    private let source: (any ImageFrameSource)?

    /// - Parameters:
    ///   - image: An image or an animation.
    ///   - limit: At most this many frames are shown.
    init(_ image: Image, limit: Int) {
        self.image = image.orientedUp
        source = limit > 1 ? image.kf.frameSource : nil
        count = max(1, min(limit, source?.frameCount ?? 1))
    }

    /// How often the file asks to play them; 0 means without end.
    var loopCount: UInt { source?.loopCount ?? 1 }

    /// Decodes one frame, blocking the thread; nil when it cannot be decoded.
    func image(at index: Int) -> Image? {
        guard let source else { return image }
        return source.frame(at: index).map { Image(cgImage: $0) }
    }

    /// The duration of a frame, in seconds.
    func duration(at index: Int) -> Double { source?.duration(at: index) ?? 0 }
}
