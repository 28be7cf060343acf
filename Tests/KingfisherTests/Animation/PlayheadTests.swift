// The playhead of an animation: time, frame indices and loops.

import Foundation
import KFImaging
import Testing

@testable import Kingfisher

/// Plays an animation with the given delays and returns, tick by tick, the index and what is reported.
private func play(
    _ delays: [TimeInterval],
    _ repeatCount: AnimationRepeatCount,
    ticks: [TimeInterval],
    catchUp: Bool = false
) -> [String] {
    var playhead = Playhead(count: delays.count, repeatCount: repeatCount)
    return ticks.map { seconds in
        let step = playhead.tick(seconds, catchUp: catchUp) { delays[$0] }
        let loops = step.loopsPlayed.map { " loops(\($0))" }.joined()
        return "\(playhead.index)\(step.hasAdvanced ? "!" : "")\(loops)\(step.hasEnded ? " end" : "")"
    }
}

private func tenths(_ count: Int) -> [TimeInterval] { [TimeInterval](repeating: 0.1, count: count) }

@Suite struct PlayheadTests {
    @Test("A frame ends when its duration is over, and the rest of the tick counts for the next frame")
    func frameEnds() {
        #expect(play([0.5, 0.5, 0.5], .infinite, ticks: [0.375, 0.375, 0.125, 0.125]) == ["0", "1!", "1", "2!"])
    }

    @Test("A tick advances at most one frame and counts for at most one second")
    func atMostOnce() {
        #expect(play(tenths(9), .infinite, ticks: [0.5, 0, 0, 0, 0, 0]) == ["1!", "2!", "3!", "4!", "5!", "5"])
        #expect(play([1.5, 0.5, 9], .infinite, ticks: [60, 60, 0, 0]) == ["0", "1!", "2!", "2"])
    }

    @Test(
        "A tick whose duration is zero or invalid changes nothing",
        arguments: [0, -1, -.infinity, .nan] as [TimeInterval]
    )
    func noTime(seconds: TimeInterval) {
        #expect(play([0.1, 0.1], .infinite, ticks: [0.05, seconds, 0.05, seconds]) == ["0", "0", "1!", "1"])
    }

    @Test("Frames whose duration is over can be skipped")
    func catchingUp() {
        let eighths = [TimeInterval](repeating: 0.125, count: 9)
        #expect(play(eighths, .infinite, ticks: [0.4375, 0.0625, 0.0625], catchUp: true) == ["3!", "4!", "4"])
        // Every loop is reported, and no tick goes through more than one.
        #expect(play(tenths(2), .infinite, ticks: [0.2, 0.25], catchUp: true) == ["0! loops(1)", "0! loops(2)"])
        #expect(play([0.1, 0.1], .infinite, ticks: [1, 0], catchUp: true) == ["0! loops(1)", "0! loops(2)"])
        #expect(play([0, 0], .infinite, ticks: [1, 1], catchUp: true) == ["0! loops(1)", "0! loops(2)"])
        // The end is not skipped.
        #expect(play(tenths(3), .once, ticks: [1, 1, 1], catchUp: true) == ["2! loops(1)", "2 end", "2"])
    }

    @Test("Each loop is reported once, the last one when the last frame becomes current", arguments: 1...4)
    func loops(limit: Int) {
        let reported = play(tenths(3), .finite(count: UInt(limit)), ticks: tenths(20)).enumerated()
            .filter { $0.element.contains("loops") }.map { "\($0.offset + 1): \($0.element)" }
        let expected = (1..<limit).map { "\(3 * $0): 0! loops(\($0))" } + ["\(3 * limit - 1): 2! loops(\(limit))"]
        #expect(reported == expected)
    }

    @Test("The tick after the last loop ends the animation, once, however short it is")
    func ending() {
        #expect(play(tenths(2), .once, ticks: [0.1, 0, 0.1, 1]) == ["1! loops(1)", "1 end", "1", "1"])
    }

    @Test("An infinite animation never ends, and an animation of zero loops does not start")
    func neverEnding() {
        #expect(!play(tenths(2), .infinite, ticks: tenths(1000)).contains { $0.contains("end") })
        #expect(play(tenths(2), .finite(count: 0), ticks: tenths(3)) == ["0", "0", "0"])
        #expect(play(tenths(1), .finite(count: 0), ticks: tenths(3)) == ["0", "0", "0"])
    }

    @Test("A repeat count of once is one loop")
    func once() {
        #expect(AnimationRepeatCount.once == .finite(count: 1) && AnimationRepeatCount.once != .finite(count: 2))
        #expect(AnimationRepeatCount.infinite != .finite(count: .max) && AnimationRepeatCount.infinite == .infinite)
        #expect(Set([AnimationRepeatCount.once, .finite(count: 1)]).count == 1)
        #expect(play(tenths(3), .once, ticks: tenths(5)) == play(tenths(3), .finite(count: 1), ticks: tenths(5)))
    }

    @Test("A single frame that loops endlessly is a still; for k loops it waits k delays")
    func oneFrame() {
        #expect(play([0.1], .infinite, ticks: tenths(3)) == ["0", "0", "0"])
        #expect(Playhead(count: 1, repeatCount: .infinite).isStill && !Playhead(count: 1, repeatCount: .once).isStill)
        #expect(play([0.1], .once, ticks: tenths(3)) == ["0 loops(1)", "0 end", "0"])
        #expect(play([0.1], .finite(count: 3), ticks: tenths(5)) == ["0", "0", "0 loops(3)", "0 end", "0"])
        #expect(
            play([0.1], .finite(count: 2), ticks: [0.05, 0.05, 0.05, 0.05, 0]) == [
                "0", "0", "0", "0 loops(2)", "0 end",
            ]
        )
        #expect(
            play([], .infinite, ticks: tenths(2)) == ["0", "0"] && play([], .once, ticks: tenths(2)) == ["0", "0"]
        )
    }

    @Test("Indices and loops are reported tick by tick for loop counts of one, two and infinity")
    func vectors() {
        #expect(
            play(tenths(3), .finite(count: 2), ticks: tenths(7))
                == ["1!", "2!", "0! loops(1)", "1!", "2! loops(2)", "2 end", "2"]
        )
        #expect(play(tenths(2), .once, ticks: tenths(3)) == ["1! loops(1)", "1 end", "1"])
        let forever = play(tenths(3), .infinite, ticks: tenths(12))
        #expect(forever == (1...12).map { "\($0 % 3)!" + ($0 % 3 == 0 ? " loops(\($0 / 3))" : "") })
    }
}
