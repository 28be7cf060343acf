// Where an animation is: which frame, for how long, how often it was played. Knows no pictures, no clock and no thread.

import Foundation

/// What time did to an animation.
struct AnimationStep: Sendable, Equatable {
    /// Whether another frame is on.
    var hasAdvanced = false
    /// The numbers of the loops that are complete now, counted from 1; several only when frames were skipped.
    var loopsPlayed: [UInt] = []
    /// Whether the animation is over: it is to be stopped, on its last frame.
    var hasEnded = false
}

/// The position in an animation.
struct Playhead: Sendable {
    /// The frame that is on, from 0 up.
    private(set) var index = 0
    /// Whether the last loop is complete.
    private(set) var isFinished = false

    private let count: Int
    private let limit: UInt?
    /// For how many seconds the frame has been on.
    private var elapsed: TimeInterval = 0
    private var loops: UInt = 0
    private var hasEnded = false

    /// The beginning of an animation of `count` frames.
    init(count: Int, repeatCount: AnimationRepeatCount) {
        self.count = count
        limit = repeatCount.limit
    }

    /// Whether time does nothing to it: there is one frame for ever, or none, or it is not to be played at all.
    var isStill: Bool { count < 1 || limit == 0 || count == 1 && limit == nil }

    /// Lets time pass.
    ///
    /// - Parameters:
    ///   - seconds: How much; more than one second counts as one.
    ///   - catchUp: Whether frames are skipped whose time is over too, of one loop at most; the rest comes with the
    ///     next tick. Otherwise one frame is advanced at most.
    ///   - delay: How long a frame is on, in seconds.
    /// - Returns: What changed.
    mutating func tick(
        _ seconds: TimeInterval,
        catchUp: Bool,
        delay: (Int) -> TimeInterval
    ) -> AnimationStep {
        var step = AnimationStep()
        guard !isStill, !hasEnded else { return step }
        if isFinished {
            hasEnded = true
            step.hasEnded = true
            return step
        }
        elapsed += seconds > 0 ? min(1, seconds) : 0
        for _ in 0..<(catchUp ? count : 1) where !isFinished {
            let delay = delay(index)
            guard delay <= elapsed else { break }
            elapsed -= delay
            advance(&step)
        }
        return step
    }

    private mutating func advance(_ step: inout AnimationStep) {
        let previous = index
        index = (index + 1) % count
        if index != previous {
            step.hasAdvanced = true
            // The loop that has just ended; those of a single frame are not reported, except the last.
            if index == 0 { step.loopsPlayed.append(loops) }
        }
        guard index == count - 1 else { return }
        loops += 1
        guard loops == limit else { return }
        isFinished = true
        step.loopsPlayed.append(loops)
    }
}
