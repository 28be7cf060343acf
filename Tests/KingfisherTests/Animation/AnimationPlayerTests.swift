// An animation player: the frames it shows and what it reports when it starts, stops, loops and is reset.

import Foundation
import KFImaging
import Testing

@testable import Kingfisher

@MainActor
@Suite struct AnimationPlayerTests {
    @Test("A player goes from none to preparing, paused, playing and finished, and back to the beginning")
    func states() throws {
        let rig = PlayerRig()
        rig.player.repeatCount = .once
        #expect(rig.player.animator == nil && !rig.player.isAnimating)
        rig.player.startAnimating()
        #expect(!rig.player.isAnimating)
        let source = TestFrames(3)
        let barrier = source.decodeLog.hold(0)
        rig.player.image = source.image
        barrier.waitUntilReached()
        let animator = try #require(rig.player.animator)
        #expect(animator.currentFrameImage == nil && !rig.player.isAnimating)
        barrier.open()
        rig.queue.drain()
        #expect(animator.currentFrameImage?.number == 0 && !rig.player.isAnimating)
        rig.player.attach()
        #expect(rig.player.isAnimating)
        rig.tick()
        rig.player.stopAnimating()
        rig.tick(5)
        #expect(rig.index == 1 && !rig.player.isAnimating && rig.link.tickCount == 1)
        rig.player.startAnimating()
        rig.tick(2)
        #expect(rig.index == 2 && !rig.player.isAnimating && animator.isFinished)
        #expect(rig.delegateCalls == ["loops(1) at 2", "finished at 2"])
        // Another number of loops restarts the animation; it is attached, so it plays.
        rig.player.repeatCount = .finite(count: 2)
        #expect(rig.index == 0 && rig.player.animator !== animator && rig.player.isAnimating)
        #expect(rig.shown.last?.number == TestFrames.poster)
        // Loops and time start from zero.
        rig.queue.drain()
        rig.tick(4)
        #expect(rig.index == 1 && rig.delegateCalls.last == "loops(1) at 0")
        rig.tick(1, by: 0.09)
        rig.player.repeatCount = .infinite
        rig.queue.drain()
        rig.tick(1, by: 0.09)
        #expect(rig.index == 0 && rig.player.isAnimating)
    }

    @Test("An equal loop count or image changes nothing")
    func equalValues() {
        let image = TestFrames(3).image
        let rig = PlayerRig(image, repeatCount: .once)
        let animator = rig.player.animator
        rig.tick()
        rig.player.repeatCount = .finite(count: 1)
        rig.player.image = image
        #expect(rig.player.animator === animator && rig.index == 1)
        rig.player.image = TestFrames(3).image
        #expect(rig.player.animator !== animator && rig.index == 0 && rig.player.isAnimating)
    }

    @Test("Attaching starts and detaching stops, unless the automatic start is off")
    func attaching() {
        let rig = PlayerRig()
        rig.player.image = TestFrames(3).image
        #expect(!rig.player.isAnimating && !rig.player.isAttached)
        rig.player.attach()
        #expect(rig.player.isAnimating && rig.player.isAttached)
        rig.player.detach()
        #expect(!rig.player.isAnimating && !rig.player.isAttached)
        rig.player.autoPlayAnimatedImage = false
        rig.player.attach()
        #expect(!rig.player.isAnimating)
        rig.player.startAnimating()
        rig.player.detach()
        #expect(rig.player.isAnimating)
        rig.player.stopAnimating()
        rig.player.image = TestFrames(3).image
        #expect(!rig.player.isAnimating)
    }

    @Test("After the last loop the last frame stays, and nothing starts before a reset")
    func finishing() {
        let rig = PlayerRig(TestFrames(2).image, repeatCount: .once)
        rig.tick(2)
        #expect(!rig.player.isAnimating && rig.delegateCalls == ["loops(1) at 1", "finished at 1"])
        rig.player.startAnimating()
        rig.player.detach()
        rig.player.attach()
        rig.tick(3)
        #expect(!rig.player.isAnimating && rig.index == 1 && rig.delegateCalls.count == 2 && rig.link.tickCount == 2)
        #expect(rig.shown.last?.number == 1)
        rig.player.image = TestFrames(2).image
        #expect(rig.player.isAnimating && rig.index == 0)
        rig.tick(9)
        #expect(rig.delegateCalls == ["loops(1) at 1", "finished at 1", "loops(1) at 1", "finished at 1"])
    }

    @Test("An animation of zero loops does not start")
    func noLoops() {
        let rig = PlayerRig(TestFrames(3).image, repeatCount: .finite(count: 0))
        rig.player.startAnimating()
        rig.tick(3)
        #expect(!rig.player.isAnimating && rig.delegateCalls == [] && rig.link.tickCount == 0)
    }

    @Test("A single frame that loops endlessly needs no ticks; for k loops it needs k delays")
    func oneFrame() {
        let still = PlayerRig(TestFrames(1).image)
        still.player.startAnimating()
        #expect(!still.player.isAnimating && still.link.isPaused)
        let rig = PlayerRig(TestFrames(1).image, repeatCount: .finite(count: 2))
        rig.tick(2)
        #expect(rig.delegateCalls == ["loops(2) at 0"] && rig.player.isAnimating)
        rig.tick(3)
        #expect(
            rig.delegateCalls == ["loops(2) at 0", "finished at 0"] && rig.link.isPaused && rig.link.tickCount == 3
        )
    }

    @Test("An image without frames makes no animator")
    func noFrames() {
        let rig = PlayerRig(TestFrames(0).image)
        #expect(rig.player.animator == nil && rig.link.isPaused && rig.shown.count == 1)
    }

    @Test("Stills and a missing image stop the ticks", arguments: [true, false])
    func stills(isImage: Bool) {
        let rig = PlayerRig(TestFrames(3).image)
        #expect(!rig.link.isPaused)
        let still = SampleImage.gradient(4, 4)
        rig.player.image = isImage ? still : nil
        #expect(rig.link.isPaused && !rig.player.isAnimating && rig.player.animator == nil)
        rig.player.startAnimating()
        rig.tick(3)
        #expect(rig.link.tickCount == 0 && rig.player.shownImage === (isImage ? still : nil))
        #expect(rig.shown.map(\.number) == [TestFrames.poster] + (isImage ? [still.number] : []))
    }

    @Test("The delegate is called when the frame is shown, and may change the player in any way")
    func delegateCalls() {
        let rig = PlayerRig(TestFrames(2).image)
        rig.onDelegateCall = { [unowned rig] in #expect(rig.shown.last?.number == 0) }
        rig.tick(4)
        #expect(rig.delegateCalls == ["loops(1) at 0", "loops(2) at 0"])
    }

    @Test("After an animation was replaced, the delegate is not called for it", arguments: [true, false])
    func replacedInCallback(byDelegate: Bool) {
        let rig = PlayerRig(TestFrames(2).image, repeatCount: .finite(count: 2))
        let next = TestFrames(5).image
        rig.player.catchUp = true
        rig.tick()
        if byDelegate {
            rig.onDelegateCall = { [unowned rig] in rig.player.image = next }
        } else {
            rig.player.onFrame = { [unowned rig] _ in if rig.player.image !== next { rig.player.image = next } }
        }
        // A quarter of a second is two loops in one tick: the first is left, the second reaches its end.
        rig.tick(1, by: byDelegate ? 0.25 : 0.1)
        #expect(rig.delegateCalls == (byDelegate ? ["loops(1) at 1"] : []))
        #expect(rig.player.image === next && rig.index == 0 && rig.player.isAnimating)
    }

    @Test("An animation that ends does not stop the one that replaced it")
    func replacedAtEnd() {
        let source = TestFrames(2)
        let barrier = source.decodeLog.hold(1)
        let rig = PlayerRig()
        rig.player.repeatCount = .once
        rig.player.attach()
        rig.player.image = source.image
        barrier.waitUntilReached()
        rig.link.advance(by: 0.1)
        barrier.open()
        rig.queue.drain()
        let next = TestFrames(5).image
        // The last frame is shown with the tick that ends the animation.
        rig.player.onFrame = { [unowned rig] picture in if picture.number == 1 { rig.player.image = next } }
        rig.link.advance(by: 0.1)
        #expect(rig.delegateCalls == ["loops(1) at 1"] && rig.player.image === next && rig.player.isAnimating)
    }

    @Test("A delegate's methods are optional, and it is not kept alive")
    func weakDelegate() {
        final class EmptyDelegate: AnimationPlayerDelegate {}
        let rig = PlayerRig(TestFrames(2).image, repeatCount: .once)
        var delegate: EmptyDelegate? = EmptyDelegate()
        rig.player.delegate = delegate
        rig.tick(3)
        #expect(!rig.player.isAnimating && rig.player.delegate != nil)
        delegate = nil
        #expect(rig.player.delegate == nil && delegate == nil)
    }

    @Test("Two players of one image do not share a decoder")
    func twoPlayers() {
        let source = TestFrames(4)
        let image = source.image
        // With an end, so that they need not be in phase.
        let rigs = (0..<2).map { _ in PlayerRig(image, repeatCount: .finite(count: 2)) }
        let (one, other) = (rigs[0], rigs[1])
        one.tick(2)
        other.tick(1)
        #expect(one.index == 2 && other.index == 1 && source.decodeLog.readingCopies == [1, 2])
    }

    @Test("The delegate is called for each loop and at the end, for loop counts of one, two and infinity")
    func vectors() {
        let twice = PlayerRig(TestFrames(3).image, repeatCount: .finite(count: 2))
        var indices: [Int?] = []
        for _ in 0..<8 {
            twice.tick()
            indices.append(twice.index)
        }
        #expect(indices == [1, 2, 0, 1, 2, 2, 2, 2] && twice.link.tickCount == 6)
        #expect(twice.delegateCalls == ["loops(1) at 0", "loops(2) at 2", "finished at 2"])
        let once = PlayerRig(TestFrames(2).image, repeatCount: .once)
        once.tick()
        #expect(once.delegateCalls == ["loops(1) at 1"])
        once.tick()
        #expect(once.delegateCalls == ["loops(1) at 1", "finished at 1"])
        let forever = PlayerRig(TestFrames(3).image)
        forever.tick(9)
        #expect(forever.delegateCalls == (1...3).map { "loops(\($0)) at 0" })
    }

    @Test("A deinitialised player stops its ticks")
    func deinitialized() {
        let link = ManualDisplayLink()
        var player: AnimationPlayer? = AnimationPlayer(displayLink: link, preloadQueue: FrameQueue.make())
        player?.attach()
        player?.image = TestFrames(3).image
        weak let animator = player?.animator
        #expect(!link.isPaused)
        player = nil
        #expect(link.isPaused && link.onTick == nil)
        link.isPaused = false
        #expect(link.isPaused)
        _ = animator
    }
}
