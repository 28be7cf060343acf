// The options of an animation player: loop counts of files, frames to preload, skipped frames, the rate of ticks.

import Foundation
import KFImaging
import Testing

@testable import Kingfisher

@MainActor
@Suite struct AnimationPlayerOptionsTests {
    @Test(
        "Frames of real files are shown in order and for their durations",
        arguments: ["animated.gif", "animated.png", "animated.webp"],
        [0, 2, 10]
    )
    func realFiles(name: String, preload: Int) throws {
        let image = try animation(name)
        let source = try #require(image.frameSource).copy()
        let rig = PlayerRig()
        rig.player.framePreloadCount = preload
        rig.player.attach()
        rig.player.image = image
        rig.queue.drain()
        for round in 1..<2 * source.frameCount + 2 {
            let index = (round - 1) % source.frameCount
            rig.tick(1, by: source.duration(at: index) / 2)
            #expect(rig.index == index)
            let frame = try #require(source.frame(at: index))
            #expect(try isSame(#require(rig.shown.last), Image(cgImage: frame)))
            rig.tick(1, by: source.duration(at: index) / 2 + 1e-9)
        }
        #expect(rig.delegateCalls.count == 2)
    }

    @Test("A file's own loop count applies when the option asks for it and no other was set")
    func fileLoopCount() {
        let rig = PlayerRig(TestFrames(2, loopCount: 2).image)
        rig.tick(9)
        #expect(rig.player.isAnimating)
        rig.player.respectsImageLoopCount = true
        rig.queue.drain()
        rig.delegateCalls = []
        rig.tick(9)
        #expect(rig.delegateCalls == ["loops(1) at 0", "loops(2) at 1", "finished at 1"])
        rig.player.repeatCount = .once
        rig.queue.drain()
        rig.delegateCalls = []
        rig.tick(9)
        #expect(rig.delegateCalls == ["loops(1) at 1", "finished at 1"])
        // A loop count that was set comes before the file's, whether or not the option is on.
        let once = rig.player.animator
        rig.player.respectsImageLoopCount = false
        #expect(rig.player.animator === once)
        // A file that loops endlessly changes nothing.
        let endless = PlayerRig(TestFrames(2, loopCount: 0).image)
        let animator = endless.player.animator
        endless.player.respectsImageLoopCount = true
        endless.tick(20)
        #expect(endless.player.isAnimating && endless.player.animator === animator)
    }

    @Test("A new number of frames to preload applies from the next reset on")
    func preloadCount() {
        let rig = PlayerRig(TestFrames(8).image)
        #expect(rig.player.animator?.maxFrameCount == 10)
        rig.player.framePreloadCount = 0
        #expect(rig.player.animator?.maxFrameCount == 10)
        let source = TestFrames(8)
        rig.player.image = source.image
        rig.queue.drain()
        #expect(rig.player.animator?.maxFrameCount == 0 && source.decodeLog.decoded == [0, 1])
    }

    @Test("A late tick advances one frame, unless frames may be skipped")
    func catchingUp() {
        let rig = PlayerRig(TestFrames(9).image)
        rig.tick(1, by: 0.35)
        #expect(rig.index == 1)
        rig.player.image = TestFrames(9).image
        rig.queue.drain()
        rig.player.catchUp = true
        rig.tick(1, by: 0.35)
        #expect(rig.index == 3 && rig.shown.last?.number == 3)
    }

    @Test("A link with a preferred rate reports it with each tick")
    func preferredRate() {
        let rig = PlayerRig(TestFrames(9).image)
        rig.link.preferredFramesPerSecond = 10
        rig.tick(3, by: 0.001)
        #expect(rig.index == 3)
        rig.link.preferredFramesPerSecond = 0
        rig.tick(3, by: 0.001)
        #expect(rig.index == 3)
    }
}
