// Frames that are dropped from memory and decoded again.

import Dispatch
import Foundation
import KFImaging
import Testing

@testable import Kingfisher

@Suite struct FramePurgeTests {
    @Test("A purge keeps the current frame or nothing, and all durations")
    func purge() {
        let rig = AnimatorRig(TestFrames(8), preload: 2)
        rig.animator.purgeFrames(keepCurrentFrame: true)
        rig.queue.drain()
        #expect(rig.present == [0] && rig.animator.duration(at: 7) == 0.1)
        rig.animator.purgeFrames(keepCurrentFrame: false)
        rig.queue.drain()
        #expect(rig.present == [] && rig.animator.currentFrameDuration == 0.1 && rig.decodeLog.decoded == [0, 1, 2])
    }

    @Test("Frames are dropped on the queue")
    func purgeOnQueue() {
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
    @Test("Dropped images are released on the main thread")
    func releaseOnMain() async {
        let rig = AnimatorRig(TestFrames(8), preload: 2)
        weak let picture = rig.animator.frame(at: 1)
        #expect(picture != nil)
        rig.animator.purgeFrames(keepCurrentFrame: true)
        rig.queue.drain()
        // The release is queued behind this test on the main thread.
        #expect(rig.animator.frame(at: 1) == nil && picture != nil)
        await drainMainQueue()
        #expect(picture == nil && rig.present == [0])
    }

    @Test(
        "Purged frames are decoded again with the next frame, also when all of them are kept",
        arguments: [2, 7, 20],
        [true, false]
    )
    func refill(preload: Int, keepsCurrent: Bool) {
        let rig = AnimatorRig(TestFrames(8), preload: preload)
        rig.animator.purgeFrames(keepCurrentFrame: keepsCurrent)
        rig.queue.drain()
        rig.decodeLog.forget()
        // The first frame is still the current one.
        rig.tick(1, by: 0.05)
        #expect(rig.decodeLog.decoded == [])
        rig.tick(1, by: 0.05)
        let wanted = (1...1 + min(preload, 7)).map { $0 % 8 }
        #expect(rig.present == Set(wanted))
        #expect(rig.decodeLog.decoded == wanted.filter { $0 != 0 || !keepsCurrent })
        rig.tick()
        #expect(rig.animator.currentFrameImage?.number == 2)
    }

    @Test("Frames are decoded again after a purge that was still pending", arguments: [2, 20])
    func pendingPurge(preload: Int) {
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

    @Test("A frame that was decoded too late is dropped as well")
    func purgeOfLateFrame() {
        let rig = AnimatorRig(TestFrames(50), preload: 2)
        let barrier = rig.decodeLog.hold(3)
        _ = rig.animator.tick(0.1)
        barrier.waitUntilReached()
        for _ in 0..<5 { _ = rig.animator.tick(0.1) }
        // The third frame has been passed when it is decoded; the sixth, which is current, is purged.
        rig.animator.purgeFrames(keepCurrentFrame: false)
        barrier.open()
        rig.queue.drain()
        #expect(rig.present == [] && rig.animator.tick(0).image == nil)
    }

    @Test("Preloaded images cannot be purged")
    func preloadedFrames() throws {
        let pictures = (0..<3).map { SampleImage.gradient(4, 4, tint: UInt8($0)) }
        let frames = try #require(Image.animatedImage(with: pictures, duration: 0.3)?.metadata.preloaded)
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
