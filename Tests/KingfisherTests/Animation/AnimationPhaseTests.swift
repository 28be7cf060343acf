// Players of one animation are in phase; and animations of a user who wants no motion stand still.

import Foundation
import KFImaging
import Testing

@testable import Kingfisher

@MainActor
@Suite struct AnimationPhaseTests {
    /// Lets the time of several clocks pass.
    private func advance(_ rigs: [PlayerRig], _ count: Int = 1, by seconds: TimeInterval = 0.1) {
        for _ in 0..<count { for rig in rigs { rig.tick(by: seconds) } }
    }

    @Test("A player that starts later is where the others of its image are", arguments: [true, false])
    func startingLater(ticksFirst: Bool) {
        // An eighth and a sixteenth of a second have no rounding.
        let image = TestFrames([TimeInterval](repeating: 0.125, count: 10)).image
        let (first, second) = (PlayerRig(image), PlayerRig())
        let rigs = ticksFirst ? [second, first] : [first, second]
        advance(rigs, 7, by: 0.0625)
        second.player.attach()
        second.player.image = image
        second.queue.drain()
        #expect(first.index == 3 && second.index == 0)
        for index in 4..<24 {
            advance(rigs, by: 0.0625)
            #expect(first.index == index % 10 && second.index == index % 10)
            advance(rigs, by: 0.0625)
        }
        #expect(second.delegateCalls == ["loops(1) at 0", "loops(2) at 0"])
    }

    @Test("A player that comes back is where the others are by then")
    func comingBack() {
        let image = TestFrames(10).image
        let (first, second) = (PlayerRig(image), PlayerRig(image))
        advance([first, second], 2)
        second.player.detach()
        advance([first, second], 3)
        #expect(first.index == 5 && second.index == 2)
        second.player.attach()
        advance([first, second])
        #expect(first.index == 6 && second.index == 6)
    }

    @Test("A link that ticked for others only, as its widget could not be seen, brings its player back in phase")
    func unseen() {
        let image = TestFrames(10).image
        let (first, second) = (PlayerRig(image), PlayerRig(image))
        advance([first, second], 2)
        second.link.isPaused = true
        advance([first, second], 3)
        second.link.isPaused = false
        advance([first, second])
        #expect(first.index == 6 && second.index == 6)
    }

    @Test("Preloaded animations are in phase, too, and those with an end begin at their beginning")
    func kinds() throws {
        let frames = try #require(Image.animatedImage(with: (0..<4).map { _ in TestFrames(1).image }, duration: 0.4))
        let shown = { (rig: PlayerRig) in frames.images?.firstIndex { $0 === rig.player.shownImage } }
        let (first, second, ending) = (PlayerRig(frames), PlayerRig(), PlayerRig())
        ending.player.repeatCount = .once
        let rigs = [first, second, ending]
        advance(rigs, 2)
        for rig in [second, ending] {
            rig.player.attach()
            rig.player.image = frames
        }
        advance(rigs)
        #expect(shown(first) == 3 && shown(second) == 3 && shown(ending) == 1)
    }

    @Test("One that stood still alone, and animations of other images, go on where they are")
    func alone() {
        let rig = PlayerRig(TestFrames(10).image)
        let other = PlayerRig()
        advance([rig, other], 2)
        rig.player.stopAnimating()
        other.player.attach()
        other.player.image = TestFrames(10).image
        other.queue.drain()
        advance([rig, other], 3)
        rig.player.startAnimating()
        advance([rig, other])
        #expect(rig.index == 3 && other.index == 4)
    }

    @Test("Without motion an animation shows its first frame and needs no ticks; with it, the animation begins")
    func reducedMotion() {
        let rig = PlayerRig(TestFrames(4).image)
        rig.tick(2)
        #expect(rig.index == 2)
        rig.player.reducesMotion = true
        #expect(!rig.player.isAnimating && rig.player.shownImage?.number == TestFrames.poster)
        rig.player.detach()
        rig.player.attach()
        rig.player.image = TestFrames(3).image
        #expect(!rig.player.isAnimating && rig.player.shownImage === rig.player.image)
        rig.player.startAnimating()
        rig.queue.drain()
        rig.tick()
        #expect(rig.index == 1, "the user may start it")
        rig.player.stopAnimating()
        rig.player.reducesMotion = false
        rig.queue.drain()
        rig.tick()
        #expect(rig.player.isAnimating && rig.index == 1)
    }

    @Test("A view stands still on a screen without motion, and follows changes of that")
    func reducedMotionOfViews() {
        for isEarly in [true, false] {
            let view = AnimatedImageView()
            let renderer = TestRenderer()
            renderer.showsMotion = !isEarly
            view.renderer = renderer
            view.isOnScreen = true
            view.image = TestFrames(3).image
            renderer.showsMotion = false
            view.motionDidChange()
            #expect(!view.isAnimating && renderer.running == 0)
            renderer.showsMotion = true
            view.motionDidChange()
            #expect(view.isAnimating && renderer.running == 1)
        }
    }
}
