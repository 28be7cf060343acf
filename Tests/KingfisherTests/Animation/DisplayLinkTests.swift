// Display links that drive animations: manual and by a timer.

import Foundation
import Testing

@testable import Kingfisher

@MainActor
@Suite struct DisplayLinkTests {
    @Test("A manual link ticks on request, but not while it is paused")
    func manualLink() {
        let link = ManualDisplayLink()
        var ticks: [TimeInterval] = []
        link.onTick = { ticks.append(link.duration) }
        link.advance(by: 1)
        #expect(ticks == [] && link.timestamp == 1 && link.isPaused && link.tickCount == 0)
        link.isPaused = false
        link.advance(by: 0.5)
        link.advance(by: 0.25)
        #expect(ticks == [0.5, 0.25] && link.timestamp == 1.75 && link.tickCount == 2)
        link.invalidate()
        link.isPaused = false
        link.advance(by: 1)
        #expect(ticks.count == 2 && link.isPaused)
    }

    /// The timestamp and duration that a timer reports at each of its first ticks.
    private func ticks(_ count: Int, of link: TimerDisplayLink) async -> [(
        timestamp: TimeInterval, duration: TimeInterval
    )] {
        var ticks: [(TimeInterval, TimeInterval)] = []
        await withCheckedContinuation { continuation in
            link.onTick = {
                ticks.append((link.timestamp, link.duration))
                guard ticks.count == count else { return }
                link.isPaused = true
                continuation.resume()
            }
            link.isPaused = false
        }
        link.onTick = nil
        return ticks
    }

    @Test("The first tick of a timer reports its interval, each later tick the time since the one before")
    func timerLink() async {
        let link = TimerDisplayLink(interval: 0.002)
        #expect(link.isPaused)
        let first = await ticks(3, of: link)
        #expect(first[0].duration == 0.002 && link.isPaused)
        for (one, next) in zip(first, first.dropFirst()) {
            #expect(next.duration == next.timestamp - one.timestamp && next.duration > 0)
        }
        // The time in which the timer was paused does not count.
        let second = await ticks(2, of: link)
        #expect(second[0].duration == 0.002 && second[0].timestamp > first[2].timestamp)
        link.preferredFramesPerSecond = 500
        #expect(link.isPaused)
        #expect(await ticks(1, of: link)[0].duration == 1 / 500)
        link.isPaused = false
        link.preferredFramesPerSecond = 250
        #expect(!link.isPaused)
        link.invalidate()
        #expect(link.isPaused)
        link.isPaused = false
        #expect(link.isPaused)
    }

    @Test(
        "Impossible intervals are corrected",
        arguments: [0, -1, .nan, .infinity, 1e300] as [TimeInterval]
    )
    func oddIntervals(interval: TimeInterval) {
        let link = TimerDisplayLink(interval: interval)
        #expect(link.duration >= 0.001 && link.duration <= 3600)
        link.isPaused = false
        #expect(!link.isPaused)
        link.preferredFramesPerSecond = .max
        // Counting ticks by the preferred rate gives the right time.
        #expect(link.preferredFramesPerSecond == 1_000)
        link.preferredFramesPerSecond = .min
        link.isPaused = true
        #expect(link.isPaused)
    }

    @Test("A timer plays an animation by default")
    func defaultLink() async throws {
        let player = AnimationPlayer()
        player.repeatCount = .once
        player.attach()
        let delegate = EndOfAnimation()
        player.delegate = delegate
        let gif = try animation("animated.gif")
        await withCheckedContinuation { continuation in
            delegate.whenOver = { continuation.resume() }
            player.image = gif
        }
        #expect(!player.isAnimating && player.animator?.isLastFrame == true)
    }
}

private final class EndOfAnimation: AnimationPlayerDelegate {
    var whenOver: () -> Void = {}
    func animationPlayerDidFinishAnimating(_ player: AnimationPlayer) { whenOver() }
}
