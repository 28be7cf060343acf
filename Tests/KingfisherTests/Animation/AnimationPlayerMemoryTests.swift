// The memory of an animation player: purged frames, the background, the size of decoded frames, preloaded frames.

import Foundation
import KFImaging
import Testing

@testable import Kingfisher

@MainActor
@Suite struct AnimationPlayerMemoryTests {
    private func present(_ rig: PlayerRig) -> [Int] {
        (0..<8).filter { rig.player.animator?.frame(at: $0) != nil }
    }

    @Test("A player drops its frames on request and continues to play")
    func purge() {
        let rig = PlayerRig()
        rig.player.framePreloadCount = 2
        rig.player.attach()
        rig.player.image = TestFrames(8).image
        rig.queue.drain()
        rig.tick()
        rig.player.purgeFrames()
        rig.queue.drain()
        #expect(present(rig) == [1])
        rig.player.purgeFrames(keepCurrentFrame: false)
        rig.queue.drain()
        #expect(present(rig) == [] && rig.player.isAnimating)
        rig.tick(1)
        #expect(present(rig) == [2, 3, 4])
        rig.tick(1)
        #expect(rig.index == 3 && rig.shown.last?.number == 3)
    }

    @Test("A restarted animation has its frames before the next one is shown")
    func restart() {
        let rig = PlayerRig(TestFrames(8).image)
        rig.player.stopAnimating()
        rig.player.purgeFrames(keepCurrentFrame: true)
        rig.player.startAnimating()
        rig.queue.drain()
        #expect(present(rig) == Array(0..<8))
    }

    @Test("In the background an animation pauses on its only frame and resumes afterwards")
    func background() {
        let rig = PlayerRig(TestFrames(8).image)
        rig.player.purgeFramesOnBackground = true
        rig.tick(3)
        rig.player.enteredBackground()
        rig.player.enteredBackground()
        rig.queue.drain()
        #expect(rig.link.isPaused && present(rig) == [3])
        rig.tick(3)
        #expect(rig.index == 3)
        rig.player.enteredForeground()
        rig.queue.drain()
        #expect(rig.player.isAnimating && present(rig) == Array(0..<8))
        rig.tick()
        #expect(rig.index == 4 && rig.shown.last?.number == 4)
    }

    @Test("An animation that was paused or is on no screen does not resume")
    func pausedStaysPaused() {
        let stopped = PlayerRig(TestFrames(8).image)
        stopped.player.purgeFramesOnBackground = true
        stopped.player.stopAnimating()
        stopped.player.enteredBackground()
        stopped.queue.drain()
        #expect(present(stopped) == [0])
        stopped.player.enteredForeground()
        #expect(!stopped.player.isAnimating)
        for autoPlays in [true, false] {
            let detached = PlayerRig(TestFrames(8).image)
            detached.player.autoPlayAnimatedImage = autoPlays
            detached.player.purgeFramesOnBackground = true
            detached.player.enteredBackground()
            detached.player.detach()
            detached.player.enteredForeground()
            #expect(!detached.player.isAnimating)
        }
    }

    @Test("Nothing plays in the background; an animation that was started there plays afterwards")
    func startInBackground() {
        let rig = PlayerRig(TestFrames(8).image)
        rig.player.purgeFramesOnBackground = true
        rig.player.enteredBackground()
        rig.player.stopAnimating()
        rig.player.enteredForeground()
        #expect(!rig.player.isAnimating)
        rig.player.enteredBackground()
        rig.player.startAnimating()
        #expect(!rig.player.isAnimating)
        rig.player.image = TestFrames(4).image
        #expect(!rig.player.isAnimating)
        rig.player.enteredForeground()
        #expect(rig.player.isAnimating)
        // A new image plays on like the one before it, whichever way that one was started.
        rig.player.autoPlayAnimatedImage = false
        rig.player.enteredBackground()
        rig.player.image = TestFrames(4).image
        rig.player.enteredForeground()
        #expect(rig.player.isAnimating)
        rig.player.enteredBackground()
        rig.player.image = SampleImage.gradient(4, 4)
        rig.player.enteredForeground()
        #expect(!rig.player.isAnimating)
    }

    @Test("Without `purgeFramesOnBackground` a player does nothing in the background")
    func backgroundOptionOff() {
        let rig = PlayerRig(TestFrames(8).image)
        rig.player.enteredBackground()
        rig.queue.drain()
        #expect(rig.player.isAnimating && present(rig) == Array(0..<8))
        rig.player.stopAnimating()
        rig.player.enteredForeground()
        #expect(!rig.player.isAnimating)
    }

    @Test("Preloaded frames are shown for their own durations, without an animator")
    func preloadedFrames() throws {
        let options = ImageCreatingOptions(preloadAll: true)
        let image = try animation("animated.gif", options)
        let (frames, delays) = (try #require(image.images), try #require(image.frameDurations))
        #expect(Set(delays).count > 1)
        let rig = PlayerRig(image, repeatCount: .once)
        #expect(rig.player.isAnimating && rig.player.animator == nil && rig.player.shownImage === image)
        for (index, delay) in delays.dropLast().enumerated() {
            rig.tick(1, by: delay - 0.01)
            #expect(rig.shown.last === frames[index])
            rig.tick(1, by: 0.01 + 1e-9)
            #expect(rig.shown.last === frames[index + 1])
        }
        #expect(rig.delegateCalls.map { $0.prefix(8) } == ["loops(1)"])
        rig.tick()
        #expect(!rig.player.isAnimating && rig.delegateCalls.count == 2)
        // Only frames that can be decoded again are purged.
        rig.player.purgeFrames(keepCurrentFrame: false)
        rig.queue.drain()
        #expect(rig.player.shownImage === frames.last)
    }

    @Test("Preloaded frames play at another speed and loop count than those of the file")
    func preloadedSpeed() throws {
        let options = ImageCreatingOptions(duration: 4, preloadAll: true)
        let image = try animation("dancer.gif", options)
        let rig = PlayerRig(image)
        // Half a second each, instead of a tenth.
        rig.tick(7, by: 0.5 + 1e-9)
        #expect(rig.shown.last === image.images?.last)
        rig.tick(1, by: 0.4)
        #expect(rig.delegateCalls == [])
        rig.tick(1, by: 0.1 + 1e-9)
        #expect(rig.delegateCalls.count == 1)
        var frames = try #require(
            Image.animatedImage(with: [SampleImage.gradient(2, 2), SampleImage.gradient(2, 3)], duration: 1)
        )
        .metadata.preloaded
        frames?.loopCount = 2
        let counted = PlayerRig()
        counted.player.respectsImageLoopCount = true
        counted.player.attach()
        counted.player.image = try Image(preloaded: #require(frames))
        counted.tick(9, by: 0.5)
        #expect(counted.delegateCalls.count == 3 && !counted.player.isAnimating)
    }

    @Test("A single preloaded frame needs no ticks")
    func preloadedSingleFrame() throws {
        let options = ImageCreatingOptions(preloadAll: true)
        let image = try animation("plain.gif", options)
        #expect(image.images?.count == 1)
        #expect(PlayerRig(image).link.isPaused)
    }
}

@MainActor
@Suite struct PrescalingTests {
    /// The size in pixels of the first frame of a GIF of 365 × 360, shown by a player.
    private func pixels(_ configure: (AnimationPlayer) -> Void, scale: CGFloat = 1) throws -> [Int] {
        let options = ImageCreatingOptions(scale: scale)
        let image = try animation("dancer.gif", options)
        let rig = PlayerRig()
        configure(rig.player)
        rig.player.image = image
        rig.queue.drain()
        let frame = try #require(rig.player.animator?.currentFrameImage)
        #expect(frame.scale == scale)
        return [frame.pixelWidth, frame.pixelHeight]
    }

    @Test("Frames are decoded at the size at which they are shown")
    func decodedSize() throws {
        #expect(try pixels { $0.size = CGSize(width: 73, height: 100) } == [73, 72])
        #expect(
            try pixels {
                $0.size = CGSize(width: 73, height: 100)
                $0.scaleFactor = 2
            } == [146, 144]
        )
        // The image's own scale is independent of the screen's.
        #expect(try pixels({ $0.size = CGSize(width: 73, height: 100) }, scale: 3) == [73, 72])
    }

    @Test("The decoded size depends on the content mode")
    func contentModes() throws {
        let sizes = try KFCrossPlatformContentMode.allCases.map { mode in
            try pixels {
                $0.size = CGSize(width: 73, height: 144)
                $0.contentMode = mode
            }
        }
        #expect(sizes == [[146, 144], [73, 72], [146, 144], [365, 360]])
    }

    @Test("Frames are never enlarged, and keep their size when the view's is unknown or prescaling is off")
    func noUpscaling() throws {
        for side in [1000, 0, -1, .nan, .infinity] as [CGFloat] {
            #expect(try pixels { $0.size = CGSize(width: side, height: side) } == [365, 360])
        }
        #expect(
            try pixels {
                $0.size = CGSize(width: 73, height: 72)
                $0.needsPrescaling = false
            } == [365, 360]
        )
    }

    @Test("The size limit is passed to the source, and an animator alone takes the image's scale")
    func sizeLimits() {
        let source = TestFrames(3)
        let queue = FrameQueue.make()
        let animator = FrameAnimator(
            frameSource: source,
            contentMode: .scaleAspectFit,
            size: CGSize(width: 20, height: 50),
            imageSize: CGSize(width: 40, height: 20),
            imageScale: 2,
            framePreloadCount: 2,
            repeatCount: .infinite,
            preloadQueue: queue
        )
        animator.prepareFramesAsynchronously()
        queue.drain()
        #expect(source.decodeLog.limits == Array(repeating: CGSize(width: 40, height: 20), count: 3))
        #expect(animator.currentFrameImage?.scale == 2)
    }
}
