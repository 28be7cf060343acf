// Shows frames one after the other, each for its duration.

import Foundation
import KFSupport

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
