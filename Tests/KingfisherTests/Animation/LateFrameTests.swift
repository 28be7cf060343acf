// Frames that are decoded too late: what is shown until then, and what once they are decoded.

import Foundation
import KFImaging
import Testing

@testable import Kingfisher

@MainActor
@Suite struct LateFrameTests {
    @Test("The shown frame stays until the current one has been decoded")
    func lateFrames() {
        let source = TestFrames(8)
        let barrier = source.decodeLog.hold(2)
        let rig = PlayerRig()
        rig.player.attach()
        rig.player.image = source.image
        barrier.waitUntilReached()
        for _ in 0..<4 { rig.link.advance(by: 0.1) }
        // The poster image is not shown again.
        #expect(rig.shown.map(\.number) == [TestFrames.poster, 1] && rig.index == 4)
        #expect(rig.player.shownImage?.number == 1)
        barrier.open()
        rig.queue.drain()
        rig.link.advance(by: 0.01)
        #expect(rig.shown.map(\.number) == [TestFrames.poster, 1, 4] && rig.index == 4)
        rig.link.advance(by: 0.01)
        #expect(rig.shown.count == 3)
    }

    @Test(
        "An animation that stops on a frame shows it as soon as it is decoded",
        arguments: [true, false]
    )
    func lateLastFrame(ends: Bool) async {
        let source = TestFrames(3)
        let barrier = source.decodeLog.hold(2)
        let rig = PlayerRig()
        rig.player.repeatCount = .once
        rig.player.attach()
        rig.player.image = source.image
        barrier.waitUntilReached()
        for _ in 0..<(ends ? 3 : 2) { rig.link.advance(by: 0.1) }
        if !ends { rig.player.stopAnimating() }
        #expect(!rig.player.isAnimating && rig.shown.last?.number == 1)
        barrier.open()
        rig.queue.drain()
        await drainMainQueue()
        #expect(rig.shown.last?.number == 2)
    }

    @Test(
        "A stopped animation shows the current frame, even if it was decoded since the last tick",
        arguments: [true, false]
    )
    func stopOnLateFrame(goesToTheBackground: Bool) {
        let source = TestFrames(3)
        let barrier = source.decodeLog.hold(1)
        let rig = PlayerRig()
        rig.player.purgeFramesOnBackground = true
        rig.player.attach()
        rig.player.image = source.image
        barrier.waitUntilReached()
        rig.link.advance(by: 0.1)
        barrier.open()
        rig.queue.drain()
        #expect(rig.index == 1 && rig.shown.map(\.number) == [TestFrames.poster])
        if goesToTheBackground { rig.player.enteredBackground() } else { rig.player.stopAnimating() }
        #expect(rig.shown.map(\.number) == [TestFrames.poster, 1])
    }

    @Test("An animation stopped on its first frame after a loop shows it once it is decoded")
    func stopOnLateFirstFrame() async {
        let source = TestFrames(3)
        let rig = PlayerRig(source.image)
        rig.tick(2)
        let barrier = source.decodeLog.hold(0)
        rig.player.purgeFrames(keepCurrentFrame: true)
        rig.queue.drain()
        rig.link.advance(by: 0.1)
        barrier.waitUntilReached()
        rig.player.stopAnimating()
        #expect(rig.index == 0 && rig.shown.last?.number == 2)
        barrier.open()
        rig.queue.drain()
        await drainMainQueue()
        #expect(rig.shown.last?.number == 0)
    }
}
