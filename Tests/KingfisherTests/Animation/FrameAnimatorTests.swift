// The frame animator: which frames are in memory at which time, as slots, as a ring, and after purges.

import Dispatch
import Foundation
import KFImaging
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct FrameAnimatorTests {
    @Test("Preparing makes a slot for each frame and decodes one frame more than the preload count")
    func preparing() {
        let rig = AnimatorRig(TestFrames([0.1, 3, 0.25, 0.1, 1]), preload: 2, prepared: false)
        #expect(rig.animator.duration(at: 0) == .infinity && rig.animator.currentFrameDuration == .infinity)
        #expect(rig.animator.loopDuration == 0 && rig.present == [] && rig.decodeLog.copies == 0)
        let barrier = rig.decodeLog.hold(0)
        rig.animator.prepareFramesAsynchronously()
        barrier.waitUntilReached()
        // All durations are known before the first image is decoded.
        #expect((0..<5).map(rig.animator.duration) == [0.1, 3, 0.25, 0.1, 1] && rig.present == [])
        #expect(abs(rig.animator.loopDuration - 2.45) < 1e-9)
        barrier.open()
        rig.queue.drain()
        #expect(rig.present == [0, 1, 2] && rig.decodeLog.decoded == [0, 1, 2])
        #expect(rig.animator.frame(at: 2)?.number == 2 && rig.animator.currentFrameImage?.number == 0)
        #expect(rig.animator.maxFrameCount == 2 && rig.animator.frameCount == 5 && !rig.animator.isLastFrame)
    }

    @Test(
        "A frame index out of range has no image and an infinite duration",
        arguments: [-1, 3, Int.max, Int.min]
    )
    func noSuchFrame(index: Int) {
        let rig = AnimatorRig(TestFrames(3))
        #expect(rig.animator.frame(at: index) == nil && rig.animator.duration(at: index) == .infinity)
    }

    @Test("Preparing twice decodes nothing twice")
    func preparingTwice() {
        let rig = AnimatorRig(TestFrames(5), preload: 2)
        rig.animator.prepareFramesAsynchronously()
        rig.queue.drain()
        #expect(rig.decodeLog.decoded == [0, 1, 2] && rig.decodeLog.copies == 1)
    }

    @Test("Delays that are no numbers count as zero, and a negative frame count is not used")
    func oddDelays() {
        let rig = AnimatorRig(TestFrames([.nan, -1, .infinity]))
        #expect((0..<3).map(rig.animator.duration) == [0, 0, .infinity] && rig.animator.loopDuration == 1)
        #expect(rig.tick(3, by: 0).map(\.hasAdvanced) == [true, true, false])
        struct Negative: ImageFrameSource {
            var data: Data? { nil }
            var frameCount: Int { -1 }
            func frame(at index: Int, maxSize: CGSize?) -> Bitmap? { nil }
            func duration(at index: Int) -> TimeInterval { 0 }
        }
        let animator = FrameAnimator(
            frameSource: Negative(),
            contentMode: .center,
            size: .zero,
            imageSize: .zero,
            imageScale: 1,
            framePreloadCount: 1,
            repeatCount: .once,
            preloadQueue: rig.queue
        )
        animator.prepareFramesAsynchronously()
        rig.queue.drain()
        #expect(animator.frameCount == 0 && animator.tick(1).step == AnimationStep())
    }

    @Test("Frames that can all be kept are decoded once", arguments: [(8, 7), (8, 10), (3, Int.max), (2, 0)])
    func allFramesKept(count: Int, preload: Int) {
        let rig = AnimatorRig(TestFrames(count), preload: preload)
        rig.tick(3 * count)
        #expect(rig.present == Set(0..<count) && rig.decodeLog.decoded == Array(0..<count))
    }

    @Test("A frame that cannot be decoded is not decoded repeatedly")
    func brokenFrames() {
        let source = TestFrames(4)
        source.decodeLog.breakFrame(2)
        let rig = AnimatorRig(source)
        rig.tick(12)
        #expect(rig.decodeLog.decoded == [0, 1, 2, 3] && rig.present == [0, 1, 3])
        rig.animator.purgeFrames(keepCurrentFrame: false)
        rig.tick(1)
        #expect(rig.decodeLog.decoded.count == 8)
    }

    @Test(
        "The current frame and the next m are in memory; m ≤ 0 means only the next one",
        arguments: [(8, 2), (8, 6), (8, 0), (8, -3), (5, 1), (4, 2), (100, 10), (3, 1)]
    )
    func preloadRing(count: Int, preload: Int) {
        let rig = AnimatorRig(TestFrames(count), preload: preload)
        let ahead = max(1, preload)
        for current in 0..<3 * count {
            #expect(rig.present == Set((0...ahead).map { (current + $0) % count }))
            #expect(rig.animator.currentFrameImage?.number == current % count)
            rig.tick()
        }
        // Each frame is decoded once per loop, in order, and no other frame is in memory.
        #expect(rig.decodeLog.decoded == (0...3 * count + ahead).map { $0 % count })
        #expect(rig.decodeLog.peak == ahead + 1)
        #expect(rig.decodeLog.decodesOffQueue == 0)
    }

    @Test("Skipped frames are removed from their slots as well")
    func skippingInRing() {
        let rig = AnimatorRig(TestFrames(8), preload: 2)
        for _ in 0..<20 {
            let step = rig.animator.tick(0.35, catchUp: true).step
            rig.queue.drain()
            #expect(step.hasAdvanced)
            let current = rig.animator.currentFrameIndex
            #expect(rig.present == Set((0...2).map { (current + $0) % 8 }))
        }
    }

    @Test("Nothing advances before preparation; a frame that is not decoded becomes current without an image")
    func lateFrames() {
        let rig = AnimatorRig(TestFrames(8), preload: 2, prepared: false)
        #expect(rig.animator.tick(1).step == AnimationStep() && rig.animator.currentFrameIndex == 0)
        let late = AnimatorRig(TestFrames(8), preload: 2, prepared: false)
        let barrier = late.decodeLog.hold(1)
        late.animator.prepareFramesAsynchronously()
        barrier.waitUntilReached()
        let (step, image) = late.animator.tick(0.1)
        #expect(step.hasAdvanced && image == nil && late.animator.currentFrameIndex == 1)
        #expect(late.animator.currentFrameImage == nil && late.animator.currentFrameDuration == 0.1)
        barrier.open()
        late.queue.drain()
        // The image is shown with the next tick, although that tick advances nothing.
        let (still, picture) = late.animator.tick(0.01)
        #expect(still == AnimationStep() && picture?.number == 1)
        #expect(late.present == [1, 2, 3])
    }

    @Test("A frame that a slow decoder finishes too late is still shown once, unless a newer frame is decoded")
    func slowDecoder() {
        let rig = AnimatorRig(TestFrames(50), preload: 2)
        let third = rig.decodeLog.hold(3)
        _ = rig.animator.tick(0.1)
        third.waitUntilReached()
        for _ in 0..<5 { _ = rig.animator.tick(0.1) }
        let sixth = rig.decodeLog.hold(6)
        third.open()
        sixth.waitUntilReached()
        // Frame 3 has been passed: it is shown, but not kept.
        #expect(rig.animator.currentFrameIndex == 6 && rig.animator.frame(at: 3) == nil)
        #expect(rig.animator.tick(0).image?.number == 3 && rig.animator.tick(0).image == nil)
        sixth.open()
        rig.queue.drain()
        #expect(rig.animator.tick(0).image?.number == 6)
        // Frames 4 and 5, which were passed in the meantime, were not decoded.
        #expect(rig.decodeLog.decoded == [0, 1, 2, 3, 6, 7, 8] && rig.present == [6, 7, 8])
    }

    @Test("Delayed maintenance removes and decodes the frames that the latest change of frame requires")
    func lateMaintenance() {
        let rig = AnimatorRig(TestFrames(8), preload: 2)
        let busy = Barrier()
        rig.queue.async { busy.pass() }
        busy.waitUntilReached()
        // The animation passes its end and starts again: frame 0 was left, and so was frame 1.
        for _ in 0..<8 { _ = rig.animator.tick(0.1) }
        #expect(rig.animator.currentFrameIndex == 0 && rig.present == [0, 1, 2])
        _ = rig.animator.tick(0.1)
        busy.open()
        rig.queue.drain()
        #expect(rig.present == [1, 2, 3] && rig.decodeLog.decoded == [0, 1, 2, 3] && rig.decodeLog.peak == 3)
    }

    @Test("A deinitialised animator decodes nothing")
    func deinitialized() {
        let source = TestFrames(50)
        let barrier = source.decodeLog.hold(1)
        let queue = FrameQueue.make()
        var rig: AnimatorRig? = AnimatorRig(source, prepared: false)
        let used = rig?.queue
        rig?.animator.prepareFramesAsynchronously()
        barrier.waitUntilReached()
        rig = nil
        barrier.open()
        used?.drain()
        queue.drain()
        #expect(source.decodeLog.decoded == [0, 1])
    }

    @Test("An animator decodes from a copy of the source")
    func copies() {
        let source = TestFrames(4)
        let (one, other) = (AnimatorRig(source), AnimatorRig(source))
        one.tick(8)
        other.tick(8)
        #expect(source.decodeLog.copies == 2 && source.decodeLog.readingCopies == [1, 2])
    }

    @Test("Of eight frames with two preloaded, three are in memory, also across the end of the loop")
    func ringVector() {
        let rig = AnimatorRig(TestFrames(8), preload: 2)
        #expect(rig.present == [0, 1, 2])
        rig.tick()
        #expect(rig.present == [1, 2, 3])
        rig.tick(6)
        #expect(rig.animator.currentFrameIndex == 7 && rig.animator.isLastFrame && rig.present == [7, 0, 1])
    }
}
