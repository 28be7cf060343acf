// The position in an animation: which frame, for how long, how often it was played. A `FrameAnimator` advances it.

import Foundation

/// The change in an animation when its time advances.
struct AnimationStep: Sendable, Equatable {
    /// Whether another frame is current.
    var hasAdvanced = false
    /// The numbers of the loops that are complete now, counted from 1; several only when frames were skipped.
    var loopsPlayed: [UInt] = []
    /// Whether the animation is over: it is to be stopped, on its last frame.
    var hasEnded = false
}

/// The position in an animation.
struct Playhead: Sendable {
    /// The number of the current frame, from 0.
    private(set) var index = 0
    /// Whether the last loop is complete.
    private(set) var isFinished = false

    private let count: Int
    private let limit: UInt?
    /// For how many seconds the current frame has been shown.
    private var elapsed: TimeInterval = 0
    private var loops: UInt = 0
    private var hasEnded = false

    /// The beginning of an animation of `count` frames.
    init(count: Int, repeatCount: AnimationRepeatCount) {
        self.count = count
        limit = repeatCount.limit
    }

    /// Whether the animation is played without end.
    var isEndless: Bool { limit == nil }

    /// The current frame, and for how long it has been shown.
    var position: FramePosition { FramePosition(index: index, elapsed: elapsed) }

    /// Whether time changes nothing: there is one frame without end, or none, or the animation is not to be played.
    var isStill: Bool { count < 1 || limit == 0 || count == 1 && limit == nil }

    /// Advances the time.
    ///
    /// - Parameters:
    ///   - seconds: The time that passes; more than one second counts as one.
    ///   - catchUp: Whether further frames whose time is over are skipped, at most one loop of them; the rest follows
    ///     with the next tick. Otherwise the animation advances by one frame at most.
    ///   - position: The position that the time begins at, if it is not the present one; frames on the way to it are
    ///     skipped.
    ///   - delay: How long a frame is shown, in seconds.
    /// - Returns: The change.
    mutating func tick(
        _ seconds: TimeInterval,
        catchUp: Bool,
        from position: FramePosition? = nil,
        delay: (Int) -> TimeInterval
    ) -> AnimationStep {
        var step = AnimationStep()
        guard !isStill, !hasEnded else { return step }
        if isFinished {
            hasEnded = true
            step.hasEnded = true
            return step
        }
        if let position, position.index < count {
            while index != position.index { advance(&step) }
            elapsed = position.elapsed
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
