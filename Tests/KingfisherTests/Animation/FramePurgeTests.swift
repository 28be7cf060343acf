// Frames that are forgotten, and come back.

import Dispatch
import Foundation
import KFImaging
import Testing

@testable import Kingfisher

@Suite struct FramePurgeTests {
    @Test("PU01: a purge leaves the current frame, or not even that, and all durations")
    func purging() {
        let rig = AnimatorRig(TestFrames(8), preload: 2)
        rig.animator.purgeFrames(keepCurrentFrame: true)
        rig.queue.drain()
        #expect(rig.present == [0] && rig.animator.duration(at: 7) == 0.1)
        rig.animator.purgeFrames(keepCurrentFrame: false)
        rig.queue.drain()
        #expect(rig.present == [] && rig.animator.currentFrameDuration == 0.1 && rig.journal.decoded == [0, 1, 2])
    }

    @Test("PU01: frames are forgotten on the queue")
    func purgingOnTheQueue() {
        let rig = AnimatorRig(TestFrames(8), preload: 2)
        let busy = Barrier()
        rig.queue.async { busy.pass() }
        busy.waitUntilReached()
        rig.animator.purgeFrames(keepCurrentFrame: false)
        #expect(rig.present == [0, 1, 2])
        busy.open()
        rig.queue.drain()
        #expect(rig.present == [])
    }

    @MainActor
    @Test("PU01: forgotten pictures are released on the main thread")
    func releasing() async {
        let rig = AnimatorRig(TestFrames(8), preload: 2)
        weak let picture = rig.animator.frame(at: 1)
        #expect(picture != nil)
        rig.animator.purgeFrames(keepCurrentFrame: true)
        rig.queue.drain()
        // This is the main thread, and it has not come to that yet.
        #expect(rig.animator.frame(at: 1) == nil && picture != nil)
        await mainQueueTurn()
        #expect(picture == nil && rig.present == [0])
    }

    @Test(
        "PU02, F14: what was purged is decoded again with the next frame, also when all of it is kept",
        arguments: [2, 7, 20],
        [true, false]
    )
    func refilling(preload: Int, keepsCurrent: Bool) {
        let rig = AnimatorRig(TestFrames(8), preload: preload)
        rig.animator.purgeFrames(keepCurrentFrame: keepsCurrent)
        rig.queue.drain()
        rig.journal.forget()
        // No frame has come on yet.
        rig.tick(1, by: 0.05)
        #expect(rig.journal.decoded == [])
        rig.tick(1, by: 0.05)
        let wanted = (1...1 + min(preload, 7)).map { $0 % 8 }
        #expect(rig.present == Set(wanted))
        #expect(rig.journal.decoded == wanted.filter { $0 != 0 || !keepsCurrent })
        rig.tick()
        #expect(rig.animator.currentFrameImage?.number == 2)
    }

    @Test("PU02: frames come back after a purge that was still on its way", arguments: [2, 20])
    func purgeOnItsWay(preload: Int) {
        let rig = AnimatorRig(TestFrames(8), preload: preload)
        let busy = Barrier()
        rig.queue.async { busy.pass() }
        busy.waitUntilReached()
        rig.animator.purgeFrames(keepCurrentFrame: true)
        rig.animator.prepareFramesAsynchronously()
        busy.open()
        rig.queue.drain()
        #expect(rig.present == Set(0...min(preload, 7)))
    }

    @Test("PU01: a frame that was ready too late is forgotten, too")
    func purgingALatecomer() {
        let rig = AnimatorRig(TestFrames(50), preload: 2)
        let barrier = rig.journal.hold(3)
        _ = rig.animator.tick(0.1)
        barrier.waitUntilReached()
        for _ in 0..<5 { _ = rig.animator.tick(0.1) }
        // The third frame has been passed when it is there; the sixth, which is on, is there by then, and goes with the purge.
        rig.animator.purgeFrames(keepCurrentFrame: false)
        barrier.open()
        rig.queue.drain()
        #expect(rig.present == [] && rig.animator.tick(0).image == nil)
    }

    @Test("F14: pictures that were there from the beginning cannot be purged")
    func preloadedFrames() throws {
        let pictures = (0..<3).map { Picture.gradient(4, 4, tint: UInt8($0)) }
        let frames = try #require(Image.animatedImage(with: pictures, duration: 0.3)?.facts.preloaded)
        let queue = FrameQueue.make()
        let animator = FrameAnimator(preloaded: frames, repeatCount: .infinite, preloadQueue: queue)
        animator.purgeFrames(keepCurrentFrame: false)
        queue.drain()
        #expect((0..<3).map { animator.frame(at: $0) } == frames.images)
        _ = animator.tick(0.1)
        queue.drain()
        #expect(animator.currentFrameImage === frames.images[1])
    }
}
