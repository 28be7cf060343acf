// Image views that play animations: defaults, playing, frames in memory, hidden windows, shared frames.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

extension FrameAnimator {
    /// Waits until the requested frames are decoded.
    fileprivate func drain() async {
        await withCheckedContinuation { done in afterDecoding { done.resume() } }
    }
}

/// A view on a manual clock, and the calls of its delegate.
@MainActor
private final class Player: AnimatedImageViewDelegate {
    let view = AnimatedImageView()
    let renderer: TestRenderer
    var calls: [String] = []

    init(_ image: Image? = nil, repeatCount: AnimatedImageView.RepeatCount = .infinite) async {
        renderer = TestRenderer.show(view)
        view.delegate = self
        view.repeatCount = repeatCount
        view.image = image
        await drain()
    }

    func drain() async { await view.animator?.drain() }

    func tick(_ count: Int = 1) async {
        for _ in 0..<count {
            renderer.advance(by: 0.1)
            await drain()
        }
    }

    func animatedImageView(_ imageView: AnimatedImageView, didPlayAnimationLoops count: UInt) {
        calls.append("loops(\(count)) at \(imageView.animator?.currentFrameIndex ?? -1)")
    }
    func animatedImageViewDidFinishAnimating(_ imageView: AnimatedImageView) { calls.append("finished") }
}

@Suite @MainActor struct AnimatedImageViewTests {
    @Test("The defaults of an animated image view are those of Kingfisher")
    func defaults() {
        let view = AnimatedImageView()
        #expect(view.autoPlayAnimatedImage && view.framePreloadCount == 10 && view.needsPrescaling)
        #expect(view.repeatCount == .infinite && !view.respectsImageLoopCount && !view.purgeFramesOnBackground)
        #expect(view.runLoopMode == .common && view.animator == nil && !view.isAnimating && view.delegate == nil)
        (view.framePreloadCount, view.needsPrescaling, view.respectsImageLoopCount) = (2, false, true)
        #expect(view.framePreloadCount == 2 && !view.needsPrescaling && view.respectsImageLoopCount)
    }

    @Test("On a screen, frames are played for the set number of loops, and each is drawn")
    func playing() async {
        let player = await Player(TestFrames(3).image, repeatCount: .finite(count: 2))
        let draws = player.renderer.draws
        #expect(player.view.isAnimating && player.view.shownImage?.number == TestFrames.poster)
        var shown: [Int?] = []
        for _ in 0..<5 {
            await player.tick()
            shown.append(player.view.shownImage?.number)
        }
        #expect(shown == [1, 2, 0, 1, 2] && player.renderer.draws == draws + 5)
        #expect(player.calls == ["loops(1) at 0", "loops(2) at 2"])
        await player.tick(3)
        #expect(player.calls.last == "finished" && player.calls.count == 3 && !player.view.isAnimating)
        player.view.repeatCount = .once
        #expect(player.view.isAnimating && player.view.animator?.currentFrameIndex == 0)
    }

    @Test("An animation stops off the screen, and continues when the view is back if the automatic start is on")
    func attaching() async {
        let player = await Player(TestFrames(3).image)
        await player.tick()
        player.view.isOnScreen = false
        await player.tick()
        #expect(!player.view.isAnimating && player.view.animator?.currentFrameIndex == 1)
        player.view.isOnScreen = true
        await player.tick()
        #expect(player.view.animator?.currentFrameIndex == 2)
        player.view.stopAnimating()
        player.view.autoPlayAnimatedImage = false
        player.view.isOnScreen = false
        player.view.isOnScreen = true
        #expect(!player.view.isAnimating && player.renderer.running == 0)
        player.view.startAnimating()
        #expect(player.view.isAnimating)
    }

    @Test("A new animation begins at its first frame, and a still ends the animation", arguments: [true, false])
    func anotherImage(isNil: Bool) async {
        let player = await Player(TestFrames(3).image)
        await player.tick(2)
        player.view.image = TestFrames(5).image
        #expect(player.view.animator?.frameCount == 5 && player.view.animator?.currentFrameIndex == 0)
        let still = isNil ? nil : SampleImage.gradient(2, 2)
        player.view.image = still
        #expect(player.view.animator == nil && player.view.shownImage === still && player.renderer.running == 0)
        player.view.startAnimating()
        player.view.purgeFrames()
        #expect(!player.view.isAnimating)
    }

    @Test(
        "A plain image view plays preloaded frames, and shows the first frame of an animation that is decoded on demand"
    )
    func plainView() throws {
        let view = KFCrossPlatformImageView()
        let renderer = TestRenderer.show(view)
        view.image = try animation("animated.gif")
        #expect(view.shownImage === view.image && renderer.running == 0)
        let preloaded = try animation("animated.gif", ImageCreatingOptions(preloadAll: true))
        view.image = preloaded
        #expect(renderer.running == 1)
        renderer.advance(by: 1)
        #expect(view.shownImage === preloaded.images?[1])
        view.image = nil
        #expect(view.shownImage == nil && renderer.running == 0)
    }

    @Test("Frames are decoded no larger than the view on its screen needs")
    func prescaling() async {
        let frames = TestFrames(3), view = AnimatedImageView()
        let renderer = TestRenderer()
        renderer.bounds = CGRect(x: 0, y: 0, width: 2, height: 1)
        renderer.scaleFactor = 2
        view.renderer = renderer
        view.image = frames.image
        await view.animator?.drain()
        view.isOnScreen = true
        await view.animator?.drain()
        #expect(frames.decodeLog.limits.allSatisfy { $0 == CGSize(width: 4, height: 2) })
        #expect(!frames.decodeLog.limits.isEmpty)
    }

    @Test("While the window is hidden, an animation stops and drops its frames if the option is on")
    func hiddenWindow() async {
        let frames = TestFrames(8), player = await Player()
        (player.view.framePreloadCount, player.view.purgeFramesOnBackground) = (2, true)
        player.view.image = frames.image
        await player.drain()
        await player.tick()
        player.view.windowDidChange(isVisible: false)
        await player.drain()
        let present = { (0..<8).filter { player.view.animator?.frame(at: $0) != nil } }
        #expect(present() == [1] && !player.view.isAnimating && player.view.shownImage?.number == 1)
        player.view.windowDidChange(isVisible: true)
        await player.drain()
        #expect(present() == [1, 2, 3] && player.view.isAnimating)
        player.view.windowDidChange(isVisible: false)
        player.view.isOnScreen = false
        player.view.windowDidChange(isVisible: true)
        #expect(!player.view.isAnimating)
        player.view.purgeFramesOnBackground = false
        player.view.isOnScreen = true
        player.view.windowDidChange(isVisible: false)
        #expect(player.view.isAnimating)
    }

    @Test("All frames are decoded in advance for a plain image view, and none for an animated one")
    func preloading() async throws {
        try await Rig.run { rig in
            let gif = try #require(try animation("animated.gif").kf.gifRepresentation())
            rig.server.route("/a", .data(gif))
            let (plain, animated) = (Target(.imageView, rig), Target(.animatedView, rig))
            for target in [plain, animated] { target.load(rig.server.url("/a")) }
            #expect(try await plain.outcome().get().image.images != nil && plain.image?.frameSource == nil)
            #expect(try await animated.outcome().get().image.images == nil && animated.image?.frameSource != nil)
            #expect((animated.owner as? AnimatedImageView)?.animator != nil)
        }
    }

    @Test(
        "A cached animation can be loaded as its first frame alone and with all frames, in any order",
        arguments: [true, false]
    )
    func firstFrame(comesFirst: Bool) async throws {
        try await Rig.run { rig in
            let gif = try animation("animated.gif", ImageCreatingOptions(preloadAll: true))
            rig.server.route("/a", .data(try #require(gif.kf.gifRepresentation())))
            let target = Target(.imageView, rig)
            for (number, isFirst) in [comesFirst, !comesFirst, comesFirst].enumerated() {
                target.load(rig.server.url("/a"), [.waitForCache] + (isFirst ? [.onlyLoadFirstFrame] : []))
                #expect(await target.outcome(number).code == 0)
                #expect(target.image?.images?.count == (isFirst ? nil : gif.images?.count))
            }
            #expect(rig.server.count("/a") == 1)
        }
    }

    @Test("Animations with one frame, no frames, invalid delays or broken frames are shown as far as possible")
    func badAnimations() async {
        let one = await Player(TestFrames(1).image)
        await one.tick(3)
        #expect(!one.view.isAnimating && one.view.shownImage?.number == TestFrames.poster && one.calls.isEmpty)
        let none = await Player(TestFrames(0).image)
        #expect(none.view.animator == nil && !none.view.isAnimating && none.view.shownImage != nil)
        let fast = await Player(TestFrames([0, -1, .nan]).image)
        await fast.tick(3)
        #expect(fast.view.animator?.currentFrameIndex == 0 && fast.calls == ["loops(1) at 0"])
        let frames = TestFrames(4)
        for index in [1, 2] { frames.decodeLog.breakFrame(index) }
        let broken = await Player(frames.image)
        var shown: [Int?] = []
        for _ in 0..<4 {
            await broken.tick()
            shown.append(broken.view.shownImage?.number)
        }
        #expect(shown == [TestFrames.poster, TestFrames.poster, 3, 0])
        #expect(broken.calls == ["loops(1) at 0"])
    }

    @Test("Of ten thousand frames, only those needed next are in memory")
    func manyFrames() async {
        let frames = TestFrames(10_000), player = await Player(frames.image)
        await player.tick(25)
        #expect(player.view.shownImage?.number == 25)
        #expect(frames.decodeLog.peak <= player.view.framePreloadCount + 2)
        #expect(frames.decodeLog.decoded == Array(0...25 + player.view.framePreloadCount))
    }

    @Test("A view that is released while it plays stops its clock and releases its frames")
    func releasedView() async {
        let frames = TestFrames(8)
        var player: Player? = await Player(frames.image)
        await player?.tick()
        weak let picture = player?.view.animator?.frame(at: 2)
        let (renderer, animator) = (player?.renderer, Box(player?.view.animator))
        #expect(picture != nil)
        player = nil
        await animator.value?.drain()
        animator.value = nil
        #expect(renderer?.running == 0 && picture == nil)
    }
}

@Suite @MainActor struct FramePoolViewTests {
    @Test("Views of one image decode each frame once, and keep no more frames than one view would")
    func sharedFrames() async {
        let (frames, count, preload) = (TestFrames(12), 10, 3)
        let image = frames.image
        var players: [Player] = []
        for _ in 0..<count {
            let player = await Player()
            player.view.framePreloadCount = preload
            player.view.image = image
            await player.drain()
            players.append(player)
        }
        #expect(frames.decodeLog.decoded == Array(0...preload) && frames.decodeLog.copies == 1)
        for _ in 0..<8 {
            for player in players { player.renderer.advance(by: 0.1) }
            await players[0].drain()
        }
        #expect(frames.decodeLog.decoded == Array(0..<12) && frames.decodeLog.peak <= preload + 2)
        #expect(players.allSatisfy { $0.view.shownImage === players[0].view.shownImage })
        #expect(players[0].view.shownImage?.number == 8)
    }

    @Test("Views of different sizes, and of different sources, do not share frames")
    func differentSizes() async {
        let frames = TestFrames(3), (first, second, third) = (await Player(), await Player(), await Player())
        second.renderer.bounds = CGRect(x: 0, y: 0, width: 4, height: 2)
        let other = TestFrames(3)
        first.view.image = frames.image
        second.view.image = frames.image
        third.view.image = other.image
        for player in [first, second, third] { await player.drain() }
        #expect(frames.decodeLog.decoded.sorted() == [0, 0, 1, 1, 2, 2] && other.decodeLog.decoded == [0, 1, 2])
    }

    @Test("Frames that one view purges stay in another view, and are released with the last one")
    func released() async {
        let frames = TestFrames(3)
        var first: Player? = await Player(frames.image), second: Player? = await Player(frames.image)
        await first?.tick()
        first?.view.purgeFrames(keepCurrentFrame: false)
        await first?.drain()
        await drainMainQueue()
        #expect(first?.view.animator?.frame(at: 2) == nil && second?.view.animator?.frame(at: 2) != nil)
        let animators = Box([first?.view.animator, second?.view.animator])
        weak let picture = second?.view.animator?.frame(at: 2)
        (first, second) = (nil, nil)
        for animator in animators.value { await animator?.drain() }
        animators.value = []
        #expect(picture == nil)
        let again = await Player(frames.image)
        #expect(frames.decodeLog.copies == 2 && again.view.animator?.frame(at: 2) != nil)
    }
}
